"""Workspaces to be backed up, with an encoder of counted words, and what a search finds in them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ingestion.acts import corrections, documents, people, settings
from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.acts.register import ClosedContext
from rag_engine.conversations.store import begin_turn, end_turn, new_id
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder, unread
from tests.rag_engine.conversations.test_store import REPLY

HARBOUR = "# Rules of the harbour\n\n" + "The harbourmaster keeps the zanzibar rules of the harbour. " * 20
BAY = "# Rules of the bay\n\n" + "The bay has other rules, which the warden keeps. " * 20


def open_engine(workspace: Path) -> Engine:
    return Engine(unread(workspace), embedder=CountingEmbedder())


def context_of(engine: Engine) -> ActContext:
    return replace(open_context(engine, local_person("Ada")), start_worker=lambda _: None)


def place(workspace: Path) -> ClosedContext:
    return ClosedContext(workspace, local_person("Ada"))


def add(workspace: Path, name: str, text: str) -> None:
    (workspace.parent / name).write_text(text, encoding="utf-8")
    with closing(open_engine(workspace)) as engine:
        assert documents.add_files(context_of(engine), [workspace.parent / name])[0].status == "indexed"


def erase(workspace: Path, name: str) -> None:
    with closing(open_engine(workspace)) as engine:
        documents.erase(context_of(engine), name)


def found(workspace: Path, question: str = "Who keeps the rules of the harbour?") -> list[tuple[str, float, str]]:
    """Return what a search finds: passages with their cosines and texts."""
    with closing(open_engine(workspace)) as engine:
        return [(hit.child_id, hit.cosine, hit.text) for hit in engine.search(question).hits]


def make_workspace(folder: Path) -> Path:
    """Return a workspace of two documents with a correction, a person, a setting and a conversation."""
    add(folder, "harbour.md", HARBOUR)
    add(folder, "bay.md", BAY)
    with closing(open_engine(folder)) as engine:
        # With every table that a catalog has.
        context_of(engine).jobs.latest()
        corrections.correct(context_of(engine), {"bay.md": {"title": ["The rules of the bay"]}}, "Ada", "So it says.")
    people.set_role(place(folder), "ada@example.org", "admin")
    settings.change_setting(place(folder), "answer_seconds", "600", "Ada")
    end_turn(folder, begin_turn(folder, new_id(), "How long is a plan valid?"), REPLY)
    return folder


def once(name: str, do: Callable[[], object]) -> Callable[[int, int, str], None]:
    """Return a progress that does something when a file of this name is first shown."""
    done: list[object] = []

    def show(_: int, __: int, now: str) -> None:
        if name in now and not done:
            done.append(now)
            do()

    return show
