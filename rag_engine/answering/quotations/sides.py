"""Quotations for a question with several sides: the best of each side in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Protocol, TypeVar

from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source

# Quotations of all sides together; each side has one, however many they are.
_MOST = 6


class QuotedPlace(Protocol):
    """Characters [start, end) of a source that are quoted."""

    @property
    def source(self) -> Source:
        """The source."""

    @property
    def start(self) -> int:
        """Its first character."""

    @property
    def text(self) -> str:
        """The quotation."""


QuotedT = TypeVar("QuotedT", bound=QuotedPlace)


def by_side(evidence: Evidence, choose: Callable[[str, Sequence[Source]], list[QuotedT]]) -> list[QuotedT]:
    """Return the quotations of a question's sides, the best of each in turn; none of a question without sides.

    `choose` returns the quotations for a question from sources, the best first.
    """
    numbers = {source.place: source.n for source in evidence.sources}
    rankings = []
    for side in evidence.sides:
        own = [replace(one, n=numbers[one.place]) for one in side.sources if one.place in numbers]
        found = choose(side.query, own)
        # What says the year comes before what only stands in a document of several years.
        rankings.append(sorted(found, key=lambda one: side.year not in one.text))
    turns = (one for turn in zip_longest(*rankings) for one in turn if one is not None)
    chosen = {(one.source.n, one.start): one for one in turns}
    return list(chosen.values())[: max(_MOST, len(evidence.sides))]
