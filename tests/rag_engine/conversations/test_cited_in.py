"""A document knows the answers that cite it."""

from dataclasses import replace
from pathlib import Path

from rag_engine.conversations import store
from rag_engine.conversations.cited_in import citing_turns
from tests.rag_engine.conversations.test_store import CITATION, REPLY
from tests.raw_records import overwrite


def answered(workspace: Path, question: str, document_id: str) -> None:
    id = store.new_id()
    begun = store.begin_turn(workspace, id, question)
    store.end_turn(workspace, begun, replace(REPLY, citations=(replace(CITATION, document_id=document_id),)))


def test_the_questions_whose_answers_cite_a_document_come_latest_first(tmp_path: Path) -> None:
    answered(tmp_path, "First?", "0123456789ab")
    answered(tmp_path, "Elsewhere?", "ffffffffffff")
    answered(tmp_path, "Second?", "0123456789ab")

    found = citing_turns(tmp_path, "0123456789ab")

    assert [turn.question for turn in found] == ["Second?", "First?"]
    assert found[0].citations == (CITATION,)


def test_a_source_that_was_found_and_not_cited_does_not_count(tmp_path: Path) -> None:
    # The sources of this reply hold the document's id, its citations do not.
    answered(tmp_path, "Elsewhere?", "ffffffffffff")
    assert citing_turns(tmp_path, "0123456789ab") == ()


def test_a_question_without_a_reply_and_a_record_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    store.begin_turn(tmp_path, store.new_id(), "Is 0123456789ab cited?")
    overwrite(tmp_path, "conversation", "0" * 32, '{"0123456789ab": ')
    assert citing_turns(tmp_path, "0123456789ab") == ()
