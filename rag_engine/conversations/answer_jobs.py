"""Answers that are being written, each by a thread of the server.

A page that closes does not lose its answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rag_engine.conversations.person import LOCAL, Person
from rag_engine.conversations.recording import AnswerPart, AnswerStopped, record_reply
from rag_engine.conversations.reply import ShownSource, shown_sources
from rag_engine.conversations.store import Conversation, QuestionSettings, begin_turn, exchanges, read_conversation
from rag_engine.errors import InputError
from rag_engine.planning.follow_up import Exchange, FollowUp
from rag_engine.types.evidence import ControllerStep, Evidence
from rag_engine.waiting import while_waiting

AnswerStage = Literal["searching", "reading", "writing"]


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """How far an answer has come; `began` is on the monotonic clock.

    `rewritten` is the full form of a follow-up question. Sources come before the words.
    """

    began: float
    stage: AnswerStage = "searching"
    rewritten: str = ""
    steps: tuple[ControllerStep, ...] = ()
    sources: tuple[ShownSource, ...] = ()
    text: str = ""
    stopping: bool = False

    @property
    def seconds(self) -> float:
        """Return the seconds since the question was asked."""
        return time.monotonic() - self.began


class AnswerJobs:
    """The answers that are being written in one workspace, at most one in each conversation.

    The object is safe to share between threads. Only the person who asked a question can watch or stop its answer.
    """

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._running: dict[str, _AnswerJob] = {}

    def start(
        self,
        id: str,
        question: str,
        ask: Callable[[tuple[Exchange, ...]], Iterator[AnswerPart]],
        settings: QuestionSettings | None = None,
        person: Person = LOCAL,
    ) -> Conversation:
        """Begin to answer a question; return the conversation with the question as its last turn.

        `ask` gets the exchanges before it. InputError if another answer is being written in the conversation, or if it
        belongs to somebody else.
        """
        with self._lock:
            if id in self._running:
                raise InputError(
                    "An answer is still being written in this conversation.", help="Wait for it, or stop it."
                )
            before = read_conversation(self._workspace, id, person)
            begun = begin_turn(self._workspace, id, question, settings, person)
            job = self._running[id] = _AnswerJob(person.key)
        leant_on = exchanges(before) if before else ()
        thread = threading.Thread(
            target=self._write, args=(job, begun, lambda: ask(leant_on)), name=f"answer {id}", daemon=True
        )
        thread.start()
        return begun

    def progress(self, id: str, person: Person = LOCAL) -> AnswerProgress | None:
        """Return the progress of the person's answer in a conversation, or None if there is none."""
        job = self._job(id, person)
        return job.progress() if job else None

    def wait(self, id: str, seconds: float, person: Person = LOCAL) -> None:
        """Wait until the person's answer in a conversation is stored, at most for these seconds."""
        job = self._job(id, person)
        if job:
            job.ended.wait(seconds)

    def stop(self, id: str, person: Person = LOCAL) -> None:
        """Stop the person's answer in a conversation; the words that came until then are kept."""
        job = self._job(id, person)
        if job:
            job.stop()

    def _job(self, id: str, person: Person) -> _AnswerJob | None:
        job = self._running.get(id)
        return job if job and job.asked_by == person.key else None

    def _write(self, job: _AnswerJob, begun: Conversation, ask: Callable[[], Iterator[AnswerPart]]) -> None:
        try:
            # A model that is slow to begin is stopped here, another one between two words.
            with while_waiting(lambda _: job.check()):
                for part in record_reply(self._workspace, begun, _checked(job, ask)):
                    job.note(part)
        except AnswerStopped:
            # What came is stored.
            return
        finally:
            with self._lock:
                del self._running[begun.id]
            job.ended.set()


class _AnswerJob:
    """One answer, and the key of who asked for it; only its own thread notes its parts."""

    def __init__(self, asked_by: str) -> None:
        self.asked_by, self.ended = asked_by, threading.Event()
        self._noted = AnswerProgress(time.monotonic())
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def progress(self) -> AnswerProgress:
        return replace(self._noted, stopping=self._stopped.is_set())

    def check(self) -> None:
        """Raise AnswerStopped once a person has stopped the answer."""
        if self._stopped.is_set():
            raise AnswerStopped

    def note(self, part: AnswerPart) -> None:
        match part:
            case FollowUp():
                self._noted = replace(self._noted, rewritten=part.question if part.asked else "")
            case ControllerStep():
                self._noted = replace(self._noted, steps=(*self._noted.steps, part))
            case Evidence():
                self._noted = replace(
                    self._noted, stage="writing" if self._noted.text else "reading", sources=shown_sources(part)
                )
            case str():
                self._noted = replace(self._noted, stage="writing", text=self._noted.text + part)


def _checked(job: _AnswerJob, ask: Callable[[], Iterator[AnswerPart]]) -> Iterator[AnswerPart]:
    """Yield the parts of an answer until it is stopped."""
    job.check()
    for part in ask():
        job.check()
        yield part
