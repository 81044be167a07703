"""Working memory of the controller: queries, evidence pool, statements and confidence.

It is immutable: every operation returns a memory that holds more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from rag_engine.messages import Message
from rag_engine.types.evidence import Evidence, GeographicScope
from rag_engine.types.passage import Place, Source

SubQuestionState = Literal["covered", "contradicted", "open"]


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of the question, with the places, sections and years that its answer must be about.

    A section is written like "article 9". `queries` are issued for it in this order.
    """

    text: str
    queries: tuple[str, ...]
    language: str = ""
    scope: GeographicScope = field(default_factory=GeographicScope)
    sections: tuple[str, ...] = ()
    years: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposition:
    """A statement of a passage on the sub-question of number `about`, bound to its place.

    `start` and `end` are offsets in the document's text; `support` says how well it fits, from 0.
    """

    about: int
    text: str
    language: str
    place: Place
    document_id: str
    start: int
    end: int
    support: float


@dataclass(frozen=True, slots=True)
class IssuedQuery:
    """A query that was issued, its sub-question, and the evidence it found.

    The first query is the question itself; its `about` is None.
    """

    text: str
    about: int | None
    found: Evidence


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """Everything that the controller knows after `iteration` further retrievals.

    `issued` holds the queries with their evidence, which together are the evidence pool. `states` is the state of each
    sub-question. `confidence` is how sure the memory is as a whole, from 0 to 1.
    """

    sub_questions: tuple[SubQuestion, ...]
    issued: tuple[IssuedQuery, ...] = ()
    propositions: tuple[Proposition, ...] = ()
    states: tuple[SubQuestionState, ...] = ()
    confidence: float = 0.0
    iteration: int = 0
    warnings: tuple[Message, ...] = ()

    @property
    def unresolved(self) -> tuple[int, ...]:
        """Return the numbers of the sub-questions that are open or contradicted."""
        return tuple(number for number, state in enumerate(self.states) if state != "covered")

    def pool(self) -> dict[Place, Source]:
        """Return every source found so far by its place, in the order in which they were found."""
        sources: dict[Place, Source] = {}
        for query in self.issued:
            for source in query.found.sources:
                sources.setdefault(source.place, source)
        return sources


def with_evidence(memory: WorkingMemory, query: IssuedQuery) -> WorkingMemory:
    """Return the memory with a query and its evidence added."""
    iteration = memory.iteration + (query.about is not None)
    return replace(memory, issued=(*memory.issued, query), iteration=iteration)
