"""Entries of a notebook, and their order."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.conversations.store import Turn
from rag_engine.notebook.notebook import (
    Notebook,
    answer_entry,
    passage_entry,
    quote_entry,
    read_tags,
    with_entry,
    with_entry_moved,
    with_note,
    without_entry,
)
from tests.rag_engine.conversations.test_store import CITATION, REPLY

CONVERSATION = "0" * 32
TURN = Turn("How long?", "2026-11-24T10:00:00.000001+00:00", REPLY)


def notebook(*ids: str) -> Notebook:
    return Notebook("1" * 32, "Plans", tuple(replace(answer_entry(id, TURN), id=id) for id in ids))


def ids(notebook: Notebook) -> str:
    return "".join(entry.id for entry in notebook.entries)


def test_an_answer_is_kept_without_the_passages_that_it_was_made_from() -> None:
    entry = answer_entry(CONVERSATION, TURN)
    assert entry.answer == replace(REPLY, sources=(), seconds={})
    assert (entry.question, entry.asked, entry.citations) == ("How long?", TURN.asked, (CITATION,))


def test_a_quote_is_kept_with_every_place_of_its_source() -> None:
    again, other = replace(CITATION, page=5), replace(CITATION, n=2)
    entry = quote_entry(CONVERSATION, replace(TURN, reply=replace(REPLY, citations=(CITATION, other, again))), 1)
    assert entry.citations == (CITATION, again)


def test_an_entry_that_was_removed_comes_back_to_its_place() -> None:
    before = notebook("a", "b", "c")
    removed = before.entries[1]
    assert ids(without_entry(before, "b")) == "ac"
    assert with_entry(without_entry(before, "b"), removed, 1) == before


def test_an_entry_takes_the_place_of_another() -> None:
    assert ids(with_entry_moved(notebook("a", "b", "c"), "c", "a")) == "cab"
    assert ids(with_entry_moved(notebook("a", "b", "c"), "a", "c")) == "bca"


@given(st.sampled_from("abcx"), st.sampled_from("abcx"))
def test_moving_loses_no_entry(moved: str, before: str) -> None:
    assert sorted(ids(with_entry_moved(notebook("a", "b", "c"), moved, before))) == ["a", "b", "c"]


def test_a_note_and_tags_belong_to_one_entry() -> None:
    noted = with_note(notebook("a", "b"), "b", "Compare.", ("Terms", "floods"))
    assert [(entry.note, entry.tags) for entry in noted.entries] == [("", ()), ("Compare.", ("Terms", "floods"))]
    assert noted.tags == ("floods", "Terms")


def test_tags_are_separated_by_commas_and_each_is_there_once() -> None:
    assert read_tags(" heat  waves, floods,,heat waves , ") == ("heat waves", "floods")


def test_a_quote_that_a_search_found_is_kept_once_whatever_the_moment() -> None:
    kept = with_entry(notebook(), replace(passage_entry("flood", CITATION), asked="2026-01-01", added="2026-01-01"))
    assert with_entry(kept, passage_entry("floods", CITATION)) is kept
    assert len(with_entry(kept, passage_entry("flood", replace(CITATION, quote="other"))).entries) == 2
    assert (kept.entries[0].conversation, kept.entries[0].question) == ("", "flood")
