from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.formats.html import html_blocks
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


def test_style_sheets_decide_what_is_shown(tmp_path: Path) -> None:
    styles = ".gone, p > .off {display: none} .old {text-decoration: line-through} @media print {.web {display: none}}"
    body = (
        '<p>The <i class="gone">grey</i><i class="off">red</i><i class="old">blue</i><i class="web">green</i> mark.</p>'
    )
    assert text_of(tmp_path, f"<style>{styles}</style>{body}") == "The green mark."


def test_what_a_style_sheet_sets_before_a_paragraph_is_read(tmp_path: Path) -> None:
    style = "<style>p[data-n]::before {content: attr(data-n) '. '}</style>"
    assert (
        text_of(tmp_path, f'{style}<p data-n="2">The keeper hands in a copy.</p>') == "2. The keeper hands in a copy."
    )


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        ("<ol type=a start=3><li>x<li value=9>y</ol>", "c. x\n\ni. y"),
        ("<ol reversed><li>x<li>y</ol>", "2. x\n\n1. y"),
        ('<ol style="list-style-type: upper-roman"><li>x<li>y</ol>', "I. x\n\nII. y"),
        ('<ol style="list-style: none"><li>(1) x</ol>', "(1) x"),
        ("<ul><li>x<ul><li>y</ul></ul>", "• x\n\n• y"),
        ("<div><span>(a)</span></div><div><p>keep a book</p></div>", "(a) keep a book"),
        ("<dl><dt>1.</dt><dd>keep a book</dd></dl>", "1. keep a book"),
        ("<table><tr><td>(a)<td>keep a book<tr><td>(b)<td>hand it in</table>", "(a) keep a book\n\n(b) hand it in"),
        ('<p lang="de">Er sagt <q>ja</q>.', "Er sagt „ja“."),
        ("<p><input type=checkbox checked> Yes <input type=checkbox> No", "[x] Yes [ ] No"),
    ],
)
def test_what_browsers_write_is_read(tmp_path: Path, listed: str, read: str) -> None:
    assert text_of(tmp_path, listed) == read


def test_a_note_stands_below_the_paragraph_with_its_mark(tmp_path: Path) -> None:
    body = '<p>Fees are due<sup><a href="#n1" id="r1">1</a></sup>.</p><p>Fines too.</p><aside id="n1">[1] In May. '
    assert (
        text_of(tmp_path, body + '<a href="#r1">back to the text</a></aside>')
        == "Fees are due¹.\n\n¹ In May.\n\nFines too."
    )


NESTED = "<table><tr><td>Adult</td><td>10</td></tr></table>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<style>.o{text-decoration:line-through}</style><table class=o><tr><td>A<td>B</table><p>x</p>", ["x"]),
        ("<table><tbody hidden><tr><td>A<td>1</tbody><tr><td>Town<td>Fee<tr><td>K<td>2</table>",
         ["Town | Fee", "Town: K; Fee: 2"]),
        ("<p>a <i style='font-size: 0'>b</i><i style='opacity:0'>c</i><i style='left:-9999px'>d</i>e</p>", ["a e"]),
        ("<ol style='list-style: decimal inside'><li>a<li hidden>b<li>c</ol>", ["1. a", "2. c"]),
        ("<ol style='list-style-type: lower-greek'><li>a</ol>", ["α. a"]),
        ("<ol><li><s>a</s><li>b<li><p>c</p><li></ol>", ["2. b", "3. c"]),
        ("<ol><li><h3>Scope</h3><p>a</p></ol>", ["1.", "Scope", "a"]),
        (
            "<table><tfoot><tr><td>Sum<td>5</tfoot><thead><tr><th>Town<th>Fee</thead><tr><td>K<td>5</table>",
            ["Town | Fee", "Town: K; Fee: 5", "Town: Sum; Fee: 5"],
        ),
        (
            f"<table><tr><th>Pool<th>Fees<tr><td>North<td>{NESTED}<tr><td>South<td>7</table>",
            ["Pool | Fees", "Pool: North; Fees: Adult 10", "Pool: South; Fees: 7"],
        ),
        ("<p><ruby>本<rt>hon</rt></ruby> <ruby>本<rp>(</rp><rt>hon</rt><rp>)</rp></ruby></p>", ["本(hon) 本(hon)"]),
        ("<p>By <input value='Anna'> <textarea>of Kelm</textarea><input type=submit value=Send>", ["By Anna of Kelm"]),
        ("<pre>Article 1\nOwners pay.\n\nArticle 2\nWait.</pre>", ["Article 1 Owners pay.", "Article 2 Wait."]),
        ("<p>The fee is<br>forty euros.<br>Children pay<br>a) ten<br>b) five</p>",
         ["The fee is forty euros.", "Children pay", "a) ten", "b) five"]),
    ],
)  # fmt: skip
def test_a_page_is_read_as_browsers_show_it(tmp_path: Path, body: str, expected: list[str]) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<!doctype html><html><head><title>T</title></head><body>{body}</body></html>", encoding="utf-8")
    assert extract(path, ExtractionLimits(), None).text.split("\n\n") == expected


def test_words_in_drawings_and_frames_of_a_page_stand_in_their_place() -> None:
    page = (
        "<html><body><h1>Levels</h1><p>The levels of the year:</p><svg><title>icon</title><g><text>Spring 4 m</text>"
        "<text>Autumn 7 m</text></g></svg><p>They were measured at the bridge.</p>"
        "<svg hidden><text>draft</text></svg><svg><path d='M0 0'/></svg>"
        "<iframe srcdoc='<p>The bridge is closed at 8 m.</p><ul><li><p>The mayor opens it.</p></li></ul>'></iframe>"
        "It is far away.</body></html>"
    )
    assert [block.lines[0].text for block in html_blocks(page.encode()).blocks if block.lines[0].text] == [
        "Levels",
        "The levels of the year:",
        "Spring 4 m; Autumn 7 m",
        "They were measured at the bridge.",
        "The bridge is closed at 8 m.",
        "• The mayor opens it.",
        "It is far away.",
    ]
