"""Ratings that people gave to the answers of the workspace's conversations."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from rag_engine.conversations.person import LOCAL, Person, owns
from rag_engine.conversations.store import CODEC, TurnRating, conversation_files


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """A rating with the question whose answer it is of.

    `asked` is when, as an ISO time, `conversation` the id of where. `cites` says whether the answer cites anything,
    `refused` whether nothing was found to answer.
    """

    conversation: str
    title: str
    asked: str
    question: str
    rating: TurnRating
    cites: bool
    refused: bool


def rated_answers(workspace: Path, person: Person = LOCAL) -> tuple[RatedAnswer, ...]:
    """Return the rated answers of a person's conversations, the latest first, without files that cannot be read."""
    found: list[RatedAnswer] = []
    for path in conversation_files(workspace, person):
        with suppress(FileNotFoundError, ValidationError):
            status = path.stat()
            owner, rated = _rated(path, status.st_ino, status.st_mtime_ns, status.st_size)
            # What others share is read, and not how they rated it.
            found += rated if owns(person, owner) else ()
    return tuple(sorted(found, key=lambda one: one.asked, reverse=True))


# As in the list of conversations: a file is parsed again only when it has changed.
@lru_cache(maxsize=2048)
def _rated(path: Path, *_: int) -> tuple[str, tuple[RatedAnswer, ...]]:
    conversation = CODEC.validate_json(path.read_bytes())
    return conversation.owner, tuple(
        RatedAnswer(
            conversation.id,
            conversation.title,
            turn.asked,
            turn.rewritten or turn.question,
            turn.rating,
            turn.reply is not None and bool(turn.reply.citations),
            turn.reply is not None and turn.reply.status == "insufficient_evidence",
        )
        for turn in conversation.turns
        if turn.rating is not None
    )
