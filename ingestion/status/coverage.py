"""Coverage of a collection: how many documents there are of each value of a facet, and the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

from rag_engine.types import DocumentRecord, Metadata

COVERED = ("country", "year", "hazard", "language", "document_type", "licence")
UNKNOWN = "not known"
# What is held against the hazards, and what every document should have.
PairedFacet = Literal["language", "country"]
KnownFacet = Literal["country", "year", "document_type", "licence"]
# A gap in the years of a collection that is worth a sentence; a pair of values is missed where each is this frequent.
_LEAST_YEARS = 2
_FREQUENT = 2
_MOST_PAIRS = 8


@dataclass(frozen=True, slots=True)
class MissingYears:
    """Years within the collection's own of which there is no document."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class MissingPair:
    """A frequent hazard that no document of a frequent value of another facet is about."""

    hazard: str
    facet: PairedFacet
    value: str


@dataclass(frozen=True, slots=True)
class UnknownValues:
    """Number of documents of which the value of a facet is not known."""

    facet: KnownFacet
    documents: int


Gap = MissingYears | MissingPair | UnknownValues


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of documents by facet and value, the most frequent first, years in order; and the gaps."""

    documents: int
    counts: Mapping[str, Mapping[str, int]]
    gaps: tuple[Gap, ...]


def coverage(records: Sequence[DocumentRecord]) -> Coverage:
    """Return what the documents cover and what they leave out."""
    counts = {name: _counted(records, name) for name in COVERED}
    gaps: tuple[Gap, ...] = (*_missing_years(counts["year"]), *_missing_pairs(records, counts), *_unknown(counts))
    return Coverage(len(records), counts, gaps)


def _values(metadata: Metadata, name: str) -> Sequence[str]:
    several = {"country": metadata.countries, "hazard": metadata.hazards}
    if name in several:
        return several[name]
    value = getattr(metadata, name)
    return (str(value),) if value else ()


def _counted(records: Iterable[DocumentRecord], name: str) -> dict[str, int]:
    counted = Counter(value for one in records for value in _values(one.metadata, name) or (UNKNOWN,))
    unknown = counted.pop(UNKNOWN, 0)
    ordered = (
        sorted(counted.items()) if name == "year" else sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    )
    return dict(ordered) | ({UNKNOWN: unknown} if unknown else {})


def _missing_years(counts: Mapping[str, int]) -> list[MissingYears]:
    """Return the runs of years within the collection's own of which there is no document, the latest first.

    What is older than most of the collection says little: a constitution of 1949 leaves no gap until 2010.
    """
    known = sorted(int(year) for year in counts if year != UNKNOWN)
    if len(known) < _LEAST_YEARS:
        return []
    # Behind the first quarter of the years that there are.
    begin = known[len(known) // 4]
    missing = [year for year in range(begin, known[-1]) if str(year) not in counts]
    runs = [[year for _, year in run] for _, run in groupby(enumerate(missing), key=lambda item: item[1] - item[0])]
    return [MissingYears(run[0], run[-1]) for run in reversed(runs) if len(run) >= _LEAST_YEARS]


def _missing_pairs(records: Sequence[DocumentRecord], counts: Mapping[str, Mapping[str, int]]) -> list[MissingPair]:
    """Return the frequent hazards that no document of a frequent language or country is about."""
    gaps: list[tuple[int, MissingPair]] = []
    others: tuple[PairedFacet, ...] = get_args(PairedFacet)
    for other in others:
        present = {
            (hazard, value)
            for one in records
            for hazard in one.metadata.hazards
            for value in _values(one.metadata, other)
        }
        for hazard, hazards in counts["hazard"].items():
            for value, values in counts[other].items():
                frequent = hazards >= _FREQUENT and values >= _FREQUENT and UNKNOWN not in (hazard, value)
                if frequent and (hazard, value) not in present:
                    gaps.append((hazards * values, MissingPair(hazard, other, value)))
    ordered = sorted(gaps, key=lambda gap: (-gap[0], gap[1].hazard, gap[1].value))
    return [gap for _, gap in ordered[:_MOST_PAIRS]]


def _unknown(counts: Mapping[str, Mapping[str, int]]) -> list[UnknownValues]:
    facets: tuple[KnownFacet, ...] = get_args(KnownFacet)
    return [UnknownValues(facet, counts[facet][UNKNOWN]) for facet in facets if UNKNOWN in counts[facet]]
