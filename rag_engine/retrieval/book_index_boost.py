"""Passages that the indexes of the collection list under a term of the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_engine.storage.index_entries import CollectionIndex
from rag_engine.types.passage import IndexListing

# More entries than a question is about: the longest names of a question of many words.
MOST_CONTEXTS = 3


@dataclass(frozen=True, slots=True)
class ListedPlace:
    """The sentences [start, end) of a document's text to which an entry of an index leads: a cached query."""

    listing: IndexListing
    start: int
    end: int


Listed = Mapping[int, tuple[ListedPlace, ...]]


@dataclass(frozen=True, slots=True)
class IndexMatches:
    """Children that indexes list under the terms of a question.

    `passages` hold the text that an entry leads to, with the places in it. `same_page` are elsewhere on a page that an
    entry names, which is a weaker sign. No child is in both.
    """

    passages: Listed = field(default_factory=dict)
    same_page: frozenset[int] = frozenset()


def match_index(index: CollectionIndex, question: str, language: str) -> IndexMatches:
    """Return the children that indexes list under a term of the question, longest terms first.

    `language` is the question's ISO 639-1 code.
    """
    passages: defaultdict[int, list[ListedPlace]] = defaultdict(list)
    on_pages: set[int] = set()
    for matched in index.terms.match(question, language):
        for passage in matched.passages:
            if passage.child_id:
                passages[int(passage.child_id)].append(
                    ListedPlace(matched.listing(passage.page), passage.start, passage.end)
                )
        for page in matched.pages:
            on_pages.update(index.on_page.get(page, ()))
    found = {key: tuple(dict.fromkeys(places)) for key, places in passages.items()}
    return IndexMatches(found, frozenset(on_pages - found.keys()))


def missing_contexts(
    ranked: Sequence[int], listed: Listed, is_read: Callable[[int, ListedPlace], bool]
) -> dict[int, tuple[ListedPlace, ...]]:
    """Return the best place of each entry that has no place in a source, by the key of the child.

    `ranked` are keys of children, best first; `is_read` says whether a place is in a source. At most MOST_CONTEXTS
    children are returned.
    """
    entries = {place.listing.entry for key, places in listed.items() for place in places if is_read(key, place)}
    chosen: dict[int, tuple[ListedPlace, ...]] = {}
    for key in ranked:
        for place in listed.get(key, ()):
            room = key in chosen or len(chosen) < MOST_CONTEXTS
            if room and place.listing.entry not in entries:
                entries.add(place.listing.entry)
                chosen[key] = (*chosen.get(key, ()), place)
    return chosen
