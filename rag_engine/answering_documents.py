"""Answering documents: which version and translation of each work answers under a filter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import overload

from rag_engine.filters import FACETS, VERSIONS, Facets, Filter, allowed_documents, as_of_date, without
from rag_engine.text.identifiers import Identifier, read_identifier, work_place
from rag_engine.types.document import UNDATED, DocumentRecord, Metadata


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

    Of each work one version and one translation answers. The version is the newest, or with `as_of` the one in force on
    that date. With `as_of` no document of a later date answers; one without a date does. The translation is the
    preferred one, unless the filter leaves it out. With `versions=all` every version answers. A value that no document
    has is an error, unless `strict` is off.
    """
    return _answering(wanted, allowed_documents(wanted, facets, strict=strict), facets, documents)


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
    if "all" in wanted.get(VERSIONS, ()):
        return allowed
    date = as_of_date(wanted)
    superseded = frozenset().union(*facets.get("superseded", {}).values())
    twins = frozenset().union(*facets.get("translation_of", {}).values())
    works = frozenset().union(*facets.get("work", {}).values())
    if not (superseded or twins or date):
        return allowed
    left = frozenset(documents) if allowed is None else allowed
    if date:
        left -= {key for key in left if not _stood(documents[key].metadata, date)}
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
    """Return whether a document, but no newer version, was there on a date; an undated one always was."""
    since = metadata.date or (str(metadata.year) if metadata.year else "")
    begun = not since or since <= date or date.startswith(since)
    over = metadata.superseded and (metadata.superseded == UNDATED or metadata.superseded <= date)
    return begun and not over
