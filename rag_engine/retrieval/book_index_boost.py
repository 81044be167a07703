"""The indexes of the collection as one: from the records of a document's index to passages that a question names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_engine.book_index.matching import IndexedPassage, IndexTerms
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.index_entries import children_on_listed_pages, listed_children
from rag_engine.storage.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    """The entries of all indexes over visible documents, with children by their keys; `change` dates them.

    `on_page` has the children on every page that an index lists, by (document id, page).
    """

    change: int
    terms: IndexTerms
    on_page: Mapping[tuple[str, int], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """Children that indexes list under the terms of a question, each with why.

    `passages` hold the place that an entry leads to; `beside` stand elsewhere on a page that an entry names, which
    says less of them. No child is in both.
    """

    passages: Mapping[int, tuple[str, ...]]
    beside: Mapping[int, tuple[str, ...]]


def read_collection_index(catalog: Catalog, snapshot: Snapshot, before: CollectionIndex | None) -> CollectionIndex:
    """The indexes of the documents of a snapshot; `before` itself while it is of the same one."""
    if before is not None and before.change == snapshot.change:
        return before
    documents = list(snapshot.documents.values())
    terms = IndexTerms(
        IndexedPassage(
            term=one.term,
            subterm=one.subterm,
            language=one.language,
            document_id=one.document_id,
            child_id="" if one.child_key is None else str(one.child_key),
            page=one.page,
            see=one.see,
        )
        for one in listed_children(catalog, documents)
    )
    return CollectionIndex(snapshot.change, terms, children_on_listed_pages(catalog, documents))


def named_places(index: CollectionIndex, question: str, language: str) -> NamedPlaces:
    """The children that indexes list under a term of the question (ISO 639-1 language), the longest terms first."""
    passages: defaultdict[int, list[str]] = defaultdict(list)
    pages: defaultdict[int, list[str]] = defaultdict(list)
    for matched in index.terms.match(question, language):
        for child in matched.children:
            passages[int(child)].append(matched.explanation)
        for page in matched.pages:
            for key in index.on_page.get(page, ()):
                pages[key].append(matched.explanation)
    beside = {key: why for key, why in pages.items() if key not in passages}
    return NamedPlaces(_each_once(passages), _each_once(beside))


def named_passages(index: CollectionIndex, question: str, language: str) -> Mapping[int, tuple[str, ...]]:
    """Children that an index lists under a term of the question (ISO 639-1 language), with why, the longest first."""
    return named_places(index, question, language).passages


def _each_once(found: Mapping[int, Sequence[str]]) -> dict[int, tuple[str, ...]]:
    return {key: tuple(dict.fromkeys(why)) for key, why in found.items()}
