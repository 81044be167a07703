"""Struck words are found on demand, shown in their place, and are no part of any passage."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.passage_search.find import FoundPassages, find_passages
from rag_engine.passage_search.passage_query import PassageQuery, read_query
from rag_engine.passage_search.passages import found_json
from rag_engine.viewer.pages import page_paragraphs, read_paged_text, shown_paragraph

PAGE = """<html lang="en"><head><title>Dyke by-law</title></head><body><h1>Dyke by-law</h1>
<p>Owners shall inspect their dykes every <del>five</del> two years.</p>
<p><s>The reeve collects a toll on geese.</s></p>
<p>The board <del>may</del> shall repair the sluice<del>s</del>.</p>
<table><tr><th>Duty</th><th>Who</th></tr><tr><td>Mowing</td><td><del>Millers</del> Tenants</td></tr></table>
</body></html>"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a page and a PDF of which words are struck."""
    root = tmp_path_factory.mktemp("struck")
    files = root / "files"
    files.mkdir()
    (files / "page.html").write_text(PAGE, encoding="utf-8")
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 90), "Weir by-law", fontsize=16, fontname="hebo")
        page.insert_text((72, 140), "Keepers shall open the weir each sixth third morning.", fontsize=11)
        page.insert_text((72, 160), "Carters pay a groat at the ford.", fontsize=11)
        for words in ("sixth", "Carters pay a groat at the ford."):
            [box] = page.search_for(words)
            height = (box.y0 + box.y1) / 2
            page.draw_line((box.x0, height), (box.x1, height), width=0.6)
        document.save(files / "weir.pdf")
    with closing(open_engine(read_config(root / "workspace"))) as engine:
        add_paths([files], engine)
    return root / "workspace"


@pytest.fixture
def engine(workspace: Path) -> Iterator[Engine]:
    with closing(open_engine(read_config(workspace))) as opened:
        yield opened


def search(engine: Engine, words: str, *, struck: bool = True) -> FoundPassages:
    return find_passages(engine, PassageQuery(words, words_only=True, struck=struck))


@pytest.mark.parametrize(
    ("words", "struck", "before"),
    [
        ("dykes every five years", "five", "Owners shall inspect their dykes every"),
        ("toll on geese", "The reeve collects a toll on geese.", "Owners shall inspect their dykes every two years."),
        ("millers", "Millers", "Duty | Who\n\nDuty: Mowing; Who: Tenants"),
        ("sixth morning", "sixth", "Keepers shall open the weir each"),
        ('"pay a groat"', "Carters pay a groat at the ford.", "Keepers shall open the weir each third morning."),
    ],
)
def test_struck_words_are_found_only_if_they_are_included(engine: Engine, words: str, struck: str, before: str) -> None:
    assert not search(engine, words, struck=False).struck
    found = search(engine, words)
    assert [(one.struck.text, one.before) for one in found.struck] == [(struck, before)]
    assert not len(found)
    assert json.loads(json.dumps(found_json(found, ())))["struck"][0]["text"] == struck


def test_words_that_stand_are_no_struck_ones(engine: Engine) -> None:
    found = search(engine, "two years")
    assert len(found) == 1
    assert not found.struck


def test_the_address_of_a_search_keeps_that_struck_words_are_included() -> None:
    query = PassageQuery("geese", struck=True)
    assert read_query(query.parameters()) == query


def test_a_page_shows_struck_words_in_their_place(engine: Engine) -> None:
    [document] = [one for one in engine.collection.documents() if one.file == "page.html"]
    text = read_paged_text(engine.catalog, document)
    shown = [shown_paragraph(text, one, [], []) for one in page_paragraphs(text, 1)]
    lines = ["".join(f"~{words}~" if around else words for words, around, _ in one.runs) for one in shown]
    assert lines[1:3] == [
        "Owners shall inspect their dykes every ~five~ two years. ~The reeve collects a toll on geese.~",
        "The board ~may~ shall repair the sluice ~s~ .",
    ]


def test_an_erased_document_leaves_no_struck_words(engine: Engine) -> None:
    [document] = [one for one in engine.collection.documents() if one.file == "weir.pdf"]
    assert len(engine.catalog.struck([document.key])[document.key]) == 2
    engine.writer.erase(document)
    assert not engine.catalog.struck([document.key])
