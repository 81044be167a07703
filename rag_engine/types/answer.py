"""An answer: its text, its citations, how far they support it, its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag_engine.messages import Message
from rag_engine.types.evidence import Evidence

AnswerStatus = Literal["answered", "insufficient_evidence", "error"]
# What an attribute of a structured answer holds: None where it is empty, NOT_STATED for a yes or no that is not stated.
AttributeContent = str | int | float | bool | tuple[str, ...] | None
NOT_STATED = "not stated"
# What an answer of quotations has in place of the name of a model.
QUOTED = "extractive"
# How well a quotation answers, by the chance that it does.
Fit = Literal["answers", "related", "weak"]
SupportLabel = Literal["supported", "partly supported", "unsupported", "not checked", "no claim"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A [Source n] of an answer with its place: the quote that supports the statement, and its page.

    `page_label` is the number printed on that page, as `DocumentRecord.page_label` gives it.
    `start` and `end` are offsets of the quote in the document's text. `authority`, `year` and `licence` are the
    document's, empty if they are unknown. `section` is the heading above the quote, if there is one. `pinpoint` is the
    section and the paragraph that the quote begins in ("Article 4 (4)"), empty in a text without sections.
    """

    n: int
    child_id: str
    document_id: str
    file: str
    title: str
    page: int
    quote: str
    start: int
    end: int
    authority: str = ""
    year: int | None = None
    licence: str = ""
    section: str = ""
    page_label: str | None = None
    pinpoint: str = ""

    @property
    def named_page(self) -> dict[int, str | None]:
        """Its page with the number printed on it, as `pages_text` takes them."""
        return {self.page: self.page_label}


@dataclass(frozen=True, slots=True)
class ShownQuotation:
    """A quotation as it is shown: markdown that ends in the mark of source `n`.

    `chance` is the chance that it answers, which gives its `fit`; None if it was not judged. The best quotation of each
    of several documents, countries, years or parts of a question names its `side`.
    """

    text: str
    n: int
    fit: Fit
    chance: float | None = None
    side: str = ""


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """How far the cited passages support a sentence, characters [start, end) of the answer's text.

    `reasons` name the parts of the sentence that no passage holds ("number 40 is not in the passage").
    """

    start: int
    end: int
    label: SupportLabel
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SupportJudge:
    """Second model that was asked to label an answer's sentences.

    If it `failed`, the labels were made without it.
    """

    name: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole of a reply; the text cites sources as [Source n] and every one of them exists.

    `support` has the sentences of a language model's answer in order, and nothing for quotations. `judge` is the model
    that was asked for their labels, None if none is set. `withheld` is a model's text that names no source, which is no
    answer.

    `quoted` are the quotations of an answer without a model, the best first, each with the citation of its place. If a
    model failed before its first word, the text is the error. If it found no answer in passages that are likely to
    hold one, the text says so. In both cases `quotations` are the answer without a model, and the citations are theirs.
    """

    status: AnswerStatus
    text: Message | str
    citations: tuple[Citation, ...]
    evidence: Evidence
    generator: str
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    support: tuple[SentenceSupport, ...] = ()
    withheld: str = ""
    quotations: str = ""
    judge: SupportJudge | None = None
    quoted: tuple[ShownQuotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named value of a structured answer."""

    name: str
    value: AttributeContent


@dataclass(frozen=True, slots=True)
class CitedRecord:
    """A record of a structured answer and the place that states it."""

    attributes: tuple[Attribute, ...]
    citation: Citation


@dataclass(frozen=True, slots=True)
class StructuredAnswer:
    """A reply in the shape of a JSON schema: its entities and the records of its list, with their places.

    `list_name` is the property that holds the records. If the evidence is insufficient, there are neither entities nor
    records.
    """

    status: AnswerStatus
    list_name: str
    entities: tuple[Attribute, ...]
    records: tuple[CitedRecord, ...]
    evidence: Evidence
    generator: str
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
