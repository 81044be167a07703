"""Evidence for a question: how it was taken apart, what was found, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag_engine.messages import Message
from rag_engine.types.passage import Hit, Source

# Whether what was found is enough to answer from, may not answer, or does not.
Ground = Literal["enough", "doubtful", "none"]
StepKind = Literal["plan", "retrieve", "read", "reflect", "decide"]


@dataclass(frozen=True, slots=True)
class GeographicScope:
    """The places a question names: countries and states by English name, regions by the table's name.

    The country of a state is among the countries.
    """

    countries: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.countries or self.regions)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A question taken apart: its search, the form of its answer, and its places.

    `queries` holds the cleaned question first, then up to three variants. `keywords` are acronyms and quoted phrases
    that are searched separately. `planner` says who made the plan.
    """

    question: str
    language: str
    queries: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    output_instructions: str = ""
    scope: GeographicScope = GeographicScope()
    planner: str = "rules"
    warnings: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class AbsentSection:
    """A section that the question names of an act that has none of that label.

    `section` is as the question writes it, `act` the act's name; `first` and `last` are the numbers between which the
    sections of its kind lie.
    """

    section: str
    act: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class AbsentWord:
    """A word that a question asks a document for and that its whole text does not hold.

    `document` is the document as the question names it, and `language` the question's. `pages` are those searched, 0
    for a text without pages.
    """

    word: str
    document: str
    language: str
    pages: int


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of a language model's prompts and replies, as its server counts them."""

    prompt: int
    reply: int


@dataclass(frozen=True, slots=True)
class ControllerStep:
    """A step of the controller, shown while it happens, in an iteration (0: the question itself).

    `subject` is the query, the sub-question or the reason to stop. `done` and `of` count sub-questions, passages or
    statements. `confidence` is the memory's after the step, from 0 to 1. `tokens` is the number that the controller has
    spent until then, None if it asked no model or the server counts none.
    """

    kind: StepKind
    iteration: int
    subject: str = ""
    done: int = 0
    of: int = 0
    confidence: float = 0.0
    tokens: TokenCount | None = None


@dataclass(frozen=True, slots=True)
class ResidualGap:
    """A part of the question that has no answer, or a contradicted one, when the text is written."""

    question: str
    contradicted: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """A document, country or year that a question names beside others, or a part of the question.

    - `name`: as the question names it, a country by its name in the question's language; "" for a part
    - `question`: what is asked of it; `query` leaves its name out, which in its documents tells nothing apart
    - `documents`: the documents of it, with `pages` pages; empty for all documents
    - `country`, `year`: what its passages name, "" for any; a country by its English name
    - `sources`: what was found for its question, best first; empty if nothing there may answer
    """

    name: str
    question: str
    query: str
    documents: frozenset[int] = frozenset()
    pages: int = 0
    country: str = ""
    year: str = ""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Result of retrieval: hits in rank order, their parents as sources (1 is the best).

    `absent` is what the question names, or asks a document for, and is not there. `ground` says whether it is enough
    to answer from, by the best chance of a hit. `read` is the number of passages that a reader has read for it. `steps`
    and `gaps` are the controller's, if it ran. `as_of` is the date of which was asked, empty for today.
    """

    plan: QueryPlan
    hits: tuple[Hit, ...]
    sources: tuple[Source, ...]
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    absent: tuple[AbsentSection | AbsentWord, ...] = ()
    ground: Ground = "enough"
    steps: tuple[ControllerStep, ...] = ()
    gaps: tuple[ResidualGap, ...] = ()
    read: int = 0
    as_of: str = ""
    sides: tuple[Side, ...] = ()
