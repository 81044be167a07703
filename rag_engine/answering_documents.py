"""Answering documents: which version and translation of each work answers under a filter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import overload

from rag_engine.filters import (
    FACETS,
    VERSIONS,
    Facets,
    Filter,
    allowed_documents,
    as_of_date,
    undated_documents,
    without,
)
from rag_engine.text.identifiers import Identifier, read_identifier, work_place
from rag_engine.types.document import UNDATED, DocumentRecord, Metadata

# After any date.
_NEVER = "9999"


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
        any_year = undated_documents(wanted, facets) if name == "year" else frozenset()
        counts[name] = {}
        for value, held in facets.get(name, {}).items():
            keys = held | any_year
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
    return tuple(sorted(found, key=lambda obstacle: -obstacle.documents))


def left_documents(wanted: Filter, facets: Facets, documents: Mapping[int, DocumentRecord]) -> frozenset[int]:
    """Return the documents that answer under a filter.

    If the filter asks for a value that no document has, the set is empty.
    """
    left = answering_documents(wanted, facets, documents, strict=False)
    return frozenset(documents) if left is None else left


def answering_documents(
    wanted: Filter, facets: Facets, documents: Mapping[int, DocumentRecord], *, strict: bool = True
) -> frozenset[int] | None:
    """Return the keys of the allowed documents that answer; None allows all.

    Of each work one version and one translation answers. The version is the one in force on the date of `as_of`, or
    today. With `as_of` no document of a later date answers; one without a date does. The translation is the preferred
    one, unless the filter leaves it out. With `versions=all` every version answers. A value that no document has is an
    error, unless `strict` is off.
    """
    return _answering(wanted, allowed_documents(wanted, facets, strict=strict), facets, documents)


def listed_documents(wanted: Filter, facets: Facets, documents: Mapping[int, DocumentRecord]) -> frozenset[int] | None:
    """Return the keys of the documents that a list shows under a filter; None allows all.

    Every version and translation is listed, but with `as_of` only the versions in force on that date.
    """
    allowed = allowed_documents(wanted, facets)
    return _in_force(wanted, allowed, facets, documents) if as_of_date(wanted) else allowed


def identified_documents(identifier: Identifier, documents: Mapping[int, DocumentRecord]) -> frozenset[int]:
    """Return the documents that an identifier names: those that state it, else the versions of its work."""
    stated = {
        key: [one for one in map(read_identifier, record.metadata.identifiers) if one]
        for key, record in documents.items()
        if record.metadata.identifiers
    }
    exact = identifier.value.casefold()
    found = {key for key, own in stated.items() if any(one.value.casefold() == exact for one in own)}
    named = work_place([identifier.value])
    return frozenset(found) or frozenset(
        key for key in stated if work_place(documents[key].metadata.identifiers).is_version_with(named)
    )


def narrowed(
    question: str, allowed: frozenset[int] | None, documents: Mapping[int, DocumentRecord]
) -> frozenset[int] | None:
    """Return the allowed documents that a question names if it is only an identifier; None allows all."""
    identifier = read_identifier(question)
    named = identified_documents(identifier, documents) if identifier else frozenset()
    return (named if allowed is None else named & allowed) or allowed


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
    left = _in_force(wanted, allowed, facets, documents)
    twins = frozenset().union(*facets.get("translation_of", {}).values())
    if not twins or "all" in wanted.get(VERSIONS, ()):
        return left
    left = frozenset(documents) if left is None else left
    works = frozenset().union(*facets.get("work", {}).values())
    answers = {documents[key].metadata.work for key in works & left - twins}
    for key in sorted(twins & left):
        # The preferred translation, or where that is left out the first of the others.
        work = documents[key].metadata.work
        if work in answers:
            left -= {key}
        answers.add(work)
    return left


@overload
def _in_force(
    wanted: Filter, allowed: frozenset[int], facets: Facets, documents: Mapping[int, DocumentRecord]
) -> frozenset[int]: ...


@overload
def _in_force(
    wanted: Filter, allowed: frozenset[int] | None, facets: Facets, documents: Mapping[int, DocumentRecord]
) -> frozenset[int] | None: ...


def _in_force(
    wanted: Filter, allowed: frozenset[int] | None, facets: Facets, documents: Mapping[int, DocumentRecord]
) -> frozenset[int] | None:
    """Return the allowed documents that have begun and of which no other version is in force."""
    day = as_of_date(wanted)
    superseded = frozenset().union(*facets.get("superseded", {}).values())
    left = frozenset(documents) if allowed is None else allowed
    if day:
        left = allowed = frozenset(key for key in left if _has_begun(documents[key].metadata, day))
    if not superseded or "all" in wanted.get(VERSIONS, ()):
        return allowed
    return left - _replaced(left, superseded, documents, day or datetime.now(UTC).date().isoformat())


def _replaced(
    left: frozenset[int], superseded: frozenset[int], documents: Mapping[int, DocumentRecord], day: str
) -> frozenset[int]:
    """Return the documents that are not in force on a day because another version of their work is.

    A version ends when a newer one begins. Until that day, the newer ones do not answer.
    """
    ended = frozenset(key for key in superseded if _has_ended(documents[key].metadata, day))
    standing: dict[tuple[str, str], str] = {}
    for key in (superseded - ended) & left:
        metadata = documents[key].metadata
        if metadata.work:
            end = standing.get(_series(metadata), _NEVER)
            standing[_series(metadata)] = min(metadata.superseded, end)
    if not standing:
        return ended
    described = ((key, documents[key].metadata) for key in left - ended)
    return ended.union(key for key, one in described if (one.superseded or _NEVER) > standing.get(_series(one), _NEVER))


def _series(metadata: Metadata) -> tuple[str, str]:
    """Return what the versions of a work in one language share."""
    return metadata.work, metadata.language


def in_force_again(erased: DocumentRecord, documents: Iterable[DocumentRecord]) -> list[DocumentRecord]:
    """Return the versions that take the place of an erased one, as they are described then.

    They are in force until that one was superseded. None stands if the erased version remains in a translation.
    """
    work = erased.metadata.work
    others = sorted(
        (one for one in documents if work and one.metadata.work == work and one.key != erased.key), key=age_of
    )
    end = age_of(erased)[:2]
    if any(age_of(one)[:2] == end and one.metadata.language != erased.metadata.language for one in others):
        return []
    before = [one for one in others if age_of(one) < age_of(erased)]
    last = {one.metadata.language: one for one in before if age_of(one)[:2] == age_of(before[-1])[:2]}
    return [
        replace(
            one,
            source=one.origin if one.origin == erased.source else one.source,
            metadata=replace(one.metadata, superseded=erased.metadata.superseded),
        )
        for one in last.values()
        if one.metadata.superseded != erased.metadata.superseded
    ]


def age_of(document: DocumentRecord) -> tuple[bool, str, str, int]:
    """Return a key that sorts versions: superseded ones first, by that date, then by their own date."""
    superseded = document.metadata.superseded
    return not superseded, superseded.replace(UNDATED, ""), document.metadata.since, document.key


def _has_begun(metadata: Metadata, day: str) -> bool:
    """Return whether a document was there on a day, or within a month or year; an undated one always was."""
    return metadata.since[: len(day)] <= day


def _has_ended(metadata: Metadata, day: str) -> bool:
    return metadata.superseded == UNDATED or metadata.superseded[: len(day)] <= day
