"""Test questions of a workspace: kept, written, imported, and asked by the worker until the last one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.acts import documents, evaluation
from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.acts.jobs import control
from ingestion.worker import work
from rag_engine.conversations.store import Conversation, QuestionSettings, Turn, TurnRating, restore_conversation
from rag_engine.engine import open_engine
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.accepted_run import RUNS
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.evaluation.answers.test_questions import change_test_questions, read_test_questions
from rag_engine.evaluation.answers.test_results import describe_result
from rag_engine.evaluation.answers.test_runs import list_test_runs, read_test_run
from rag_engine.evaluation.gold import Quote
from tests.rag_engine.conftest import unread
from tests.rag_engine.conversations.test_store import REPLY

EVACUATION = "The mayor orders the evacuation and the fire service carries it out."
WRITTEN = AnswerQuestion("", "", "", "Who orders the evacuation?", "", (Quote("flood.md", 0, EVACUATION),), ())
CONVERSATION = "0" * 31 + "1"
FIRST, SECOND, THIRD, FOURTH = (f"2026-11-26T10:00:0{second}+00:00" for second in range(4))


@pytest.fixture
def context(small_workspace: Path, tmp_path: Path) -> Iterator[ActContext]:
    engine = open_engine(unread(shutil.copytree(small_workspace, tmp_path / "workspace")))
    yield replace(open_context(engine, local_person("Ada")), start_worker=lambda _: None)
    engine.close()


def rated(context: ActContext, *turns: Turn) -> None:
    restore_conversation(context.workspace, Conversation(CONVERSATION, turns))


def test_a_kept_answer_has_its_question_its_filter_and_what_it_cites(context: ActContext) -> None:
    settings = QuestionSettings({"country": ("Ireland",)}, 1, 3, "default", 8, 0.35)
    rated(
        context, Turn("And in Ireland?", "2026-11-25T10:00:00", REPLY, "How long is a plan valid in Ireland?", settings)
    )
    kept = evaluation.keep_answer(context, CONVERSATION, "2026-11-25T10:00:00")
    assert read_test_questions(context.workspace) == (kept,)
    assert (kept.question, kept.language) == ("How long is a plan valid in Ireland?", "en")
    assert kept.filters == {"country": ("Ireland",)}
    assert kept.passages == (Quote("act.pdf", 3, "six years"),)
    assert evaluation.is_kept_answer(context, CONVERSATION, "2026-11-25T10:00:00")
    assert evaluation.keep_answer(context, CONVERSATION, "2026-11-25T10:00:00") == kept
    assert len(read_test_questions(context.workspace)) == 1


def test_a_refusal_is_kept_as_what_the_collection_does_not_answer(context: ActContext) -> None:
    refusal = replace(REPLY, status="insufficient_evidence")
    rated(
        context,
        Turn("Who won?", FIRST, refusal),
        Turn("Why?", SECOND, replace(REPLY, citations=())),
        Turn("How?", THIRD, None),
    )
    assert not evaluation.keep_answer(context, CONVERSATION, FIRST).answerable
    for asked, fault in ((SECOND, "likely to answer"), (THIRD, "no answer to keep"), (FOURTH, "was deleted")):
        with pytest.raises(InputError, match=fault):
            evaluation.keep_answer(context, CONVERSATION, asked)


def test_the_quotations_that_a_person_chose_are_the_ones_expected(context: ActContext) -> None:
    [one] = REPLY.citations
    other = replace(one, quote="for ever", start=50, end=58)
    rated(context, Turn("How long?", FIRST, replace(REPLY, citations=(one, other), ground="doubtful")))
    with pytest.raises(InputError, match="likely to answer"):
        evaluation.keep_answer(context, CONVERSATION, FIRST)
    kept = evaluation.keep_answer(context, CONVERSATION, FIRST, [1])
    assert [quote.quote for quote in kept.passages] == ["for ever"]
    assert not evaluation.keep_answer(context, CONVERSATION, FIRST, ()).answerable


def test_an_answer_of_closest_passages_is_not_taken_over_without_a_choice(context: ActContext) -> None:
    rated(context, Turn("How long?", FIRST, replace(REPLY, ground="doubtful"), rating=TurnRating(good=True)))
    assert evaluation.good_answers(context) == []


def test_only_answers_rated_good_are_taken_over_and_each_once(context: ActContext) -> None:
    good, bad = TurnRating(good=True), TurnRating(good=False, reason="Wrong act.")
    uncited = replace(REPLY, citations=())
    rated(
        context,
        Turn("How long?", FIRST, REPLY, rating=good),
        Turn("How wide?", SECOND, REPLY, rating=bad),
        Turn("Why?", THIRD, uncited, rating=good),
        Turn("Who?", FOURTH, REPLY),
    )
    assert [one.question for one in evaluation.keep_good_answers(context)] == ["How long?"]
    assert not evaluation.good_answers(context)
    assert not evaluation.keep_good_answers(context)


def test_a_written_question_gets_its_page_and_its_language(context: ActContext) -> None:
    put = evaluation.put_question(context, WRITTEN, answerable=True)
    assert (put.passages[0].page, put.language) == (1, "en")
    edited = evaluation.put_question(context, replace(put, question="Who orders  an evacuation?"), answerable=True)
    assert [one.question for one in read_test_questions(context.workspace)] == ["Who orders an evacuation?"]
    assert edited.id == put.id


def test_a_passage_that_was_kept_stays_when_its_question_is_edited(context: ActContext) -> None:
    rated(context, Turn("How long?", FIRST, REPLY))
    kept = evaluation.keep_answer(context, CONVERSATION, FIRST)
    edited = evaluation.put_question(context, replace(kept, question="For how long?"), answerable=True)
    assert edited.passages == kept.passages == (Quote("act.pdf", 3, "six years"),)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"question": " "}, "no words"),
        ({"passages": ()}, "No passage answers"),
        ({"passages": (Quote("other.md", 0, EVACUATION),)}, "not in the collection"),
        ({"passages": (Quote("flood.md", 0, "The governor sleeps."),)}, "does not say"),
        ({"passages": (Quote("flood.md", 7, EVACUATION),)}, "Page 7 of flood.md does not say"),
    ],
)
def test_a_question_that_nothing_can_be_held_against_is_refused(
    context: ActContext, changed: dict[str, object], fault: str
) -> None:
    with pytest.raises(InputError, match=fault):
        evaluation.put_question(context, replace(WRITTEN, **changed), answerable=True)  # type: ignore[arg-type]
    assert read_test_questions(context.workspace) == ()


def test_what_is_removed_comes_back_at_its_place(context: ActContext) -> None:
    ids = [evaluation.put_question(context, WRITTEN, answerable=True).id for _ in range(4)]
    removed = evaluation.remove_questions(context, [ids[0], ids[2]])
    assert [one.id for one in read_test_questions(context.workspace)] == [ids[1], ids[3]]
    evaluation.restore_questions(context, removed)
    assert [one.id for one in read_test_questions(context.workspace)] == ids
    evaluation.remove_questions(context, ids)
    assert read_test_questions(context.workspace) == ()


def test_what_is_removed_comes_back_without_what_was_erased_with_its_quotes_meanwhile(context: ActContext) -> None:
    level = Quote("caldo.md", 0, "Il piano prevede tre livelli di allerta.")
    both = replace(WRITTEN, passages=(*WRITTEN.passages, level))
    alone, other = (evaluation.put_question(context, one, answerable=True).id for one in (WRITTEN, both))
    removed = evaluation.remove_questions(context, [alone, other])
    documents.erase(context, "flood.md", redact=True)
    evaluation.restore_questions(context, removed)
    [question] = read_test_questions(context.workspace)
    assert question.id == other
    assert [one.quote for one in question.passages] == [level.quote]


def test_an_export_is_imported_again_and_what_is_missing_is_named(context: ActContext, tmp_path: Path) -> None:
    put = evaluation.put_question(context, WRITTEN, answerable=True)
    file = tmp_path / "questions.jsonl"
    assert evaluation.export_questions(context, file) == 1
    other = {
        "id": "x",
        "language": "en",
        "question": "Why?",
        "passages": [{"document": "z.pdf", "page": 1, "quote": "a"}],
    }
    file.write_text(file.read_text(encoding="utf-8") + json.dumps(other), encoding="utf-8")
    found = evaluation.import_questions(context, file)
    assert (found.added, found.replaced, found.missing) == (1, 1, ("z.pdf",))
    assert [one.id for one in read_test_questions(context.workspace)] == [put.id, "x"]
    with pytest.raises(InputError, match="cannot be written"):
        evaluation.export_questions(context, tmp_path / "nowhere" / "q.jsonl")


def test_the_worker_asks_every_question_and_leaves_out_those_without_documents(context: ActContext) -> None:
    with pytest.raises(InputError, match="no test questions"):
        evaluation.queue_test(context)
    put = evaluation.put_question(context, WRITTEN, answerable=True)
    evaluation.put_question(context, replace(WRITTEN, question="Who won the cup?", passages=()), answerable=False)
    gone = replace(put, id="gone", passages=(Quote("gone.pdf", 1, "Nothing."),))
    change_test_questions(context.workspace, lambda before: (*before, gone))
    evaluation.queue_test(context)
    assert evaluation.queue_test(context).id == 1
    work(context.engine)
    [job] = context.jobs.latest()
    assert (job.status, job.results[0]["questions"]) == ("done", 2)
    assert "1 left out" in job.message
    kept = read_test_run(context.workspace, list_test_runs(context.workspace)[0].id)
    assert kept.run.rows[0].id == put.id
    assert kept.run.rows[0].figures["first_quotation"] == 1
    assert kept.run.settings["generation"] == 1
    assert b"First quotation right" in evaluation.exported_results(kept)
    with pytest.raises(InputError, match="There is no run"):
        read_test_run(context.workspace, "accepted")


def test_a_test_that_is_paused_continues_where_it_was(context: ActContext) -> None:
    for _ in range(3):
        evaluation.put_question(context, WRITTEN, answerable=True)
    asked: list[int] = []

    def stop(done: int, total: int, now: str) -> None:
        asked.append(done)
        if len(asked) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        evaluation.ask_test_questions(context, AnswersRequest(), stop)
    assert list_test_runs(context.workspace) == []
    [stopped] = RUNS.read_all(context.workspace)
    assert len(stopped.run.rows) == 2
    evaluation.ask_test_questions(context, AnswersRequest())
    assert len(list_test_runs(context.workspace)) == 1
    assert [one.run.rows[:2] for one in RUNS.read_all(context.workspace)] == [stopped.run.rows]
    job = evaluation.queue_test(context)
    control(context, "cancel", job.id)
    work(context.engine)
    assert len(list_test_runs(context.workspace)) == 1


def test_a_question_is_asked_with_its_filter(context: ActContext) -> None:
    put = evaluation.put_question(context, replace(WRITTEN, filters={"language": ("it",)}), answerable=True)
    run, _ = evaluation.ask_test_questions(context, AnswersRequest())
    [row] = run.run.rows
    assert row.id == put.id
    assert not any(cited.startswith("flood.md") for cited in row.cited)
    assert describe_result(row) in ("Evidence not found", "Wrongly refused")
