"""Conversations in the workspace, one file each, so that they outlive the browser and the server."""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pages._shared.records import Conversation, Reply, Turn, from_json, to_json
from rag_engine.errors import InputError, WorkspaceError

_ID = re.compile(r"[0-9a-f]{32}")

# A turn is added by reading the conversation and writing it again, and two tabs may be at that in the same moment.
_changing = threading.Lock()


def new_id() -> str:
    """A random id that no other conversation has. It is no secret: everybody who opens the page sees the list."""
    return secrets.token_hex(16)


def read_conversation(workspace: Path, id: str) -> Conversation | None:
    """The conversation, or None when there is none of this id or the id is not one."""
    if not _ID.fullmatch(id):
        return None
    path = _path(workspace, id)
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            f"The conversation {path} cannot be read: {error}.", help="Start a new conversation, or delete that file."
        ) from error


def recent_conversations(workspace: Path, limit: int = 12) -> list[Conversation]:
    """The conversations used last, newest first; files that cannot be read are left out."""
    found: list[Conversation] = []
    for path in sorted(_folder(workspace).glob("*.json"), key=_modified, reverse=True):
        if len(found) == limit:
            break
        try:
            conversation = read_conversation(workspace, path.stem)
        except WorkspaceError:
            continue
        if conversation and conversation.turns:
            found.append(conversation)
    return found


def begin_turn(workspace: Path, id: str, question: str) -> Conversation:
    """The conversation, new if need be, with the question as its last turn and no reply yet.

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
    """The conversation as it is now, with the reply to the last question of `begun`; None when it was deleted.

    Turns that another tab has added meanwhile stay. The question is added again if another one made it give way.
    """
    ended = replace(begun.turns[-1], reply=reply)
    with _changing:
        now = read_conversation(workspace, begun.id)
        if now is None:
            return None
        turns = [ended if turn.asked == ended.asked else turn for turn in now.turns]
        return _write(workspace, replace(now, turns=tuple(turns if ended in turns else [*turns, ended])))


def delete_conversation(workspace: Path, id: str) -> None:
    """Nothing; the conversation is gone."""
    if _ID.fullmatch(id):
        with _changing:
            _path(workspace, id).unlink(missing_ok=True)


def _write(workspace: Path, conversation: Conversation) -> Conversation:
    path = _path(workspace, conversation.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written beside and renamed, so that a reader finds the old conversation or the new one, never half of it.
    temporary = path.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}.new")
    temporary.write_text(json.dumps(to_json(conversation), ensure_ascii=False), encoding="utf-8")
    temporary.replace(path)
    return conversation


def _folder(workspace: Path) -> Path:
    return workspace / "conversations"


def _path(workspace: Path, id: str) -> Path:
    return _folder(workspace) / f"{id}.json"


def _modified(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0
