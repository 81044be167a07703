"""Coverage of a collection: numbers of documents by values of one facet or two, and the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

from rag_engine.filters import DATED, ONLY, Filter
from rag_engine.types.document import DocumentRecord, Metadata

COVERED = ("country", "year", "hazard", "language", "document_type", "licence")
UNKNOWN = "not known"
# What should have recent documents, what is held against the hazards, and what every document should have.
DatedFacet = Literal["country", "hazard"]
PairedFacet = Literal["language", "country"]
KnownFacet = Literal["country", "year", "document_type", "licence"]
# A gap in the years of a collection that is worth a sentence; a pair of values is missed where each is this frequent,
# and one without recent documents where the collection itself has some that are this many years younger.
_LEAST_YEARS = 2
_FREQUENT = 2
_STALE_YEARS = 5
# Sentences that are read: of what is missing by kind, and in all.
_MOST_OF_A_KIND, _MOST_GAPS = 2, 6
# Years of a column of the grid, and its columns at most; what is older is one more.
_PERIODS, _MOST_COLUMNS = (1, 2, 5, 10), 12


@dataclass(frozen=True, slots=True)
class MissingYears:
    """Years within the collection's own of which there is no document."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class MissingSince:
    """A frequent value of a facet without documents after a year, though other values have some."""

    facet: DatedFacet
    value: str
    year: int


@dataclass(frozen=True, slots=True)
class MissingPair:
    """A frequent hazard that no document of a frequent value of another facet is about."""

    hazard: str
    facet: PairedFacet
    value: str


@dataclass(frozen=True, slots=True)
class UnknownValues:
    """Number of documents with an unknown value of a facet."""

    facet: KnownFacet
    documents: int


Gap = MissingYears | MissingSince | MissingPair | UnknownValues


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of documents by facet and value, the most frequent first, years in order; and the gaps."""

    documents: int
    counts: Mapping[str, Mapping[str, int]]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class CoverageGrid:
    """Numbers of documents by a value of one facet (rows) and one of another (columns).

    `facets` names them in this order. A column of years is named by its first and last year. A document of several
    countries counts in each row, but once in the `totals`.
    """

    facets: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    totals: Mapping[str, int]
    counts: Mapping[tuple[str, str], int]


def coverage(records: Sequence[DocumentRecord]) -> Coverage:
    """Return what the documents cover and what they leave out."""
    counts = {name: _counted(records, name) for name in COVERED}
    gaps: tuple[Gap, ...] = (
        *_missing_since(records)[:_MOST_OF_A_KIND],
        *_missing_pairs(records, counts)[:_MOST_OF_A_KIND],
        *_missing_years(counts["year"])[:_MOST_OF_A_KIND],
        *_unknown(counts),
    )
    return Coverage(len(records), counts, gaps[:_MOST_GAPS])


def coverage_grid(records: Sequence[DocumentRecord], rows: str, columns: str) -> CoverageGrid:
    """Return how many documents have each value of two facets together, the most frequent values first.

    Years are grouped to periods, from the earliest: "2015-2019". The first period holds all older years. Unknown values
    come last.
    """
    by_row, by_column = _counted(records, rows), _counted(records, columns)
    periods = _periods(by_column) if columns == "year" else {value: value for value in by_column}
    counts = Counter(
        (row, periods[column])
        for record in records
        for row in _values(record.metadata, rows) or (UNKNOWN,)
        for column in _values(record.metadata, columns) or (UNKNOWN,)
    )
    return CoverageGrid((rows, columns), tuple(by_row), tuple(dict.fromkeys(periods.values())), by_row, counts)


def filter_of_cell(grid: CoverageGrid, row: int, column: str) -> Filter:
    """Return the filter for the documents of a cell, or of its whole row without such a column.

    It is empty if there is nothing to filter by: no document, or an unknown value.

    >>> grid = CoverageGrid(("country", "year"), ("Italy",), ("2015-2019",), {"Italy": 3}, {("Italy", "2015-2019"): 3})
    >>> filter_of_cell(grid, 0, "2015-2019")
    {'country': ('Italy',), 'year': ('2015-2019',), 'dated': ('only',)}
    """
    value = grid.rows[row]
    whole_row = column not in grid.columns
    if UNKNOWN in (value, column) or not (whole_row or grid.counts.get((value, column))):
        return {}
    chosen = {grid.facets[0]: (value,)} | ({} if whole_row else {grid.facets[1]: (column,)})
    # A cell of a year counts none of the undated documents.
    return chosen | ({DATED: (ONLY,)} if "year" in chosen else {})


def _periods(by_year: Mapping[str, int]) -> dict[str, str]:
    """Return the period of each year, the years in order, unknown years last."""
    years = [int(year) for year in by_year if year != UNKNOWN]
    if not years:
        return {UNKNOWN: UNKNOWN}
    first, last = years[0], years[-1]
    # The finest that shows three quarters of the years; a constitution of 1949 does not make it coarser.
    early = years[len(years) // 4]
    size = next((size for size in _PERIODS if last // size - early // size < _MOST_COLUMNS), _PERIODS[-1])
    oldest = max(first, (last // size - _MOST_COLUMNS + 1) * size)
    periods = {}
    for year in range(first, last + 1):
        begin, end = (first, oldest - 1) if year < oldest else (year // size * size, year // size * size + size - 1)
        periods[str(year)] = f"{max(begin, first)}-{min(end, last)}"
    return periods | ({UNKNOWN: UNKNOWN} if UNKNOWN in by_year else {})


def _values(metadata: Metadata, name: str) -> Sequence[str]:
    several = {"country": metadata.countries, "hazard": metadata.hazards}
    if name in several:
        return several[name]
    value = getattr(metadata, name)
    return (str(value),) if value else ()


def _counted(records: Iterable[DocumentRecord], name: str) -> dict[str, int]:
    counted = Counter(value for record in records for value in _values(record.metadata, name) or (UNKNOWN,))
    unknown = counted.pop(UNKNOWN, 0)
    ordered = (
        sorted(counted.items()) if name == "year" else sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    )
    return dict(ordered) | ({UNKNOWN: unknown} if unknown else {})


def _missing_years(counts: Mapping[str, int]) -> list[MissingYears]:
    """Return the runs of years without a document, between years with documents, the latest first.

    Years older than most of the collection say little: a constitution of 1949 leaves no gap until 2010.
    """
    known = sorted(int(year) for year in counts if year != UNKNOWN)
    if len(known) < _LEAST_YEARS:
        return []
    # Behind the first quarter of the years that there are.
    begin = known[len(known) // 4]
    missing = [year for year in range(begin, known[-1]) if str(year) not in counts]
    runs = [[year for _, year in run] for _, run in groupby(enumerate(missing), key=lambda item: item[1] - item[0])]
    return [MissingYears(run[0], run[-1]) for run in reversed(runs) if len(run) >= _LEAST_YEARS]


def _missing_since(records: Sequence[DocumentRecord]) -> list[MissingSince]:
    """Return frequent countries and hazards whose newest document is much older than the newest of all."""
    newest = max((record.metadata.year or 0 for record in records), default=0)
    gaps: list[tuple[int, MissingSince]] = []
    facets: tuple[DatedFacet, ...] = get_args(DatedFacet)
    for facet in facets:
        dated = [record.metadata for record in records if record.metadata.year]
        years: dict[str, list[int]] = {}
        for metadata in dated:
            for value in _values(metadata, facet):
                years.setdefault(value, []).append(metadata.year or 0)
        gaps += [
            (len(known), MissingSince(facet, value, max(known)))
            for value, known in years.items()
            if len(known) >= _FREQUENT and newest - max(known) >= _STALE_YEARS
        ]
    return [gap for _, gap in sorted(gaps, key=lambda gap: (-gap[0], gap[1].year, gap[1].value))]


def _missing_pairs(records: Sequence[DocumentRecord], counts: Mapping[str, Mapping[str, int]]) -> list[MissingPair]:
    """Return the frequent hazards that no document of a frequent language or country is about."""
    gaps: list[tuple[int, MissingPair]] = []
    others: tuple[PairedFacet, ...] = get_args(PairedFacet)
    for other in others:
        present = {
            (hazard, value)
            for record in records
            for hazard in record.metadata.hazards
            for value in _values(record.metadata, other)
        }
        for hazard, hazards in counts["hazard"].items():
            for value, values in counts[other].items():
                frequent = hazards >= _FREQUENT and values >= _FREQUENT and UNKNOWN not in (hazard, value)
                if frequent and (hazard, value) not in present:
                    gaps.append((hazards * values, MissingPair(hazard, other, value)))
    ordered = sorted(gaps, key=lambda gap: (-gap[0], gap[1].hazard, gap[1].value))
    return [gap for _, gap in ordered]


def _unknown(counts: Mapping[str, Mapping[str, int]]) -> list[UnknownValues]:
    """Return the facets that some documents lack, the most often missing one first."""
    facets: tuple[KnownFacet, ...] = get_args(KnownFacet)
    gaps = [UnknownValues(facet, counts[facet][UNKNOWN]) for facet in facets if UNKNOWN in counts[facet]]
    return sorted(gaps, key=lambda gap: -gap.documents)
