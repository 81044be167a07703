"""Filters: which facets there are, and which documents a filter allows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from rag_engine.errors import InputError
from rag_engine.text.folding import fold
from rag_engine.types.document import Metadata

FACETS = ("hazard", "geographical_level", "country", "language", "document_type", "year", "authority")
# What narrows to one version of each work: a date, or "versions=all" for every version and translation.
AS_OF, VERSIONS = "as_of", "versions"
# "dated=only" leaves out undated documents; else these answer any filter by date or year.
DATED = "dated"
ONLY = "only"
# What narrows to single documents, by their ids.
DOCUMENT = "document"

# Not filters: by these the one version and translation of a work that answers is found.
_OF_WORK = ("work", "superseded", "translation_of")

Filter = Mapping[str, tuple[str, ...]]
Facets = Mapping[str, Mapping[str, frozenset[int]]]

_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_YEAR = re.compile(r"\d{4}")
_YEARS = re.compile(r"(\d{4})?\s*(?:\.\.|-|–)\s*(\d{4})?")


def facets_of(metadata: Metadata) -> dict[str, tuple[str, ...]]:
    """Return the values a document is found by, per facet; nothing known, nothing listed."""
    languages = (metadata.language, *metadata.other_languages) if metadata.language else ()
    several = {"hazard": metadata.hazards, "country": metadata.countries, "language": languages}
    single = {name: getattr(metadata, name) for name in (*FACETS, *_OF_WORK) if name not in several}
    single |= {DATED: "yes" if metadata.since else "no"}
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
    ..2020). An undated document matches any year, but not `dated=only`. A value that no document has is an error that
    lists the existing values, unless `strict` is off.

    >>> allowed_documents({"language": ("en",)}, {"language": {"en": frozenset({1, 2}), "fr": frozenset({3})}})
    frozenset({1, 2})
    """
    allowed = facets.get(DATED, {}).get("yes", frozenset()) if is_dated_only(wanted) else None
    undated = undated_documents(wanted, facets)
    for name, values in wanted.items():
        _check(name, name)
        if not values or name in (AS_OF, VERSIONS, DATED):
            continue
        known, any_year = facets.get(name, {}), undated if name == "year" else frozenset()
        stored = (
            _spellings(name, value, known, strict=strict and not (any_year and _YEAR.fullmatch(value.strip())))
            for value in values
        )
        documents = any_year.union(*(known[one] for some in stored for one in some))
        allowed = documents if allowed is None else allowed & documents
    return allowed


def undated_documents(wanted: Filter, facets: Facets) -> frozenset[int]:
    """Return the undated documents, which match any year, unless the filter leaves them out."""
    return frozenset() if is_dated_only(wanted) else facets.get(DATED, {}).get("no", frozenset())


def is_dated_only(wanted: Filter) -> bool:
    """Return whether a filter leaves out undated documents; InputError for another value of `dated`."""
    for value in wanted.get(DATED, ()):
        if value.strip().lower() != ONLY:
            raise InputError("dated is {value!r}.", help="Write dated=only, or leave it out.", value=value)
    return bool(wanted.get(DATED))


def store_filter(
    wanted: Filter, facets: Facets, allowed: Collection[int] | None
) -> tuple[dict[str, tuple[str, ...]], Collection[int] | None]:
    """Return the facets and the documents by which a vector store finds the `allowed` documents.

    The documents are None if the facets allow no others. No facet says which version or translation answers, which
    documents are named by hand, and which are undated.
    """
    values = facet_values(wanted, facets)
    if undated_documents(wanted, facets):
        values.pop("year", None)
    by_facets = allowed_documents({name: wanted[name] for name in values}, facets, strict=False)
    return values, None if allowed == by_facets else allowed


def facet_values(wanted: Filter, facets: Facets) -> dict[str, tuple[str, ...]]:
    """Return the values of each facet asked for as they are stored, by which a vector store filters."""
    return {
        name: tuple(
            spelling for value in values for spelling in _spellings(name, value, facets.get(name, {}), strict=False)
        )
        for name, values in wanted.items()
        if name in FACETS and values
    }


def without(wanted: Filter, name: str) -> Filter:
    """Return a filter without one of its facets."""
    return {other: values for other, values in wanted.items() if other != name}


def is_date(text: str) -> bool:
    """Return whether a text is an ISO date or its prefix, as `as_of` takes it."""
    return bool(_DATE.fullmatch(text.strip()))


def as_of_date(wanted: Filter) -> str:
    """Return the date of `as_of`, or "" without one; InputError if it is no date."""
    dates = wanted.get(AS_OF, ())
    for date in dates:
        if not is_date(date):
            raise InputError("as_of is {date!r}.", help="Give a date as 2019, 2019-05 or 2019-05-01.", date=date)
    return dates[-1].strip() if dates else ""


def _check(name: str, written: str) -> None:
    if name not in (*FACETS, DOCUMENT, AS_OF, VERSIONS, DATED):
        listed = ", ".join((*FACETS, f"{DOCUMENT}=ID", f"{AS_OF}=DATE", f"{DATED}={ONLY}", f"{VERSIONS}=all"))
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
