"""The indexes of the collection as one: from the records of a document's index to passages that a question names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_engine import index_terms
from rag_engine.book_index import IndexRecord, anchors
from rag_engine.catalog import Catalog
from rag_engine.index_terms import IndexTerms
from rag_engine.listings import Listed, listed_children
from rag_engine.snapshot import Snapshot
from rag_engine.types import ExtractedText, Parent


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    """The entries of all indexes over visible documents, with children by their keys; `change` dates them."""

    change: int
    terms: IndexTerms


def listed_in(
    records: Sequence[IndexRecord], extracted: ExtractedText, parents: Sequence[Parent], language: str, source: str
) -> Iterator[Listed]:
    """What an index lists of a document: a place for each record and page, and the entries that only refer to others.

    `source` names the index; see `anchors` for the rest.
    """
    see = {(record.term, record.subterm): record.see for record in records}
    for one in anchors(records, extracted, parents, language):
        yield Listed(one.term, one.subterm, source, one.page, one.start, one.end, see[one.term, one.subterm])
    for record in records:
        if record.see and not record.pages:
            yield Listed(record.term, record.subterm, source, see=record.see)


def read_collection_index(catalog: Catalog, snapshot: Snapshot, before: CollectionIndex | None) -> CollectionIndex:
    """The indexes of the documents of a snapshot; `before` itself while it is of the same one."""
    if before is not None and before.change == snapshot.change:
        return before
    terms = IndexTerms(
        index_terms.Listed(
            term=one.term,
            subterm=one.subterm,
            language=one.language,
            document_id=one.document_id,
            child_id="" if one.child_key is None else str(one.child_key),
            page=one.page,
            see=one.see,
        )
        for one in listed_children(catalog, list(snapshot.documents.values()))
    )
    return CollectionIndex(snapshot.change, terms)


def named_passages(index: CollectionIndex, question: str, language: str) -> dict[int, tuple[str, ...]]:
    """Children that an index lists under a term of the question (ISO 639-1 language), with why, the longest first."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for matched in index.terms.match(question, language):
        for child in matched.children:
            found[int(child)].append(matched.explanation)
    return {key: tuple(dict.fromkeys(why)) for key, why in found.items()}
