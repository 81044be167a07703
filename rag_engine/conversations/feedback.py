"""Ratings that people gave to the answers of the workspace's conversations."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from rag_engine.conversations.person import LOCAL, Person, owns
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import CONVERSATIONS, TurnRating
from rag_engine.errors import WorkspaceError


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """A rating with its question and answer.

    `asked` is the time of the question in ISO format, `conversation` the id of its conversation. `by` is the name of
    the person who lets admins see it, empty for the person's own. `is_open` says whether the conversation is open to
    the person; only then `title` is set.
    """

    conversation: str
    title: str
    asked: str
    question: str
    rating: TurnRating
    reply: Reply | None
    by: str = ""
    is_open: bool = True

    @property
    def cites(self) -> bool:
        """Whether the answer cites anything."""
        return self.reply is not None and bool(self.reply.citations)

    @property
    def refused(self) -> bool:
        """Whether nothing was found to answer."""
        return self.reply is not None and self.reply.status == "insufficient_evidence"


def rated_answers(workspace: Path, person: Person = LOCAL) -> tuple[RatedAnswer, ...]:
    """Return the rated answers of a person's conversations, the latest first.

    An admin also gets the rated answers that other people let admins see. A conversation that cannot be read is left
    out.
    """
    admin = person.has_role("admin")
    found: list[RatedAnswer] = []
    for id, version in CONVERSATIONS.versions(workspace, None if admin else person):
        with suppress(WorkspaceError):
            owner, shared_by, rated = _rated(workspace, id, version)
            if owns(person, owner):
                found += rated
            elif admin:
                # In conversations of others only ratings that they share with admins count.
                found += [
                    replace(
                        answer,
                        by=answer.rating.shared_by,
                        is_open=bool(shared_by),
                        title=answer.title if shared_by else "",
                    )
                    for answer in rated
                    if answer.rating.shared_by
                ]
    return tuple(sorted(found, key=lambda answer: answer.asked, reverse=True))


# As in the list of conversations: one is parsed again only when it has changed.
@lru_cache(maxsize=2048)
def _rated(workspace: Path, id: str, _version: int) -> tuple[str, str, tuple[RatedAnswer, ...]]:
    """Return the owner of a conversation, who shares it, and its rated answers."""
    conversation = CONVERSATIONS.read_any(workspace, id)
    if conversation is None:
        return "", "", ()
    rated = tuple(
        RatedAnswer(
            conversation.id,
            conversation.title,
            turn.asked,
            turn.rewritten or turn.question,
            turn.rating,
            turn.reply,
        )
        for turn in conversation.turns
        if turn.rating is not None
    )
    return conversation.owner, conversation.shared_by, rated
