"""Order of candidates: fuse, boost, add named sections, rerank, diversify.

The order of the steps is that of Buriasco 2026, section 5.3; what each step weighs is measured (docs/measurements.md).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from rag_engine.config import RetrievalConfig
from rag_engine.errors import BackendError, SextantError
from rag_engine.filters import Filter
from rag_engine.geography import load_gazetteer
from rag_engine.messages import Message
from rag_engine.protocols import Keys, Vectors
from rag_engine.retrieval.book_index_boost import IndexMatches, Listed, match_index
from rag_engine.retrieval.diversity import Floats, mmr
from rag_engine.retrieval.fuse_ranks import POOL, PROFILES, PROVENANCE, Profile
from rag_engine.retrieval.named_sections import NamedSections, find_named
from rag_engine.retrieval.place_fit import place_boost
from rag_engine.retrieval.rerank_passages import read_scores, read_windows, rerank
from rag_engine.retrieval.scores import (
    CandidatePool,
    column,
    mix,
    near_sentences,
    pool_of,
    read_signals,
    scaled_to_best,
)
from rag_engine.retrieval.search import Candidates, Retrievers, search
from rag_engine.retrieval.tuning import (
    MMR_RELEVANCE,
    NAMED_AMONG,
    NEAREST,
    READ,
    READ_AFTER,
    READ_WHOLE,
    RERANK_DEPTH,
    SAME_PAGE_SHARE,
)
from rag_engine.storage.catalog import ChildRecord
from rag_engine.storage.snapshot import CollectionView, Snapshot
from rag_engine.types.evidence import AbsentSection, QueryPlan
from rag_engine.types.passage import PassageReading


def rank(
    plan: QueryPlan,
    allowed: Collection[int] | None,
    view: CollectionView,
    retrievers: Retrievers,
    config: RetrievalConfig,
    wanted: Filter | None = None,
    within: Collection[int] | None = None,
) -> Ranked:
    """Return every child that a retriever or an index found in the allowed documents, best first.

    `allowed` has keys of documents; None allows all. `within` are those of them that are searched; None searches all.
    """
    searched = allowed if within is None else within
    found = search(plan, searched, view, retrievers, config, wanted)
    started = time.perf_counter()
    as_published = PROFILES[config.profile].as_published
    named = NamedSections()
    if config.weights.provenance_weight and not as_published:
        named = find_named(plan, view, searched)
    ranked = _fused(plan, searched, found, named, view, config)
    fused = time.perf_counter()
    if len(ranked.keys) and PROFILES[config.profile].cascade:
        ranked = _cascaded(plan, ranked, searched, view, retrievers, config)
    elif len(ranked.keys) and not as_published:
        alone = config.read_whole and allowed is not None and len(allowed) == 1
        depth = READ_WHOLE if alone else READ
        depth = len(ranked.keys) if config.read_all else depth
        ranked = _refined(plan, ranked, depth, named, view, retrievers, config)
    spent = {"fuse": fused - started, "rank": time.perf_counter() - fused}
    ranked = replace(ranked, absent=named.absent)
    return replace(ranked, warnings=(*found.warnings, *ranked.warnings), seconds={**found.seconds, **spent})


def _fused(
    plan: QueryPlan,
    allowed: Collection[int] | None,
    found: Candidates,
    named: NamedSections,
    view: CollectionView,
    config: RetrievalConfig,
) -> Ranked:
    """Return the candidates and the named sections by fused score.

    The score has boosts for geography and for index entries.
    """
    profile, weights = PROFILES[config.profile], config.weights
    matches = IndexMatches()
    if weights.index_weight and not profile.as_published:
        matches = match_index(view.index, plan.question, plan.language)
    listed = _allowed(matches.passages, allowed, view.snapshot)
    in_named = view.snapshot.children_of([place.parent_key for place in named.places])
    pool = pool_of(found, [*listed, *in_named], view)
    scores = (
        _by_rank(pool, profile, plan.language)
        if profile.fuse
        else mix(read_signals(plan, pool, view, weights), weights)
    )
    cosines = pool.cosines.max(axis=1, initial=0.0) if pool.cosines.size else np.zeros(len(pool.keys), np.float32)
    boosts = _boosts(plan, pool.owners, view, config)
    scores = scores * np.array([boosts[int(owner)] for owner in pool.owners])
    if listed or matches.same_page:
        keys = pool.keys.tolist()
        lifts = [1.0 if key in listed else SAME_PAGE_SHARE if key in matches.same_page else 0.0 for key in keys]
        scores = scores + weights.index_weight * np.array(lifts)
    return Ranked(pool.keys, pool.owners, scores, cosines, found, boosts, listed).by(scores)


def _boosts(plan: QueryPlan, owners: Keys, view: CollectionView, config: RetrievalConfig) -> dict[int, float]:
    """Return the geographic boost of each document; 1 where the question names no place."""
    keys = [int(owner) for owner in np.unique(owners)]
    if not config.geography or not plan.scope:
        return dict.fromkeys(keys, 1.0)
    documents, gazetteer = view.snapshot.documents, load_gazetteer()
    return {key: place_boost(plan.scope, documents[key].metadata, gazetteer) for key in keys}


def _allowed(listed: Listed, allowed: Collection[int] | None, snapshot: Snapshot) -> Listed:
    """Return the listed children that are visible and in the allowed documents."""
    positions = snapshot.positions(np.array(sorted(listed), np.int64))
    pairs = zip(snapshot.keys[positions].tolist(), snapshot.owners[positions].tolist(), strict=True)
    return {key: listed[key] for key, owner in pairs if allowed is None or owner in allowed}


def _by_rank(pool: CandidatePool, profile: Profile, language: str) -> Floats:
    """Return scores by reciprocal rank.

    Keywords rank the children in the question's language alone, unless a published recipe ranks all.
    """
    visible = dict(zip(pool.keys.tolist(), pool.languages, strict=True))
    every = profile.as_published or not language
    worded = {key for key, written in visible.items() if every or written in ("", language)}
    dense = [[key for key in ranking if key in visible] for ranking in pool.found.dense]
    sparse = [[key for key in ranking if key in worded] for ranking in (*pool.found.sparse, *pool.found.keywords)]
    scores = column(profile.fuse(dense, sparse) if profile.fuse else {}, pool.keys)
    # What an index and the question name is added on a scale on which the best has 1; the paper adds nothing.
    return scores if profile.as_published else scaled_to_best(scores)


def _refined(
    plan: QueryPlan,
    ranked: Ranked,
    depth: int,
    named: NamedSections,
    view: CollectionView,
    retrievers: Retrievers,
    config: RetrievalConfig,
) -> Ranked:
    """Return the order after provenance, reading and MMR.

    Sections that the question names come before all others.
    """
    weights = config.weights
    scores = ranked.scores.copy()
    if weights.provenance_weight:
        bonuses = _gained(named, _records(ranked, NAMED_AMONG, view), view)
        gained = {key: weights.provenance_weight * bonus for key, bonus in bonuses}
        scores += np.array([gained.get(key, 0.0) for key in ranked.keys.tolist()])
        ranked = replace(ranked, provenance=gained)
    ranked = ranked.by(scores)
    if config.rerank and weights.rerank_weight:
        ranked = _reranked(plan, ranked, depth, view, retrievers, config)
    if weights.mmr_lambda is not None:
        ranked = _diversified(ranked, view, weights.candidates, weights.mmr_lambda)
    return _named_first(ranked, named, view) if named.places else ranked


def _named_first(ranked: Ranked, named: NamedSections, view: CollectionView) -> Ranked:
    """Return the order with the named sections in front, in the order in which they are named."""
    first = {place.parent_key: number for number, place in enumerate(named.places)}
    parents = view.snapshot.parents_of(ranked.keys).tolist()
    places = np.array([first.get(parent, len(first)) for parent in parents])
    # Above the best of the others, so that scores descend.
    raised = float(ranked.scores.max(initial=0.0)) + 1.0 - places / len(first)
    ranked = replace(ranked, scores=np.where(places < len(first), raised, ranked.scores), named=frozenset(first))
    return ranked.taken(np.argsort(places, kind="stable"))


def _diversified(ranked: Ranked, view: CollectionView, candidates: int, lambda_: float) -> Ranked:
    rows = view.snapshot.rows[view.snapshot.positions(ranked.keys)]
    top = min(candidates, len(rows))
    order = mmr(ranked.scores[:top], np.array(view.vectors[rows[:top]]), lambda_=lambda_, top_k=top)
    return ranked.taken(np.array([*order, *range(top, len(rows))], np.int64))


def _cascaded(
    plan: QueryPlan,
    ranked: Ranked,
    allowed: Collection[int] | None,
    view: CollectionView,
    retrievers: Retrievers,
    config: RetrievalConfig,
) -> Ranked:
    """Return the few that the cascade for statutes selects of the best."""
    best = _records(ranked, POOL, view)
    pool = ranked.taken(np.flatnonzero(np.isin(ranked.keys[:POOL], [record.key for record in best])))
    gained = dict(_gained(find_named(plan, view, allowed), best, view))
    bonuses = np.array([gained.get(record.key, 0.0) for record in best])
    vectors = np.array(view.vectors[view.snapshot.rows[view.snapshot.positions(pool.keys)]])
    read, warnings = None, list[Message]()
    try:
        texts = [record.text for record in best]
        if config.rerank and (reranker := retrievers.reranker()):
            read = read_scores(plan.question, texts, reranker)
        elif config.rerank and (reader := retrievers.reader()):
            read = np.array([one.relevance for one in reader.read(plan.question, texts)])
        else:
            raise BackendError("The reranker is switched off.")
    except (SextantError, RuntimeError) as error:
        warnings.append(Message("Not reranked: {error}", error=error))
    order, scores = select(pool.scores, read, bonuses, vectors, config.top_k)
    return replace(
        pool.taken(order),
        scores=scores,
        provenance={key: PROVENANCE * bonus for key, bonus in gained.items()},
        reranked={} if read is None else {record.key: float(one) for record, one in zip(best, read, strict=True)},
        warnings=tuple(warnings),
    )


def _gained(named: NamedSections, records: Iterable[ChildRecord], view: CollectionView) -> Iterator[tuple[int, float]]:
    """Yield the keys of the children of named sections and acts, with their gains."""
    for record in records:
        # Only a passage within a section can be named by it, and any by an identifier of its document.
        if record.parent.section or record.document_key in named.documents:
            title = view.snapshot.documents[record.document_key].metadata.title
            bonus = named.bonus(record.parent, title)
            if bonus:
                yield record.key, bonus


def _reranked(
    plan: QueryPlan,
    ranked: Ranked,
    depth: int,
    view: CollectionView,
    retrievers: Retrievers,
    config: RetrievalConfig,
) -> Ranked:
    """Return the order after a cross-encoder or the reader has read the best; a warning if one failed.

    After a cross-encoder the reader changes no order. The reader reads the best `depth`: of a document that is asked by
    itself, or if all are to be read, to their end, else around their nearest sentences.
    """
    whole = config.read_all or depth == READ_WHOLE
    try:
        if reranker := retrievers.reranker():
            best = _records(ranked, RERANK_DEPTH, view)
            if len(best) > 1:
                scores = read_scores(plan.question, [record.text for record in best], reranker)
                crossed = {record.key: float(score) for record, score in zip(best, scores, strict=True)}
                ranked = _reordered(ranked, crossed, config.weights.rerank_weight)
    except (SextantError, RuntimeError) as error:
        ranked = replace(ranked, warnings=(Message("Not reranked: {error}", error=error),))
    try:
        if (reader := retrievers.reader()) is None:
            return ranked
        depth = READ_AFTER if ranked.reranked and not whole else depth
        best = _records(ranked, depth, view)
        if not whole:
            best += _nearest(ranked, {record.key for record in best}, view)
        near = near_sentences(ranked.found.of_question(), plan.language, best, view)
        texts = [(record.parent.start + record.start, record.text, near.get(record.key, ())) for record in best]
        found = read_windows(plan.question, texts, reader, whole=whole)
    except (SextantError, RuntimeError) as error:
        warning = Message("The passages were not read closely: {error}", error=error)
        return replace(ranked, warnings=(*ranked.warnings, warning))
    readings = {record.key: reading for record, reading in zip(best, found, strict=True)}
    ranked = replace(ranked, readings=readings)
    if ranked.reranked or len(best) < 2:
        return ranked
    return _reordered(ranked, {key: one.relevance for key, one in readings.items()}, config.weights.rerank_weight)


def _nearest(ranked: Ranked, read: Collection[int], view: CollectionView) -> list[ChildRecord]:
    """Return the records of the children that are nearest in meaning, as far as they are not read anyway.

    Words that a question shares with passages in its own language say nothing against one in another.
    """
    nearest = {key for ranking in ranked.found.dense[:1] for key in ranking[:NEAREST]}
    places = [at for at, key in enumerate(ranked.keys.tolist()) if key in nearest and key not in read]
    return _records(ranked.taken(np.array(places, np.int64)), NEAREST, view)


def _reordered(ranked: Ranked, read: Mapping[int, float], weight: float) -> Ranked:
    """Return the order after some children were read, with their scores by key.

    Named sections stay first under any score.
    """
    positions = {key: position for position, key in enumerate(ranked.keys.tolist())}
    chosen = [positions[key] for key in read]
    bonus = np.array([ranked.provenance.get(key, 0.0) for key in read])
    scores = ranked.scores.copy()
    scores[chosen] = rerank(scores[chosen] - bonus, np.array(list(read.values())), weight) + bonus
    return replace(ranked, reranked=read).by(scores)


def _records(ranked: Ranked, count: int, view: CollectionView) -> list[ChildRecord]:
    """Return the records of the first `count` children, without one that was just erased."""
    keys = ranked.keys[:count].tolist()
    read = view.catalog.children(keys)
    return [read[key] for key in keys if key in read]


def select(fused: Floats, read: Floats | None, phi: Floats, vectors: Vectors, top_k: int) -> tuple[Keys, Floats]:
    """Return positions in a pool and their scores, by maximal marginal relevance.

    Each of the `top_k` choices has the largest .5 x (score + .15 x phi) - .5 x cosine. The cosine is the largest to an
    earlier choice. The score is the reranker's as `read` (equation 3.5 scales nothing); without a reranker it is the
    fused rank's share of the best. `vectors` are unit vectors, (pool, dimension). Positions are in the order of their
    choice, each with its final score.
    """
    scores = scaled_to_best(fused) if read is None else read
    final = scores + PROVENANCE * phi
    # By score first: ties are decided by the better rank.
    by_score = np.lexsort((np.arange(len(final)), -final))
    order = by_score[mmr(final[by_score], vectors[by_score], lambda_=MMR_RELEVANCE, top_k=top_k, rescale=False)]
    return order, final[order]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Children, best first, with the signals that ranked them.

    `keys`, `owners` (document keys), `scores` and `cosines` have one entry a child. A score is 1 for the best that the
    retrievers alone found. A cosine is the best over the query variants, 0 without the encoder. `named` are the parents
    of the sections that the question names, which come first. `absent` are sections that it names and that do not
    exist. `readings` are of the children that were read.
    """

    keys: Keys
    owners: Keys
    scores: Floats
    cosines: Vectors
    found: Candidates
    boosts: Mapping[int, float]
    listed: Listed
    named: frozenset[int] = frozenset()
    absent: tuple[AbsentSection, ...] = ()
    provenance: Mapping[int, float] = field(default_factory=dict)
    reranked: Mapping[int, float] = field(default_factory=dict)
    readings: Mapping[int, PassageReading] = field(default_factory=dict)
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def by(self, scores: Floats) -> Ranked:
        """Return the children ordered by other scores; ties by key, so that the order depends on nothing else."""
        return replace(self, scores=scores).taken(np.lexsort((self.keys, -scores)))

    def taken(self, order: Keys) -> Ranked:
        """Return the children at these positions, in this order."""
        return replace(
            self,
            keys=self.keys[order],
            owners=self.owners[order],
            scores=self.scores[order],
            cosines=self.cosines[order],
        )
