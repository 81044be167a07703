"""Filters: which facets there are, and which documents a filter allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from rag_engine.errors import InputError
from rag_engine.text.folding import fold
from rag_engine.types.document import UNDATED, DocumentRecord, Metadata

FACETS = ("hazard", "geographical_level", "country", "language", "document_type", "year", "authority")
# What narrows to one version of each work: a date, or "versions=all" for every version and translation.
AS_OF, VERSIONS = "as_of", "versions"
# What narrows to single documents, by their ids.
DOCUMENT = "document"

# Not filters: by these the one version and translation of a work that answers is found.
_OF_WORK = ("work", "superseded", "translation_of")

Filter = Mapping[str, tuple[str, ...]]
Facets = Mapping[str, Mapping[str, frozenset[int]]]

_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_YEARS = re.compile(r"(\d{4})?\s*(?:\.\.|-|–)\s*(\d{4})?")


def facets_of(metadata: Metadata) -> dict[str, tuple[str, ...]]:
    """Return the values a document is found by, per facet; nothing known, nothing listed."""
    several = {"hazard": metadata.hazards, "country": metadata.countries}
    single = {name: getattr(metadata, name) for name in (*FACETS, *_OF_WORK) if name not in several}
    return several | {name: (str(value),) if value else () for name, value in single.items()}


def parse_filters(texts: Sequence[str]) -> Filter:
    """Return a filter from KEY=VALUE texts; the same key twice means either value.

    >>> parse_filters(["country=Italy", "country=Spain"])
    {'country': ('Italy', 'Spain')}
    """
    parsed: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        name = re.sub(r"[\s-]+", "_", key.strip().lower())
        if not equals or not value.strip():
            raise InputError(
                "The filter {text!r} is not KEY=VALUE.", help="For example --filter hazard=Flood.", text=text
            )
        _check(name, key)
        parsed[name] = (*parsed.get(name, ()), value.strip())
    return parsed


def allowed_documents(wanted: Filter, facets: Facets, *, strict: bool = True) -> frozenset[int] | None:
    """Return the keys of the documents that match every facet of the filter; None allows all.

    A document matches a facet if it has one of its values. Case is ignored; a year may be a range (2015-2020, 2015-,
    ..2020). A value that no document has is an error that lists the existing values, unless `strict` is off.

    >>> allowed_documents({"language": ("en",)}, {"language": {"en": frozenset({1, 2}), "fr": frozenset({3})}})
    frozenset({1, 2})
    """
    allowed: frozenset[int] | None = None
    for name, values in wanted.items():
        _check(name, name)
        if not values or name in (AS_OF, VERSIONS):
            continue
        known = facets.get(name, {})
        stored = (_spellings(name, value, known, strict=strict) for value in values)
        documents = frozenset().union(*(known[one] for some in stored for one in some))
        allowed = documents if allowed is None else allowed & documents
    return allowed


def facet_values(wanted: Filter, facets: Facets) -> dict[str, tuple[str, ...]]:
    """Return the values of each facet asked for as they are stored, by which a vector store filters."""
    return {
        name: tuple(one for value in values for one in _spellings(name, value, facets.get(name, {}), strict=False))
        for name, values in wanted.items()
        if name in FACETS and values
    }


def live_counts(
    wanted: Filter,
    facets: Facets,
    documents: Mapping[int, DocumentRecord] | None = None,
    count: Callable[[Collection[int]], int] = len,
) -> dict[str, dict[str, int]]:
    """Return how many documents have each value of a facet and match all the other facets.

    With `documents`, only one version and translation of each work counts: the one that answers. `count` says how many
    of some documents count, for example the ones that hold certain words.
    """
    counts: dict[str, dict[str, int]] = {}
    for name in FACETS:
        others = {other: values for other, values in wanted.items() if other != name}
        allowed = allowed_documents(others, facets, strict=False)
        counts[name] = {}
        for value, keys in facets.get(name, {}).items():
            chosen = keys if allowed is None else keys & allowed
            if documents is not None:
                chosen = _answering(wanted, chosen, facets, documents)
            counts[name][value] = count(chosen)
    return counts


@dataclass(frozen=True, slots=True)
class FilterObstacle:
    """A facet whose values exclude every document that the rest of the filter allows.

    `documents` is the number of these excluded documents.
    """

    name: str
    values: tuple[str, ...]
    documents: int


def filter_obstacles(
    wanted: Filter, facets: Facets, documents: Mapping[int, DocumentRecord]
) -> tuple[FilterObstacle, ...]:
    """Return the facets that make a filter allow no document, the most documents first.

    Without such a facet the filter allows some. The result is empty if the filter allows some, or if several facets
    must be left out together.
    """
    if len(left_documents(wanted, facets, documents)):
        return ()
    left = {name: len(left_documents(without(wanted, name), facets, documents)) for name in wanted}
    found = [FilterObstacle(name, wanted[name], count) for name, count in left.items() if count]
    return tuple(sorted(found, key=lambda one: -one.documents))


def left_documents(wanted: Filter, facets: Facets, documents: Mapping[int, DocumentRecord]) -> frozenset[int]:
    """Return the documents that answer under a filter.

    If the filter asks for a value that no document has, the set is empty.
    """
    left = answering_documents(wanted, facets, documents, strict=False)
    return frozenset(documents) if left is None else left


def without(wanted: Filter, name: str) -> Filter:
    """Return a filter without one of its facets."""
    return {other: values for other, values in wanted.items() if other != name}


def answering_documents(
    wanted: Filter, facets: Facets, documents: Mapping[int, DocumentRecord], *, strict: bool = True
) -> frozenset[int] | None:
    """Return the keys of the allowed documents that answer; None allows all.

    Of each work one version and one translation answers. The version is the newest, or with `as_of` the one in force on
    that date. The translation is the preferred one, unless the filter leaves it out. With `versions=all` every version
    answers. A value that no document has is an error, unless `strict` is off.
    """
    return _answering(wanted, allowed_documents(wanted, facets, strict=strict), facets, documents)


@overload
def _answering(
    wanted: Filter, allowed: frozenset[int], facets: Facets, documents: Mapping[int, DocumentRecord]
) -> frozenset[int]: ...
@overload
def _answering(
    wanted: Filter, allowed: None, facets: Facets, documents: Mapping[int, DocumentRecord]
) -> frozenset[int] | None: ...
def _answering(
    wanted: Filter, allowed: frozenset[int] | None, facets: Facets, documents: Mapping[int, DocumentRecord]
) -> frozenset[int] | None:
    """Return the allowed documents that answer."""
    if "all" in wanted.get(VERSIONS, ()):
        return allowed
    date = _as_of(wanted)
    superseded = frozenset().union(*facets.get("superseded", {}).values())
    twins = frozenset().union(*facets.get("translation_of", {}).values())
    works = frozenset().union(*facets.get("work", {}).values())
    if not (superseded or twins or (date and works)):
        return allowed
    left = frozenset(documents) if allowed is None else allowed
    if date:
        left -= {key for key in works & left if not _stood(documents[key].metadata, date)}
    else:
        left -= superseded
    answers = {documents[key].metadata.work for key in works & left - twins}
    for key in sorted(twins & left):
        # The preferred translation, or where that is left out the first of the others.
        work = documents[key].metadata.work
        if work in answers:
            left -= {key}
        answers.add(work)
    return left


def _stood(metadata: Metadata, date: str) -> bool:
    """Return whether this version of its work was in force on a date."""
    begun = not metadata.date or metadata.date <= date or date.startswith(metadata.date)
    over = metadata.superseded and (metadata.superseded == UNDATED or metadata.superseded <= date)
    return begun and not over


def is_date(text: str) -> bool:
    """Return whether a text is an ISO date or its prefix, as `as_of` takes it."""
    return bool(_DATE.fullmatch(text.strip()))


def _as_of(wanted: Filter) -> str:
    dates = wanted.get(AS_OF, ())
    for date in dates:
        if not is_date(date):
            raise InputError("as_of is {date!r}.", help="Give a date as 2019, 2019-05 or 2019-05-01.", date=date)
    return dates[-1].strip() if dates else ""


def _check(name: str, written: str) -> None:
    if name not in (*FACETS, DOCUMENT, AS_OF, VERSIONS):
        listed = ", ".join((*FACETS, f"{DOCUMENT}=ID", f"{AS_OF}=DATE", f"{VERSIONS}=all"))
        raise InputError(
            "There is no filter {written!r}.", help="Filters are {listed}.", written=written, listed=listed
        )


def _spellings(name: str, value: str, known: Mapping[str, frozenset[int]], *, strict: bool) -> list[str]:
    """Return the stored values that are meant by one asked for."""
    years = _YEARS.fullmatch(value.strip()) if name == "year" else None
    if years and any(years.groups()):
        first, last = int(years[1] or 0), int(years[2] or 9999)
        return [year for year in known if first <= int(year) <= last]
    folded = fold(value)
    found = [candidate for candidate in known if fold(candidate) == folded]
    if not found and strict:
        listed = ", ".join(sorted(known)[:40]) or "none yet"
        raise InputError(
            "No document has {name} {value!r}.", help="Values here: {listed}.", name=name, value=value, listed=listed
        )
    return found
