"""Conversations in the workspace, one file each, so that they outlive the browser and the server."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.answering.citations import check_marks
from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError, SextantError, WorkspaceError
from rag_engine.planning.rewriting import Exchange, FollowUp
from rag_engine.prompts import insufficient
from rag_engine.types import (
    Answer,
    AnswerStatus,
    Attribute,
    Citation,
    CitedRecord,
    ControllerStep,
    Evidence,
    SentenceSupport,
    Source,
    StructuredAnswer,
    SupportJudge,
    Tier,
)

_TITLE = 80


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A passage that a source refers to, as it is drawn; `start` and `end` are its span in the document."""

    label: str
    document_id: str
    page: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source as it is drawn; `start` and `end` are the text's span in the document, `passage` the best hit's.

    `foreign` says whether it is in another language than the question. `clause` is where in its section the best hit
    begins, `indexed_under` where an index lists what is in it.
    """

    n: int
    child_id: str
    document_id: str
    file: str
    title: str
    authority: str
    year: int | None
    hazards: tuple[str, ...]
    geographical_level: str
    countries: tuple[str, ...]
    language: str
    document_type: str
    pages: int
    page: int
    last_page: int
    start: int
    end: int
    passage: tuple[int, int]
    text: str
    tier: Tier
    act: str = ""
    section: str = ""
    clause: str = ""
    headings: tuple[str, ...] = ()
    indexed_under: tuple[str, ...] = ()
    linked: tuple[ShownLink, ...] = ()
    licence: str = ""
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it is drawn; that of a form has records instead of a text."""

    status: AnswerStatus
    text: str
    generator: str
    planner: str
    queries: tuple[str, ...]
    keywords: tuple[str, ...]
    places: tuple[str, ...]
    citations: tuple[Citation, ...]
    sources: tuple[ShownSource, ...]
    warnings: tuple[str, ...]
    seconds: Mapping[str, float]
    steps: tuple[ControllerStep, ...] = ()
    support: tuple[SentenceSupport, ...] = ()
    withheld: str = ""
    entities: tuple[Attribute, ...] = ()
    records: tuple[CitedRecord, ...] = ()
    quotations: str = ""
    judge: SupportJudge | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its reply; None while it is being answered, and for good if that was interrupted.

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


def reply_of(answer: Answer) -> Reply:
    """Return the part of an answer that a conversation stores."""
    plan = answer.evidence.plan
    return Reply(
        status=answer.status,
        text=answer.text,
        generator=answer.generator,
        planner=plan.planner,
        queries=plan.queries,
        keywords=plan.keywords,
        places=(*plan.scope.countries, *plan.scope.regions),
        citations=answer.citations,
        sources=tuple(_shown(source, plan.language) for source in answer.evidence.sources),
        warnings=tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))),
        seconds={**answer.evidence.seconds, **answer.seconds},
        steps=answer.evidence.steps,
        support=answer.support,
        withheld=answer.withheld,
        quotations=answer.quotations,
        judge=answer.judge,
    )


def reply_of_form(answer: StructuredAnswer) -> Reply:
    """Return the part of a structured answer that a conversation stores."""
    language = answer.evidence.plan.language
    text = "" if answer.records else insufficient(language)
    citations = tuple(dict.fromkeys(record.citation for record in answer.records))
    plain = Answer(
        answer.status, text, citations, answer.evidence, answer.generator, answer.warnings, dict(answer.seconds)
    )
    return replace(reply_of(plain), entities=answer.entities, records=answer.records)


def failed_reply(message: str) -> Reply:
    """Return the reply to a question that could not be answered, with the reason as its text."""
    return Reply("error", message, "", "", (), (), (), (), (), (), {})


def _shown(source: Source, asked: str) -> ShownSource:
    document, best = source.document, source.hits[0]
    metadata = document.metadata
    return ShownSource(
        n=source.n,
        child_id=best.child_id,
        document_id=document.document_id,
        file=document.file,
        title=metadata.title,
        authority=metadata.authority,
        year=metadata.year,
        hazards=metadata.hazards,
        geographical_level=metadata.geographical_level,
        countries=metadata.countries,
        language=metadata.language,
        document_type=metadata.document_type,
        pages=document.pages,
        page=best.page,
        last_page=best.last_page,
        start=source.start,
        end=source.end,
        passage=(best.start, best.end),
        text=source.text,
        tier=best.tier,
        act=source.act,
        section=source.section,
        clause=best.clause,
        headings=source.headings,
        indexed_under=tuple(
            dict.fromkeys(
                (
                    *(one.explanation for one in source.listed),
                    *(entry for hit in source.hits for entry in hit.indexed_under),
                )
            )
        ),
        linked=tuple(
            ShownLink(one.label, one.document.document_id, one.page, one.start, one.end, one.text)
            for one in source.linked
        ),
        licence=metadata.licence,
        foreign=bool(asked) and metadata.language != asked,
    )


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


def record_reply(
    workspace: Path,
    begun: Conversation,
    parts: Iterator[FollowUp | ControllerStep | Evidence | str | Answer | StructuredAnswer],
) -> Generator[FollowUp | ControllerStep | Evidence | str | Answer | StructuredAnswer]:
    """Yield the parts of an answer as they come, and store the reply at their end.

    An error becomes the reply, and so do the words that came when the iterator is closed before its end.
    """
    text, evidence, reply = "", None, None
    warnings: tuple[str, ...] = ()
    try:
        for part in parts:
            match part:
                case FollowUp():
                    warnings = part.warnings
                    begun = replace(begun, turns=(*begun.turns[:-1], replace(begun.turns[-1], rewritten=part.question)))
                case Evidence():
                    evidence = part
                case Answer():
                    reply = reply_of(part)
                case StructuredAnswer():
                    reply = reply_of_form(part)
                case str():
                    text += part
            yield part
    except SextantError as error:
        reply = failed_reply(str(error))
    finally:
        reply = reply or _cancelled(text, evidence)
        end_turn(workspace, begun, replace(reply, warnings=tuple(dict.fromkeys((*warnings, *reply.warnings)))))


def _cancelled(text: str, evidence: Evidence | None) -> Reply:
    """Return the reply of a cancelled answer: the words that came, with the marks that lead to a source."""
    if evidence is None or not text.strip():
        return failed_reply("Answer cancelled.")
    checked = check_marks(text, {source.n for source in evidence.sources})
    warning = "Answer cancelled before its end; its citations were not checked."
    return reply_of(Answer("answered", checked.text, (), evidence, "", (warning,)))


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
