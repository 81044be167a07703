"""Coverage of a collection: how many documents there are of each value of a facet, and the gaps, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rag_engine.text.languages import language_name
from rag_engine.types import DocumentRecord, Metadata

COVERED = ("country", "year", "hazard", "language", "document_type", "licence")
UNKNOWN = "not known"
# A gap in the years of a collection that is worth a sentence; a pair of values is missed where each is this frequent.
_LEAST_YEARS = 2
_FREQUENT = 2
_MOST_PAIRS = 8
_SPOKEN = {"Other": "other hazards", "Multi-hazard": "several hazards"}
# Countries of which one speaks with the article, as of every name that begins with "United".
_ARTICLE = ("United ", "Netherlands", "Philippines", "Bahamas", "Maldives", "Gambia", "Dominican Republic")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of documents by facet and value, the most frequent first, years in order; and the gaps in sentences."""

    documents: int
    counts: Mapping[str, Mapping[str, int]]
    gaps: tuple[str, ...]


def coverage(records: Sequence[DocumentRecord]) -> Coverage:
    """Return what the documents cover and what they leave out."""
    counts = {name: _counted(records, name) for name in COVERED}
    gaps = (*_missing_years(counts["year"]), *_missing_pairs(records, counts), *_unknown(counts, len(records)))
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


def _missing_years(counts: Mapping[str, int]) -> list[str]:
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
    spans = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs if len(run) >= _LEAST_YEARS]
    return [f"No document of {span}." for span in reversed(spans)]


def _missing_pairs(records: Sequence[DocumentRecord], counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the frequent hazards that no document of a frequent language or country is about."""
    gaps: list[tuple[int, str]] = []
    for other, phrase in (("language", "in {}"), ("country", "from {}")):
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
                    name = language_name(value) or value if other == "language" else value
                    name = f"the {name}" if other == "country" and name.startswith(_ARTICLE) else name
                    gaps.append((hazards * values, f"No document about {_spoken(hazard)} {phrase.format(name)}."))
    return [sentence for _, sentence in sorted(gaps, key=lambda gap: (-gap[0], gap[1]))[:_MOST_PAIRS]]


def _unknown(counts: Mapping[str, Mapping[str, int]], total: int) -> list[str]:
    names = {"country": "country", "year": "year", "document_type": "type", "licence": "licence"}
    missing = [(name, counts[facet][UNKNOWN]) for facet, name in names.items() if UNKNOWN in counts[facet]]
    shares = [(name, f"{number:,} of" if number < total else "all") for name, number in missing]
    return [f"The {name} of {share} {total:,} documents is not known." for name, share in shares]


def _spoken(hazard: str) -> str:
    """Return a label as it stands in a sentence."""
    return _SPOKEN.get(hazard, hazard[:1].lower() + hazard[1:])
