"""An answer as a conversation stores it and the page draws it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rag_engine.answer_sentences import insufficient
from rag_engine.answering.chances import RefusalRates, refusal_rates, share_right
from rag_engine.book_index.matching import explained
from rag_engine.conversations.describe_hit import HitScores, scores_of
from rag_engine.messages import Message
from rag_engine.types.answer import (
    Answer,
    AnswerStatus,
    Attribute,
    Citation,
    CitedRecord,
    SentenceSupport,
    ShownQuotation,
    StructuredAnswer,
    SupportJudge,
)
from rag_engine.types.evidence import ControllerStep, Evidence, Ground
from rag_engine.types.passage import Source, Tier


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A passage that a source refers to, to be drawn; `start` and `end` are its span in the document."""

    label: str
    document_id: str
    page: int
    start: int
    end: int
    text: str
    page_label: str | None = None


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source with everything that is drawn of it.

    - `start`, `end`: the span of the text in the document; `passage` is the span of the best hit.
    - `foreign`: whether its language differs from the question's.
    - `tier_share`: how many passages of its tier held the answer in our tests; None if that is unknown.
    - `clause`: where in its section the best hit begins.
    - `indexed_under`: where an index lists its content.
    - `scores`: the scores that decided the rank of the best hit.
    - `page_labels`: the numbers printed on its pages; empty if its document has none.
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
    tier_share: float | None = None
    scores: HitScores | None = None
    page_labels: tuple[tuple[int, str], ...] = ()

    def named_pages(self, pages: Iterable[int]) -> dict[int, str | None]:
        """Return some of its pages with the numbers printed on them, as `pages_text` takes them."""
        labels = dict(self.page_labels)
        return {page: labels.get(page) for page in pages}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to be drawn; a form's has records instead of a text.

    `ground` says whether the passages found are enough to answer from: if not, the quotations are the closest ones.
    `refusals` is how often refusing was right in our tests, for an answer that is a refusal by rule.
    """

    status: AnswerStatus
    text: Message | str
    generator: str
    planner: str
    queries: tuple[str, ...]
    keywords: tuple[str, ...]
    places: tuple[str, ...]
    citations: tuple[Citation, ...]
    sources: tuple[ShownSource, ...]
    warnings: tuple[Message, ...]
    seconds: Mapping[str, float]
    steps: tuple[ControllerStep, ...] = ()
    support: tuple[SentenceSupport, ...] = ()
    withheld: str = ""
    entities: tuple[Attribute, ...] = ()
    records: tuple[CitedRecord, ...] = ()
    quotations: str = ""
    quoted: tuple[ShownQuotation, ...] = ()
    judge: SupportJudge | None = None
    ground: Ground = "enough"
    refusals: RefusalRates | None = None


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
        places=(*plan.scope.states, *plan.scope.countries, *plan.scope.regions),
        citations=answer.citations,
        sources=shown_sources(answer.evidence),
        warnings=tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))),
        seconds={**answer.evidence.seconds, **answer.seconds},
        steps=answer.evidence.steps,
        support=answer.support,
        withheld=answer.withheld,
        quotations=answer.quotations,
        quoted=answer.quoted,
        judge=answer.judge,
        ground=answer.evidence.ground,
        refusals=refusal_rates(answer.status, answer.seconds, with_reader=answer.evidence.read > 0),
    )


def reply_of_form(answer: StructuredAnswer) -> Reply:
    """Return the part of a structured answer that a conversation stores."""
    language = answer.evidence.plan.language
    text = "" if answer.records else insufficient(language)
    citations = tuple(dict.fromkeys(record.citation for record in answer.records))
    plain = Answer(
        answer.status, text, citations, answer.evidence, answer.generator, answer.warnings, dict(answer.seconds)
    )
    # How often a form is rightly left empty was not measured.
    return replace(reply_of(plain), entities=answer.entities, records=answer.records, refusals=None)


def failed_reply(message: Message) -> Reply:
    """Return the reply to a question that could not be answered, with the reason as its text."""
    return Reply("error", message, "", "", (), (), (), (), (), (), {}, ground="none")


def shown_sources(evidence: Evidence) -> tuple[ShownSource, ...]:
    """Return the sources of an answer as they are drawn, by their numbers."""
    numbered = sorted(evidence.sources, key=lambda one: one.n)
    return tuple(_shown(source, evidence.plan.language) for source in numbered)


def _shown(source: Source, asked: str) -> ShownSource:
    document, best = source.document, source.hits[0]
    metadata, first = document.metadata, min(best.page, source.page)
    return ShownSource(
        n=source.n,
        child_id=best.child_id,
        document_id=document.document_id,
        file=document.file,
        title=document.shown_title,
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
                    *explained(source.listed, document),
                    *(entry for hit in source.hits for entry in hit.indexed_under),
                )
            )
        ),
        linked=tuple(
            ShownLink(
                one.label,
                one.document.document_id,
                one.page,
                one.start,
                one.end,
                one.text,
                one.document.page_label(one.page),
            )
            for one in source.linked
        ),
        licence=metadata.licence,
        foreign=bool(asked) and metadata.language != asked,
        tier_share=share_right(best, asked),
        scores=scores_of(best),
        page_labels=tuple(enumerate(document.page_labels, 1))[first - 1 : max(best.last_page, source.last_page)],
    )
