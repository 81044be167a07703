"""Query plan to evidence: ranked children, admitted by floor and cap, with the parents to read."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from rag_engine.book_index.matching import explained
from rag_engine.calibration import languages_of
from rag_engine.chunking.indexed_text import child_id
from rag_engine.config import RetrievalConfig
from rag_engine.filters import Filter, as_of_date
from rag_engine.retrieval.book_index_boost import ListedPlace, missing_contexts
from rag_engine.retrieval.diversity import Candidate, admit, per_document_cap
from rag_engine.retrieval.fuse_ranks import PROFILES, Profile
from rag_engine.retrieval.ranking import Ranked, rank
from rag_engine.retrieval.scores import near_sentences
from rag_engine.retrieval.search import Retrievers
from rag_engine.storage.catalog import ChildRecord, ParentRecord
from rag_engine.storage.cross_references import linked_passages
from rag_engine.storage.snapshot import CollectionView
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.types.passage import Hit, Linked, NearSentence, Source


def retrieve(
    plan: QueryPlan,
    allowed: Collection[int] | None,
    view: CollectionView,
    retrievers: Retrievers,
    config: RetrievalConfig,
    wanted: Filter | None = None,
    within: Collection[int] | None = None,
) -> Evidence:
    """Return the passages that bear on the question, from the allowed documents alone (None allows all).

    `within` are those of the allowed documents that are searched; None searches all.
    """
    started = time.perf_counter()
    ranked = rank(plan, allowed, view, retrievers, config, wanted, within)
    allowed = allowed if within is None else within
    step = time.perf_counter()
    documents, found = view.snapshot.documents, ranked.found
    keys, owners = ranked.keys.tolist(), ranked.owners.tolist()
    parents = view.snapshot.parents_of(ranked.keys).tolist()
    similarity = {
        key: view.manifest.calibration.similarity(
            cosine, languages_of(plan.language, documents[owner].metadata.language)
        )
        for key, owner, cosine in zip(keys, owners, ranked.cosines.tolist(), strict=True)
    }
    profile = PROFILES[config.profile]
    # Ranks say nothing of how much better a document is, so that fusions of ranks keep the paper's cap.
    asked = None if profile.as_published else len(documents) if allowed is None else len(allowed)
    cap = 0 if profile.fuse is None or profile.cascade else per_document_cap(config.top_k, asked)
    floor, keyword_floor = _floors(profile, config)
    # What an index lists under a term of the question names it as a keyword does.
    worded = {key for ranking in (*found.sparse, *found.keywords) for key in ranking} | ranked.listed.keys()
    admitted = admit(
        (
            Candidate(key, owner, parent, similarity[key], key in worded, score, parent in ranked.named)
            for key, owner, parent, score in zip(keys, owners, parents, ranked.scores.tolist(), strict=True)
        ),
        top_k=config.top_k,
        share=config.weights.repeat_share if profile.fuse is None else 1.0,
        cap=cap,
        # Without the encoder nothing is known of similarity, and a floor would cut everything.
        floor=floor if found.queries.size else 0.0,
        keyword_floor=keyword_floor,
    )
    # All of a parent, for a sentence beside what was found may answer.
    records = view.catalog.children(view.snapshot.children_of(admitted))
    near = near_sentences(found.of_question(), plan.language, list(records.values()), view)
    places = {key: place for place, key in enumerate(keys)}
    linked = linked_passages(
        view.catalog, {parent: documents[group[0].document_key] for parent, group in admitted.items()}
    )
    sources: list[Source] = []
    for parent, group in admitted.items():
        # A document that is erased at this moment may be gone from the catalog already.
        hits = tuple(
            _hit(places[candidate.key], candidate, similarity[candidate.key], records[candidate.key], ranked, view)
            for candidate in group
            if candidate.key in records
        )
        if hits:
            record = next(records[candidate.key].parent for candidate in group if candidate.key in records)
            own = [key for key, child in records.items() if child.parent.key == parent]
            sentences = tuple(chain.from_iterable(near.get(key, ()) for key in own))
            sources.append(_source(len(sources) + 1, record, hits, linked.get(parent, ()), sentences))
    worth = [key for key in keys if similarity[key] >= keyword_floor or not found.queries.size]
    sources = [*_with_listings(sources, ranked, view), *_contexts(sources, plan, worth, similarity, ranked, view)]
    ended = time.perf_counter()
    seconds = {**ranked.seconds, "parents": ended - step, "retrieval": ended - started}
    best = tuple(source.hits[0] for source in sources if not source.index_context)
    return Evidence(
        plan,
        best,
        tuple(sources),
        ranked.warnings,
        seconds,
        ranked.absent,
        read=len(ranked.readings),
        as_of=as_of_date(wanted or {}),
    )


def _with_listings(sources: Sequence[Source], ranked: Ranked, view: CollectionView) -> Iterator[Source]:
    """Yield the sources, each with the entries of an index that lead into it."""
    places = [(view.snapshot.owner_of(key), place) for key, several in ranked.listed.items() for place in several]
    for source in sources:
        listed = [place.listing for owner, place in places if _holds(source, owner, place)]
        yield replace(source, listed=tuple(dict.fromkeys(listed))) if listed else source


def _contexts(
    sources: Sequence[Source],
    plan: QueryPlan,
    keys: Sequence[int],
    similarity: Mapping[int, float],
    ranked: Ranked,
    view: CollectionView,
) -> Iterator[Source]:
    """Yield the sentences that an index lists under a term of the question and that no source holds.

    They come after the other sources and displace none. `keys` are the children that may be read, best first.
    """
    places = {key: place for place, key in enumerate(ranked.keys.tolist())}
    owners = {key: view.snapshot.owner_of(key) for key in ranked.listed}

    def is_read(key: int, place: ListedPlace) -> bool:
        return any(_holds(source, owners[key], place) for source in sources)

    missing = missing_contexts(keys, ranked.listed, is_read)
    read = view.catalog.children(missing)
    records = {key: read[key] for key in missing if key in read}
    near = near_sentences(ranked.found.of_question(), plan.language, list(records.values()), view)
    for n, (key, record) in enumerate(records.items(), start=len(sources) + 1):
        listed = missing[key]
        start, end = min(one.start for one in listed), max(one.end for one in listed)
        text = view.catalog.text(owners[key])[start:end]
        page = listed[0].listing.page
        child = Candidate(key, owners[key], record.parent.key, similarity[key], by_keyword=True)
        hit = _hit(places[key], child, similarity[key], record, ranked, view)
        hit = replace(hit, start=start, end=end, text=text, page=page, last_page=page)
        context = replace(hit_source(n, hit), listed=tuple(one.listing for one in listed), index_context=True)
        yield replace(context, sentences=near.get(key, ()))


def _holds(source: Source, owner: int, place: ListedPlace) -> bool:
    """Return whether a source holds the beginning of a place and at least half of it."""
    inside = source.document.key == owner and source.start <= place.start
    return inside and 2 * (min(source.end, place.end) - place.start) >= place.end - place.start


def _floors(profile: Profile, config: RetrievalConfig) -> tuple[float, float]:
    """Return the least similarity of a passage, and of a passage that was found by keywords."""
    if profile.cascade:
        return 0.0, 0.0
    if profile.as_published:
        return max(config.similarity_floor, profile.floor), profile.floor
    return config.similarity_floor, profile.floor


def _hit(
    place: int, candidate: Candidate, similarity: float, record: ChildRecord, ranked: Ranked, view: CollectionView
) -> Hit:
    key, document = candidate.key, view.snapshot.documents[candidate.document_key]
    return replace(
        hit_of(record, document, cosine=float(ranked.cosines[place]), similarity=similarity),
        dense_rank=ranked.found.dense_rank(key),
        bm25=ranked.found.bm25(key),
        sparse_rank=ranked.found.sparse_rank(key),
        fused=float(ranked.scores[place]),
        geographic_boost=ranked.boosts[candidate.document_key],
        indexed_under=explained((one.listing for one in ranked.listed.get(key, ())), document),
        reranked=ranked.reranked.get(key),
        provenance=ranked.provenance.get(key, 0.0),
        named=candidate.named,
        reading=ranked.readings.get(key),
    )


def hit_of(record: ChildRecord, document: DocumentRecord, *, cosine: float, similarity: float) -> Hit:
    """Return a child as a hit that no retriever has ranked."""
    parent = record.parent
    return Hit(
        child_id=child_id(document.sha256, parent.index, record.index),
        document=document,
        start=parent.start + record.start,
        end=parent.start + record.end,
        text=record.text,
        page=record.page,
        last_page=record.last_page,
        cosine=cosine,
        similarity=similarity,
        act=parent.act,
        section=parent.section,
        clause=record.clause,
        headings=parent.headings,
    )


def hit_source(n: int, hit: Hit) -> Source:
    """Return a child itself as a source, without the parent around it."""
    return Source(
        n=n,
        document=hit.document,
        start=hit.start,
        end=hit.end,
        text=hit.text,
        page=hit.page,
        last_page=hit.last_page,
        hits=(hit,),
        act=hit.act,
        section=hit.section,
        headings=hit.headings,
    )


def _source(
    n: int,
    parent: ParentRecord,
    hits: tuple[Hit, ...],
    linked: tuple[Linked, ...],
    sentences: tuple[NearSentence, ...],
) -> Source:
    """Return a parent as a source, with the hits that brought it and the passages that it refers to."""
    return Source(
        n=n,
        document=hits[0].document,
        start=parent.start,
        end=parent.end,
        text=parent.text,
        page=parent.page,
        last_page=parent.last_page,
        hits=hits,
        act=parent.act,
        section=parent.section,
        headings=parent.headings,
        linked=linked,
        sentences=sentences,
    )
