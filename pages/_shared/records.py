"""What is kept of a conversation: all that is needed to draw an answer and its sources again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rag_engine.types import Answer, AnswerStatus, Citation, Source, Tier

_TITLE = 80


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A passage that a source refers to, as it is drawn; `start` and `end` are its place in the document."""

    label: str
    document_id: str
    page: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source as it is drawn; `start` and `end` are the text's place in the document, `passage` the best hit's.

    `clause` is where in its section the best hit begins, `indexed_under` what an index lists its hits under.
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
    similarity: float
    tier: Tier
    act: str = ""
    section: str = ""
    clause: str = ""
    headings: tuple[str, ...] = ()
    indexed_under: tuple[str, ...] = ()
    linked: tuple[ShownLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it is drawn."""

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


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its reply; None while it is being answered, and for ever if that was broken off."""

    question: str
    asked: str
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, under a random id."""

    id: str
    turns: tuple[Turn, ...]

    @property
    def title(self) -> str:
        """The first question, cut to 80 characters."""
        question = " ".join(self.turns[0].question.split()) if self.turns else ""
        return question if len(question) <= _TITLE else f"{question[: _TITLE - 1].rstrip()}…"


def reply_of(answer: Answer) -> Reply:
    """What is kept of an answer."""
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
        sources=tuple(_shown(source) for source in answer.evidence.sources),
        warnings=tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))),
        seconds={**answer.evidence.seconds, **answer.seconds},
    )


def failed_reply(message: str) -> Reply:
    """The reply to a question that could not be answered, with the reason as its text."""
    return Reply("error", message, "", "", (), (), (), (), (), (), {})


def to_json(conversation: Conversation) -> dict[str, Any]:
    """The conversation as plain values."""
    return asdict(conversation)


def from_json(values: Mapping[str, Any]) -> Conversation:
    """The conversation of `to_json`; KeyError or TypeError when it is none."""
    return Conversation(values["id"], tuple(_turn(turn) for turn in values["turns"]))


def _turn(values: Mapping[str, Any]) -> Turn:
    reply = values["reply"]
    return Turn(values["question"], values["asked"], None if reply is None else _reply(reply))


def _reply(values: Mapping[str, Any]) -> Reply:
    return Reply(
        **_tuples(values)
        | {
            "citations": tuple(Citation(**citation) for citation in values["citations"]),
            "sources": tuple(_source(source) for source in values["sources"]),
        }
    )


def _source(values: Mapping[str, Any]) -> ShownSource:
    linked = tuple(ShownLink(**link) for link in values.get("linked", ()))
    return ShownSource(**_tuples(values) | {"linked": linked})


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _shown(source: Source) -> ShownSource:
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
        similarity=best.similarity,
        tier=best.tier,
        act=source.act,
        section=source.section,
        clause=best.clause,
        headings=source.headings,
        indexed_under=tuple(dict.fromkeys(entry for hit in source.hits for entry in hit.indexed_under)),
        linked=tuple(
            ShownLink(one.label, one.document.document_id, one.page, one.start, one.end, one.text)
            for one in source.linked
        ),
    )
