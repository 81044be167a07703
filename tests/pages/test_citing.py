"""A passage is shown as it is cited, with what an index says of it and what it refers to."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._ask.answer import cited_place, index_entries
from rag_engine.conversations import store
from rag_engine.conversations.reply import Reply, ShownLink, ShownSource
from tests.pages.collection import HOSTILE_TITLE, documents_of
from tests.pages.conftest import Start, texts
from tests.pages.conversations import converse
from tests.rag_engine.conversations.test_store import CITATION, REPLY, SOURCE

ARTICLE = replace(
    SOURCE,
    act="Flood Directive",
    section="Article 9",
    clause="(3)",
    headings=("Chapter II", "Article 9", "Flood maps"),
    indexed_under=("listed in the index under “maps, publication of”",),
    linked=(ShownLink("Article 2", "0123456789ab", 2, 10, 40, "Definitions for this Act."),),
)


@pytest.fixture
def shown(start: Start, collection: Path) -> Callable[[ShownSource], AppTest]:
    """Return the page with an answer that rests on this source, a document of the collection."""
    document = documents_of(collection)["flood-act.txt"]

    def show(source: ShownSource) -> AppTest:
        linked = tuple(replace(one, document_id=document.document_id) for one in source.linked)
        kept = replace(source, document_id=document.document_id, linked=linked)
        reply: Reply = replace(REPLY, sources=(kept,), citations=(replace(CITATION, document_id=document.document_id),))
        return start(collection, conversation=converse(collection, reply).id)

    return show


def test_a_source_is_shown_as_it_is_cited(shown: Callable[[ShownSource], AppTest]) -> None:
    app = shown(ARTICLE)

    assert not app.exception
    assert "**Article 9 \\(3\\)** · Flood Directive" in texts(app)
    assert ":gray[Chapter II › Flood maps]" in texts(app)


def test_a_source_without_sections_shows_nothing_more_than_before(shown: Callable[[ShownSource], AppTest]) -> None:
    app = shown(SOURCE)

    assert not app.exception
    assert "index" not in texts(app)
    assert not [one for one in app.toggle if "link" in str(one.key)]


def test_a_conversation_kept_before_there_were_sections_is_read() -> None:
    reply = replace(REPLY, sources=(ARTICLE,))
    kept = asdict(store.Conversation("0" * 32, (store.Turn("Why?", "2026-11-26T10:00:00+00:00", reply),)))
    assert store.CODEC.validate_python(kept).turns[0].reply == reply
    for name in ("act", "section", "clause", "headings", "indexed_under", "linked"):
        del kept["turns"][0]["reply"]["sources"][0][name]
    assert store.CODEC.validate_python(kept).turns[0].reply == replace(reply, sources=(SOURCE,))


def test_headings_that_the_place_says_already_are_left_out() -> None:
    source = replace(ARTICLE, act="Flood Act", headings=("FLOOD ACT", "Article 9"))
    assert cited_place(source) == "**Article 9 \\(3\\)**"
    numbered = replace(ARTICLE, act="", section="4", clause="", headings=("3 Alerte", "4 Barrages"))
    assert cited_place(numbered) == "**4**  \n:gray[3 Alerte › Barrages]"
    assert cited_place(SOURCE) == index_entries(SOURCE) == ""


def test_words_of_a_document_stay_words() -> None:
    source = replace(
        SOURCE, act=HOSTILE_TITLE, section=HOSTILE_TITLE, headings=(HOSTILE_TITLE,), indexed_under=(HOSTILE_TITLE,)
    )
    for drawn in (cited_place(source), cited_place(replace(source, act="", section="")), index_entries(source)):
        assert "\\<script\\>" in drawn
        assert "![" not in drawn.replace("\\!\\[", "")


@pytest.mark.parametrize(("last", "place"), [(3, "page 3 of 12"), (4, "pages 3–4 of 12")])
def test_the_pages_of_a_source_are_said_as_its_reference_says_them(
    shown: Callable[[ShownSource], AppTest], last: int, place: str
) -> None:
    assert f" · {place} · " in texts(shown(replace(SOURCE, page=3, last_page=last, pages=12, file="act.pdf")))


def test_printed_pages_are_said_with_their_sheets(shown: Callable[[ShownSource], AppTest]) -> None:
    source = replace(
        SOURCE, page=9, last_page=10, pages=12, file="act.pdf", page_labels=((9, "5"), (10, "6")), linked=()
    )
    app = shown(source)
    assert not app.exception
    assert " · pp\\. 5–6 \\(sheets 9–10\\) · " in texts(app)
