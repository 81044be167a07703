"""A session in the terminal: the conversation that goes on, its filter, and the asking of a question."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cli.terminal import emphasised, err, out, print_end, say, watched
from rag_engine.answering_documents import answering_documents
from rag_engine.config import Config
from rag_engine.controller.describe import describe_step
from rag_engine.conversations.recording import record_reply
from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.conversations.store import Conversation, begin_turn, exchanges, new_id, read_conversation
from rag_engine.engine import Engine, open_engine
from rag_engine.filters import Filter
from rag_engine.planning.follow_up import FollowUp
from rag_engine.types.evidence import ControllerStep


@dataclass(slots=True)
class ChatSession:
    """A conversation over an open engine.

    `shows_pages` says whether a page is opened in the system's viewer.
    """

    engine: Engine
    conversation: Conversation
    wanted: Filter
    shows_pages: bool = False

    @property
    def workspace(self) -> Path:
        """Return the folder of the collection."""
        return self.engine.config.workspace

    @property
    def reply(self) -> Reply | None:
        """Return the latest answer, None before the first."""
        return self.conversation.turns[-1].reply if self.conversation.turns else None

    @property
    def sources(self) -> tuple[ShownSource, ...]:
        """Return the sources of the latest answer, none before the first."""
        return self.reply.sources if self.reply else ()

    def describe_filter(self) -> str:
        """Return the filter as it is written: "hazard=Flood year=2019", empty where there is none."""
        return " ".join(f"{name}={value}" for name, values in self.wanted.items() for value in values)

    def filter_by(self, wanted: Filter) -> None:
        """Take a filter for the questions that follow; InputError for one that no document has."""
        snapshot = self.engine.collection.snapshot()
        answering_documents(wanted, snapshot.facets, snapshot.documents)
        self.wanted = wanted

    def reopen(self) -> None:
        """Open the engine again, so that it holds nothing that a worker needs."""
        config = self.engine.config
        self.engine.close()
        self.engine = open_engine(config)

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()


def open_session(config: Config) -> ChatSession:
    """Return a session with a new conversation and no filter."""
    return ChatSession(open_engine(config), Conversation(new_id(), ()), {})


def ask(session: ChatSession, question: str, *, as_written: bool = False) -> None:
    """Print the answer while it is written, and store it.

    A question that leans on those before it is rewritten.
    """
    leant_on = () if as_written else exchanges(session.conversation)
    begun = begin_turn(session.workspace, session.conversation.id, question)
    answer = record_reply(session.workspace, begun, session.engine.ask_next(question, leant_on, session.wanted))
    try:
        # Closed also by Ctrl-C: the words that came until then are the answer.
        with closing(answer):
            _print_parts(answer)
    finally:
        session.conversation = read_conversation(session.workspace, begun.id) or session.conversation
    if session.reply:
        print_end(session.reply)


def _print_parts(parts: Generator[object]) -> None:
    for part in watched(parts):
        match part:
            case FollowUp(asked=True):
                say(f"Asked as: {part.question}", "dim")
            case FollowUp():
                say(f"Asked as written. It may also mean: {part.question} (/in-full asks that)", "dim")
            case ControllerStep():
                say(describe_step(part), "dim", console=err)
            case str():
                out.print(emphasised(part), end="", soft_wrap=True)
