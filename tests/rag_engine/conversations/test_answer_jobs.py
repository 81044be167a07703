"""An answer is written by a thread of the server, watched or not."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.conversations.answer_jobs import AnswerJobs
from rag_engine.conversations.recording import AnswerPart
from rag_engine.conversations.store import Turn, new_id, read_conversation
from rag_engine.errors import BackendError, InputError
from rag_engine.planning.follow_up import Exchange, FollowUp
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import ControllerStep, Evidence, QueryPlan
from rag_engine.waiting import still_waiting
from tests.present import present
from tests.threads import join_threads

QUESTION = "How long is a plan valid?"
EVIDENCE = Evidence(QueryPlan(QUESTION, "en", (QUESTION,)), (), ())
ANSWER = Answer("answered", "Six years.", (), EVIDENCE, "model")


class SlowAnswer:
    """An answer that writes its first words, then waits until it may go on."""

    def __init__(self, *, waiting: bool = False) -> None:
        self.written, self.go_on = threading.Event(), threading.Event()
        self._waiting = waiting

    def __call__(self, before: tuple[Exchange, ...]) -> Iterator[AnswerPart]:
        self.before = before
        yield FollowUp("How long is a flood plan valid?", "How long?")
        yield ControllerStep("reflect", 1, "Who pays?", 1, 2, 0.6)
        yield EVIDENCE
        yield "Six "
        self.written.set()
        while self._waiting and not self.go_on.wait(0.01):
            still_waiting(1.0)
        self.go_on.wait(30)
        yield "years."
        yield ANSWER


def ended(workspace: Path, id: str) -> Turn:
    """Return the last turn once its answer is written."""
    join_threads(f"answer {id}")
    conversation = present(read_conversation(workspace, id))
    return conversation.turns[-1]


def test_how_far_an_answer_has_come_can_be_watched_and_its_end_is_stored(tmp_path: Path) -> None:
    jobs, id, slow = AnswerJobs(tmp_path), new_id(), SlowAnswer()

    begun = jobs.start(id, QUESTION, slow)

    assert [turn.question for turn in begun.turns] == [QUESTION]
    assert slow.written.wait(30)
    progress = present(jobs.progress(id))
    assert progress.rewritten == "How long is a flood plan valid?"
    assert [step.kind for step in progress.steps] == ["reflect"]
    assert (progress.stage, progress.stopping) == ("reading", False) or progress.text == "Six "
    assert 0 <= progress.seconds < 30

    slow.go_on.set()
    turn = ended(tmp_path, id)
    assert turn.reply is not None
    assert turn.reply.text == "Six years."
    assert turn.rewritten == "How long is a flood plan valid?"
    assert jobs.progress(id) is None


@pytest.mark.parametrize("waiting", [False, True])
def test_an_answer_that_is_stopped_keeps_the_words_that_came(tmp_path: Path, waiting: bool) -> None:
    """Between two words, or while a model is waited for."""
    jobs, id, slow = AnswerJobs(tmp_path), new_id(), SlowAnswer(waiting=waiting)
    jobs.start(id, QUESTION, slow)
    assert slow.written.wait(30)

    jobs.stop(id)
    if not waiting:
        progress = present(jobs.progress(id))
        assert progress.stopping
        slow.go_on.set()

    reply = present(ended(tmp_path, id).reply)
    assert reply.text == "Six"
    assert "cancelled" in " ".join(reply.warnings)


def test_an_answer_that_is_stopped_while_it_searches_keeps_the_steps_that_were_taken(tmp_path: Path) -> None:
    searching, go_on = threading.Event(), threading.Event()

    def ask(before: tuple[Exchange, ...]) -> Iterator[AnswerPart]:
        yield ControllerStep("plan", 0, done=1, of=2)
        yield ControllerStep("retrieve", 1, "who pays")
        searching.set()
        go_on.wait(30)
        yield EVIDENCE

    jobs, id = AnswerJobs(tmp_path), new_id()
    jobs.start(id, QUESTION, ask)
    assert searching.wait(30)
    jobs.stop(id)
    go_on.set()

    reply = present(ended(tmp_path, id).reply)
    assert (reply.text, [step.kind for step in reply.steps]) == ("Answer cancelled.", ["plan", "retrieve"])


def test_a_conversation_takes_one_question_at_a_time_and_others_go_on(tmp_path: Path) -> None:
    jobs, id, slow, beside = AnswerJobs(tmp_path), new_id(), SlowAnswer(), SlowAnswer()
    jobs.start(id, QUESTION, slow)

    with pytest.raises(InputError, match=r"still being written.*stop it"):
        jobs.start(id, "And when?", SlowAnswer())

    other = new_id()
    beside.go_on.set()
    jobs.start(other, QUESTION, beside)
    assert ended(tmp_path, other).reply is not None
    slow.go_on.set()
    assert ended(tmp_path, id).question == QUESTION


def test_a_question_leans_on_those_before_it(tmp_path: Path) -> None:
    jobs, id, slow = AnswerJobs(tmp_path), new_id(), SlowAnswer()
    slow.go_on.set()
    jobs.start(id, QUESTION, slow)
    ended(tmp_path, id)

    jobs.start(id, "And in Ireland?", slow)
    ended(tmp_path, id)

    assert [one.question for one in slow.before] == ["How long is a flood plan valid?"]


def test_an_error_becomes_the_reply_and_the_next_question_is_taken(tmp_path: Path) -> None:
    def failing(before: tuple[Exchange, ...]) -> Iterator[AnswerPart]:
        yield EVIDENCE
        raise BackendError("The server is gone.", help="Start it.")

    jobs, id, slow = AnswerJobs(tmp_path), new_id(), SlowAnswer()
    jobs.start(id, QUESTION, failing)
    reply = present(ended(tmp_path, id).reply)
    assert (reply.status, reply.text) == ("error", "The server is gone. Start it.")

    slow.go_on.set()
    jobs.start(id, QUESTION, slow)
    assert ended(tmp_path, id).reply is not None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_answer_that_ends_in_a_fault_of_ours_does_not_look_cancelled(tmp_path: Path) -> None:
    def broken(before: tuple[Exchange, ...]) -> Iterator[AnswerPart]:
        yield replace(EVIDENCE)
        raise ZeroDivisionError

    jobs, id = AnswerJobs(tmp_path), new_id()
    jobs.start(id, QUESTION, broken)
    reply = present(ended(tmp_path, id).reply)
    assert reply.status == "error"
    assert "did not expect" in reply.text
    assert jobs.progress(id) is None
