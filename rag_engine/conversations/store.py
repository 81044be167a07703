"""Conversations among the records of the workspace, so that they outlive the browser and the server."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.config import RetrievalProfile
from rag_engine.conversations.erased_documents import note_erased, without_document, without_erased
from rag_engine.conversations.person import LOCAL, Person, owns
from rag_engine.conversations.record_kinds import LONGEST_NAME, Moment, RecordKind, is_id, short_name
from rag_engine.conversations.reply import Reply
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.filters import Filter
from rag_engine.messages import Message
from rag_engine.planning.follow_up import Exchange
from rag_engine.planning.two_readings import best_chance
from rag_engine.storage.records import writing
from rag_engine.text.excerpt import shortened
from rag_engine.text.folding import fold

_TITLE = LONGEST_NAME


@dataclass(frozen=True, slots=True)
class QuestionSettings:
    """How a question was asked: by which filter and recipe, and of how many documents of the collection.

    `form` is the title of the form that the answer fills in, "" for text; `changing` while the collection was changed.
    """

    wanted: Filter
    matching: int
    documents: int
    profile: RetrievalProfile
    top_k: int
    similarity_floor: float
    varied: bool = False
    form: str = ""
    changing: bool = False


@dataclass(frozen=True, slots=True)
class TurnRating:
    """A person's rating of a reply, with the reason if one is given.

    `shared_by` is the name of the person who lets admins see it with its question and reply, or empty.
    """

    good: bool
    reason: str = ""
    shared_by: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its reply.

    `reply` is None while the question is being answered, and stays None if the server ended meanwhile. `rewritten` is
    the question that was asked in the place of a follow-up question, or "". `in_full` is the full form of a question
    that may be a follow-up and was asked as it is written, or "".
    """

    question: str
    asked: Moment
    reply: Reply | None
    rewritten: str = ""
    settings: QuestionSettings | None = None
    rating: TurnRating | None = None
    in_full: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, under a random id.

    `name` is given by a person, or empty. `owner` is the key of its owner. `shared_by` is the name of the person who
    lets everybody read it, or empty.
    """

    id: str
    turns: tuple[Turn, ...]
    name: str = ""
    pinned: bool = False
    owner: str = ""
    shared_by: str = ""

    @property
    def title(self) -> str:
        r"""Return the name, else the words of the first question that fit into 80 characters.

        >>> Conversation("1", (Turn("How high are\nthe dykes?", "2026-11-24T10:00:00+00:00", None),)).title
        'How high are the dykes?'
        """
        return self.title_within(_TITLE)

    def title_within(self, length: int) -> str:
        """Return the name, else the first words of the first question, in at most `length` characters."""
        question = " ".join(self.turns[0].question.split()) if self.turns else ""
        return self.name or shortened(question, length)


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation in a list.

    `asked` is the time of its last question, `words` are its name and questions, folded.
    """

    id: str
    title: str
    pinned: bool
    asked: str
    words: str
    owner: str
    shared_by: str


CODEC = TypeAdapter(Conversation)

CONVERSATIONS = RecordKind("conversation", Message("conversation"), CODEC)


def new_id() -> str:
    """Return a random id.

    The id is no secret: rights decide who may read a record.
    """
    return secrets.token_hex(16)


def read_conversation(workspace: Path, id: str, person: Person = LOCAL) -> Conversation | None:
    """Return the conversation, or None if it does not exist or is somebody else's.

    A conversation that somebody else shares comes without ratings, which are private to their owner.
    """
    found = CONVERSATIONS.read(workspace, id, person)
    if found is None or owns(person, found.owner):
        return found
    return replace(found, turns=tuple(replace(turn, rating=None) for turn in found.turns))


def is_kept(workspace: Path, id: str, person: Person = LOCAL) -> bool:
    """Return whether there is a conversation of this id that the person may read."""
    return any(id == one for one, _ in CONVERSATIONS.versions(workspace, person))


def list_conversations(workspace: Path, person: Person = LOCAL) -> list[ConversationSummary]:
    """Return a person's conversations and the shared ones of others, without damaged ones.

    Pinned ones come first, then the others by their last question.
    """
    found: list[ConversationSummary] = []
    for id, version in CONVERSATIONS.versions(workspace, person):
        with suppress(WorkspaceError):
            summary = _summary(workspace, id, version)
            if summary is not None and summary.asked:
                # Pinned by its owner, it is at the top of the owner's list.
                found.append(replace(summary, pinned=summary.pinned and owns(person, summary.owner)))
    return sorted(found, key=lambda one: (one.pinned, one.asked), reverse=True)


# A list of a thousand is read once, not at everything a person does.
@lru_cache(maxsize=2048)
def _summary(workspace: Path, id: str, _version: int) -> ConversationSummary | None:
    conversation = CONVERSATIONS.read_any(workspace, id)
    if conversation is None:
        return None
    questions = (turn.question for turn in conversation.turns)
    asked = conversation.turns[-1].asked if conversation.turns else ""
    words = fold(" ".join((conversation.name, *questions)))
    owner, shared_by = conversation.owner, conversation.shared_by
    return ConversationSummary(conversation.id, conversation.title, conversation.pinned, asked, words, owner, shared_by)


def begin_turn(
    workspace: Path, id: str, question: str, settings: QuestionSettings | None = None, person: Person = LOCAL
) -> Conversation:
    """Add a question to the person's conversation, new if need be, as its last turn without a reply.

    A question that never got its reply makes way for this one. InputError for a conversation of somebody else.
    """
    if not is_id(id):
        raise InputError("{id!r} is not the id of a conversation.", help="Start a new conversation.", id=id)
    # To the microsecond: this is also how the turn is found again.
    turn = Turn(question, datetime.now(UTC).isoformat(timespec="microseconds"), None, settings=settings)
    with CONVERSATIONS.changing(workspace):
        before = CONVERSATIONS.read_own(workspace, id, person)
        if before is None and CONVERSATIONS.read_any(workspace, id) is not None:
            raise InputError("This conversation is somebody else's.", help="Start a new conversation.")
        before = before or Conversation(id, (), owner=person.key)
        answered = tuple(one for one in before.turns if one.reply is not None)
        return CONVERSATIONS.write(workspace, replace(before, turns=(*answered, turn)))


def end_turn(workspace: Path, begun: Conversation, reply: Reply) -> Conversation | None:
    """Store the reply to the last question of `begun`; return the conversation, or None if it was deleted.

    Turns that another tab has added meanwhile stay. The question is added again if another one replaced it. If an
    erasure came after the question, the reply is stored without the erased document.
    """
    with CONVERSATIONS.changing(workspace):
        asked = begun.turns[-1]
        ended = replace(asked, reply=without_erased(workspace, reply, asked.asked))
        now = CONVERSATIONS.read_any(workspace, begun.id)
        if now is None:
            return None
        turns = [ended if turn.asked == ended.asked else turn for turn in now.turns]
        return CONVERSATIONS.write(workspace, replace(now, turns=tuple(turns if ended in turns else [*turns, ended])))


def exchanges(conversation: Conversation) -> tuple[Exchange, ...]:
    """Return the earlier questions of a follow-up, each with the titles it cited and its best chance.

    A question that was rewritten comes in its rewritten form.
    """
    return tuple(
        Exchange(
            turn.rewritten or turn.question,
            tuple(dict.fromkeys(citation.title for citation in turn.reply.citations)),
            best_chance(source.scores for source in turn.reply.sources if source.scores),
        )
        for turn in conversation.turns
        if turn.reply is not None
    )


def rename_conversation(workspace: Path, id: str, name: str, person: Person = LOCAL) -> None:
    """Give the conversation a name; an empty name restores the title from its first question.

    InputError for a name that is too long.
    """
    wanted = short_name(name)
    change_conversation(workspace, id, person, lambda now: replace(now, name=wanted))


def pin_conversation(workspace: Path, id: str, person: Person = LOCAL, *, pinned: bool) -> None:
    """Keep the conversation at the top of the list, or release it."""
    change_conversation(workspace, id, person, lambda now: replace(now, pinned=pinned))


def share_conversation(workspace: Path, id: str, person: Person, *, shared: bool) -> None:
    """Share the conversation with everybody under the person's name, or stop sharing it."""
    change_conversation(workspace, id, person, lambda now: replace(now, shared_by=person.name if shared else ""))


def rate_turn(workspace: Path, id: str, asked: str, rating: TurnRating | None, person: Person = LOCAL) -> None:
    """Store a person's rating of the reply to the question that was asked at that time.

    Admins who could see the rating before see the new one.
    """

    def rated(before: TurnRating | None) -> TurnRating | None:
        return replace(rating, shared_by=before.shared_by) if rating and before else rating

    _change_rating(workspace, id, asked, person, rated)


def share_rating(workspace: Path, id: str, asked: str, person: Person, *, shared: bool) -> None:
    """Share the person's rating, with its question and reply, with admins, or stop sharing it."""

    def chosen(before: TurnRating | None) -> TurnRating | None:
        return replace(before, shared_by=person.name if shared else "") if before else None

    _change_rating(workspace, id, asked, person, chosen)


def shared_turn(workspace: Path, id: str, asked: str, person: Person) -> Turn | None:
    """Return the turn that was asked at a time, if an admin may see it for its shared rating."""
    found = CONVERSATIONS.read_any(workspace, id) if person.has_role("admin") else None
    turns = found.turns if found else ()
    return next((turn for turn in turns if turn.asked == asked and turn.rating and turn.rating.shared_by), None)


def _change_rating(
    workspace: Path, id: str, asked: str, person: Person, change: Callable[[TurnRating | None], TurnRating | None]
) -> None:
    change_conversation(
        workspace,
        id,
        person,
        lambda now: replace(
            now,
            turns=tuple(
                replace(turn, rating=change(turn.rating)) if turn.asked == asked else turn for turn in now.turns
            ),
        ),
    )


def delete_conversation(workspace: Path, id: str, person: Person = LOCAL) -> Conversation | None:
    """Delete the conversation and return it, so that it can be restored; None if there is none."""
    with CONVERSATIONS.changing(workspace):
        conversation = CONVERSATIONS.read_own(workspace, id, person)
        if conversation:
            CONVERSATIONS.delete(workspace, id)
        return conversation


def restore_conversation(workspace: Path, conversation: Conversation) -> None:
    """Store a deleted conversation again, without documents that were erased meanwhile."""
    with CONVERSATIONS.changing(workspace):
        turns = (
            replace(turn, reply=without_erased(workspace, turn.reply, turn.asked)) if turn.reply else turn
            for turn in conversation.turns
        )
        CONVERSATIONS.write(workspace, replace(conversation, turns=tuple(turns)))


def change_conversation(
    workspace: Path, id: str, person: Person, change: Callable[[Conversation], Conversation]
) -> None:
    """Store a changed conversation.

    A conversation that was deleted meanwhile stays deleted; InputError for a conversation of somebody else.
    """
    with CONVERSATIONS.changing(workspace):
        now = CONVERSATIONS.read_own(workspace, id, person)
        if now is not None:
            CONVERSATIONS.write(workspace, change(now))


def forget_in_conversations(workspace: Path, document_id: str, file: str, *, redact: bool) -> None:
    """Remove the passages of a document of a file from every conversation.

    Quotations in answers stay. With `redact`, answers that cite the document are removed too. The same holds for
    answers that are still being written, here or in another process, and for records that are restored later.
    """

    def forget(turn: Turn) -> Turn:
        return replace(turn, reply=turn.reply and without_document(turn.reply, document_id, redact=redact))

    with writing(workspace):
        note_erased(workspace, document_id, file, redact=redact)
        CONVERSATIONS.change_all(
            workspace,
            document_id,
            lambda conversation: replace(conversation, turns=tuple(map(forget, conversation.turns))),
        )
