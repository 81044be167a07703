"""Conversations in the workspace, one file each, so that they outlive the browser and the server."""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.reply import Reply
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.planning.rewriting import Exchange

_TITLE = 80


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its reply; None while it is being answered, and for good if the server ended meanwhile.

    `rewritten` is what was asked in the place of a follow-up question, empty for one that was asked as it is.
    """

    question: str
    asked: str
    reply: Reply | None
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, under a random id."""

    id: str
    turns: tuple[Turn, ...]

    @property
    def title(self) -> str:
        """Return the first question, cut to 80 characters."""
        question = " ".join(self.turns[0].question.split()) if self.turns else ""
        return question if len(question) <= _TITLE else f"{question[: _TITLE - 1].rstrip()}…"


# The codec of the stored files; a field that an older one lacks has its default.
CODEC = TypeAdapter(Conversation)

_ID = re.compile(r"[0-9a-f]{32}")

# A turn is added by reading the conversation and writing it again, and two tabs may do so at the same moment.
_changing = threading.Lock()


def new_id() -> str:
    """Return a random id. It is no secret: everybody who opens the page sees the list."""
    return secrets.token_hex(16)


def read_conversation(workspace: Path, id: str) -> Conversation | None:
    """Return the conversation, or None when there is none of this id or the id is not one."""
    if not _ID.fullmatch(id):
        return None
    path = _path(workspace, id)
    try:
        status = path.stat()
        return _parsed(path, status.st_ino, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise WorkspaceError(
            f"The conversation {path} cannot be read: {error}.", help="Start a new conversation, or delete that file."
        ) from error


# The page reads the latest ones at everything a person does, and one of 500 turns takes half a second.
@lru_cache(maxsize=16)
def _parsed(path: Path, *_: int) -> Conversation:
    """Return the conversation of a file that is known by its inode, time and size."""
    return CODEC.validate_json(path.read_bytes())


def recent_conversations(workspace: Path, limit: int = 12) -> list[Conversation]:
    """Return the conversations used last, newest first; files that cannot be read are left out."""
    found: list[Conversation] = []
    for path in conversation_files(workspace):
        if len(found) == limit:
            break
        try:
            conversation = read_conversation(workspace, path.stem)
        except WorkspaceError:
            continue
        if conversation and conversation.turns:
            found.append(conversation)
    return found


def conversation_files(workspace: Path) -> list[Path]:
    """Return the files of the conversations, each named by its id, that used last first."""
    return sorted(_folder(workspace).glob("*.json"), key=_modified, reverse=True)


def begin_turn(workspace: Path, id: str, question: str) -> Conversation:
    """Add a question to the conversation, new if need be, as its last turn without a reply.

    A question that never got its reply makes way for this one.
    """
    if not _ID.fullmatch(id):
        raise InputError(f"{id!r} is not the id of a conversation.", help="Start a new conversation.")
    # To the microsecond: this is also how the turn is found again.
    turn = Turn(question, datetime.now(UTC).isoformat(timespec="microseconds"), None)
    with _changing:
        before = read_conversation(workspace, id) or Conversation(id, ())
        answered = tuple(one for one in before.turns if one.reply is not None)
        return _write(workspace, replace(before, turns=(*answered, turn)))


def end_turn(workspace: Path, begun: Conversation, reply: Reply) -> Conversation | None:
    """Store the reply to the last question of `begun`; return the conversation as it is now, None when it was deleted.

    Turns that another tab has added meanwhile stay. The question is added again if another one replaced it.
    """
    ended = replace(begun.turns[-1], reply=reply)
    with _changing:
        now = read_conversation(workspace, begun.id)
        if now is None:
            return None
        turns = [ended if turn.asked == ended.asked else turn for turn in now.turns]
        return _write(workspace, replace(now, turns=tuple(turns if ended in turns else [*turns, ended])))


def exchanges(conversation: Conversation) -> tuple[Exchange, ...]:
    """Return what a follow-up question may lean on: each question as it was asked, with the titles that were cited."""
    return tuple(
        Exchange(turn.rewritten or turn.question, tuple(dict.fromkeys(one.title for one in turn.reply.citations)))
        for turn in conversation.turns
        if turn.reply is not None
    )


def delete_conversation(workspace: Path, id: str) -> None:
    """Delete the conversation."""
    if _ID.fullmatch(id):
        with _changing:
            _path(workspace, id).unlink(missing_ok=True)


def _write(workspace: Path, conversation: Conversation) -> Conversation:
    path = _path(workspace, conversation.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, CODEC.dump_json(conversation))
    return conversation


def _folder(workspace: Path) -> Path:
    return workspace / "conversations"


def _path(workspace: Path, id: str) -> Path:
    return _folder(workspace) / f"{id}.json"


def _modified(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0
