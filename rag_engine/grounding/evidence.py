"""The evidence of an entry: the passages of its work that are nearest to its cached queries, and the queries' own text.

After Zhou, Li and Lemieux 2025: each cached query retrieves the three passages of the highest cosine. Here the three
are those of the entry, whichever of its queries they are nearest to, and pages of the index itself do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rag_engine.calibration import languages_of
from rag_engine.grounding.knowledge import EntryPlace, ListedEntry
from rag_engine.prompts import entry_question, entry_wish
from rag_engine.protocols import Vectors
from rag_engine.retrieval.exact_search import nearest
from rag_engine.retrieval.retrieve import hit_of, source_of
from rag_engine.storage.catalog import ChildRecord
from rag_engine.storage.collection import CollectionView
from rag_engine.types import DocumentRecord, Evidence, Hit, IndexListing, QueryPlan, Source

PASSAGES = 3
# Some more are looked at, for those on pages of the index are left out.
_CANDIDATES = 20


def cached_queries(entry: ListedEntry, contexts: Sequence[str]) -> list[str]:
    """Return what is searched for an entry: its name with the sentences of each of its places."""
    return [f"{entry.name}: {' '.join(text.split())}" for text in contexts]


def entry_evidence(
    entry: ListedEntry,
    contexts: Sequence[str],
    queries: Vectors,
    view: CollectionView,
    index_pages: Mapping[int, Collection[int]],
) -> Evidence:
    """Return the entry's best three passages as sources, then those sentences to which it leads that are in none.

    `contexts` are the sentences of the entry's places, and `queries` the unit vectors of its cached queries, one a
    place; `index_pages` has the pages of each document of its work that are the index itself. The question is what the
    documents say about the entry.
    """
    work = {document.key: document for document in entry.work}
    cosines: dict[int, float] = {}
    for keys, values in nearest(view.snapshot, view.vectors, queries, _CANDIDATES, set(work)):
        for key, cosine in zip(keys.tolist(), values.tolist(), strict=True):
            cosines[key] = max(cosine, cosines.get(key, -1.0))
    ranked = sorted(cosines, key=lambda key: (-cosines[key], key))
    records = view.catalog.children(ranked)
    left_out = {key: frozenset(index_pages.get(key, ())) for key in work}
    read = [records[key] for key in ranked if key in records]
    best = [one for one in read if not {one.page, one.last_page} <= left_out[one.document_key]][:PASSAGES]
    sources = [
        _passage(n, entry, record, work[record.document_key], cosines[record.key], view)
        for n, record in enumerate(best, start=1)
    ]
    for place, text in zip(entry.places, contexts, strict=True):
        if not any(holds(source, place) for source in sources):
            sources.append(_context(len(sources) + 1, entry, place, text))
    question = entry_question(entry.name, entry.language)
    plan = QueryPlan(question, entry.language, (question,), output_instructions=entry_wish(entry.language))
    return Evidence(plan, tuple(source.hits[0] for source in sources), tuple(sources))


def _passage(
    n: int, entry: ListedEntry, record: ChildRecord, document: DocumentRecord, cosine: float, view: CollectionView
) -> Source:
    similarity = view.manifest.calibration.similarity(cosine, languages_of(entry.language, document.metadata.language))
    hit = replace(hit_of(record, document, cosine=cosine, similarity=similarity), dense_rank=n, fused=cosine)
    # The child itself, not its parent: an entry is about few sentences.
    return replace(
        source_of(n, record.parent, (hit,)),
        start=hit.start,
        end=hit.end,
        text=hit.text,
        page=hit.page,
        last_page=hit.last_page,
    )


def _context(n: int, entry: ListedEntry, place: EntryPlace, text: str) -> Source:
    document = place.document
    hit = Hit(
        child_id=f"{document.document_id}_{place.start}",
        document=document,
        start=place.start,
        end=place.end,
        text=text,
        page=place.page,
        last_page=place.page,
        cosine=0.0,
        similarity=0.0,
        dense_rank=None,
        bm25=None,
        sparse_rank=None,
        fused=0.0,
        indexed_under=(IndexListing(entry.name, place.page, glossary=place.glossary).explanation,),
    )
    return Source(n, document, place.start, place.end, text, place.page, place.page, (hit,), index_context=True)


def holds(source: Source, place: EntryPlace) -> bool:
    """Return whether a source holds the sentences to which an entry leads."""
    return source.document.key == place.document.key and source.start <= place.start and place.end <= source.end
