"""Quotations for a question with several sides: the best of each side in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

from rag_engine.answering.quotations.shown import Quotation
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source

# Quotations of all sides together; each side has one, however many they are.
_MOST = 6


def by_side(
    evidence: Evidence, choose: Callable[[str, Sequence[Source]], list[Quotation]]
) -> list[tuple[Quotation, str]]:
    """Return the quotations of a question's sides, the best of each in turn, or none without sides.

    The best of each side has its name or, of a part of a question, the part; the others have "". `choose` returns the
    quotations for a question from sources, the best first.
    """
    numbers = {source.place: source.n for source in evidence.sources}
    rankings: list[list[tuple[Quotation, str]]] = []
    for side in evidence.sides:
        own = [replace(one, n=numbers[one.place]) for one in side.sources if one.place in numbers]
        found = choose(side.query, own)
        # What says the year comes before what only stands in a document of several years.
        found.sort(key=lambda one: side.year not in one.text)
        rankings.append([(one, "" if place else side.name or side.question) for place, one in enumerate(found)])
    turns = [one for turn in zip_longest(*rankings) for one in turn if one is not None]
    chosen: dict[tuple[int, int], tuple[Quotation, str]] = {}
    for one, label in turns:
        chosen.setdefault((one.source.n, one.start), (one, label))
    return list(chosen.values())[: max(_MOST, len(evidence.sides))]
