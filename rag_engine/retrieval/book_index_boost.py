"""Passages that the indexes of the collection list under a term of the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_engine.storage.index_entries import CollectionIndex


@dataclass(frozen=True, slots=True)
class IndexMatches:
    """Children that indexes list under the terms of a question, each with why.

    `passages` hold the text that an entry leads to; `same_page` stand elsewhere on a page that an entry names, which
    says less of them. No child is in both.
    """

    passages: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    same_page: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def match_index(index: CollectionIndex, question: str, language: str) -> IndexMatches:
    """Return the children that indexes list under a term of the question (ISO 639-1 language), longest terms first."""
    passages: defaultdict[int, list[str]] = defaultdict(list)
    pages: defaultdict[int, list[str]] = defaultdict(list)
    for matched in index.terms.match(question, language):
        for child in matched.children:
            passages[int(child)].append(matched.explanation)
        for page in matched.pages:
            for key in index.on_page.get(page, ()):
                pages[key].append(matched.explanation)
    same_page = {key: why for key, why in pages.items() if key not in passages}
    return IndexMatches(_each_once(passages), _each_once(same_page))


def _each_once(found: Mapping[int, Sequence[str]]) -> dict[int, tuple[str, ...]]:
    return {key: tuple(dict.fromkeys(why)) for key, why in found.items()}
