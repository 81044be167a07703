from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits

PROSE = "Every town keeps a plan for floods. " * 10


def text_of(tmp_path: Path, body: str) -> str:
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><title>Flood plans</title><body>{body}", encoding="utf-8")
    return extract(path, ExtractionLimits(), None).text


def test_a_page_that_is_wrapped_in_one_form_is_read(tmp_path: Path) -> None:
    long_script = f"<script>{'x = 1; ' * 500}</script>"
    page = f'{long_script}<form action="."><h1>Plans</h1><p>{PROSE}</p><button>Send</button></form>'
    assert text_of(tmp_path, page) == f"Plans\n\n{PROSE.strip()}"


def test_a_form_for_searching_is_left_out(tmp_path: Path) -> None:
    assert "Search" not in text_of(tmp_path, f"<form><p>Search this site</p></form><p>{PROSE}</p>")


def test_the_header_of_an_article_stays_and_that_of_the_page_goes(tmp_path: Path) -> None:
    article = f"<article><header><h1>Plans</h1></header><p>{PROSE}</p><footer>Of 3 May</footer></article>"
    text = text_of(tmp_path, f"<header>Ministry</header>{article}<footer>Contact</footer>")
    assert text == f"Plans\n\n{PROSE.strip()}\n\nOf 3 May"


def test_the_caption_of_a_table_stands_before_it(tmp_path: Path) -> None:
    table = "<table><caption>Table 1. <b>Rivers</b></caption><tr><th>River<th>Level<tr><td>Po<td>12</table>"
    assert text_of(tmp_path, f"<p>{PROSE}</p>{table}").endswith(
        "Table 1. Rivers\n\nRiver | Level\n\nRiver: Po; Level: 12"
    )


def test_what_a_cell_or_a_heading_hides_is_not_read_and_its_words_stay_whole(tmp_path: Path) -> None:
    cell = 'Kata<b>strophe</b><br>plan<script>no()</script><style>.no{}</style><span style="display: none">no</span>'
    page = f"<h2>Part<br>One<span hidden>no</span></h2><p>{PROSE}</p><table><tr><td>{cell}<td>12</table>"
    text = text_of(tmp_path, page)
    assert text.startswith("Part One\n\n")
    assert text.endswith("\n\nKatastrophe plan | 12")


@pytest.mark.parametrize("levels", [300, 1500, 20_000])
def test_what_is_nested_deep_is_read_whole(tmp_path: Path, levels: int) -> None:
    deep = "<div>" * levels + f"<p>{PROSE}</p><h2>{'<b>' * 300}Deep{'</b>' * 300}</h2>" + "</div>" * levels
    text = text_of(tmp_path, f"<h1>Heat</h1>{deep}<p>After it.</p>")
    assert text.split("\n\n") == ["Heat", " ".join(PROSE.split()), "Deep", "After it."]
