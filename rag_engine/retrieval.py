"""A query plan to evidence: legs, fusion, geography, floor and cap, parents.

The order is that of Buriasco 2026, section 5.3. `mode` "paper" fuses and searches as published, over our keyword
index and our scale of similarity; "default" mixes normalised scores within each query variant and joins the variants
by reciprocal rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rag_engine.analysis import has_analyser
from rag_engine.calibration import Calibration, Languages
from rag_engine.catalog import Catalog, ChildRecord
from rag_engine.chunking.semantic import child_id
from rag_engine.config import RetrievalConfig
from rag_engine.diversity import Candidate, admit, per_document_cap, reorder, with_siblings
from rag_engine.errors import BackendError, SextantError
from rag_engine.filters import chroma_where
from rag_engine.fusion import convex_mix, paper_fusion, reciprocal_rank
from rag_engine.protocols import Embedder, Keys, SparseIndex, VectorIndex, Vectors
from rag_engine.snapshot import Snapshot, nearest
from rag_engine.types import DocumentRecord, Evidence, Hit, Metadata, QueryPlan, Source, Tier

# The paper's badges: green from .70, yellow from .50 (section 5.6).
_STRONG, _MODERATE = 0.70, 0.50
_TIE = 1e-3
# What the keyword leg found may stay below a higher threshold of the analyst's, but never below this.
_KEYWORD_FLOOR = 0.35
# Approximate search only pays where a scan of every vector takes longer than an answer may: above this many.
EXACT_UP_TO = 500_000


@dataclass(frozen=True, slots=True)
class Searchable:
    """One state of the collection and all that searches it. Encoder and indexes are opened when
    they are called, so that one that is away is missed by its leg alone."""

    snapshot: Snapshot
    catalog: Catalog
    vectors: Vectors
    dense: Callable[[], VectorIndex]
    sparse: Callable[[], SparseIndex]
    embedder: Callable[[], Embedder]
    calibration: Calibration
    boost: Callable[[QueryPlan, Metadata], float]


@dataclass(slots=True)
class _Legs:
    """What the legs found: per query variant, best first."""

    dense: list[list[int]] = field(default_factory=list)
    sparse: list[dict[int, float]] = field(default_factory=list)
    keywords: list[dict[int, float]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


def retrieve(
    plan: QueryPlan, allowed: Collection[int] | None, searchable: Searchable, config: RetrievalConfig
) -> Evidence:
    """The passages that bear on the question, from the allowed documents alone (None allows all)."""
    started = time.perf_counter()
    legs, depth = _Legs(warnings=list(plan.warnings)), config.top_k * config.multiplier
    queries = _search_dense(plan, allowed, searchable, config, depth, legs)
    _search_sparse(plan, allowed, searchable, config, depth, legs)

    step = time.perf_counter()
    visible = searchable.snapshot
    found = np.unique(
        np.array([key for part in (legs.dense, legs.sparse, legs.keywords) for r in part for key in r], int)
    )
    places = visible.positions(found)
    keys = visible.keys[places]
    cosines = np.array(searchable.vectors[visible.rows[places]]) @ queries.T
    owners = dict(zip(keys.tolist(), visible.owners[places].tolist(), strict=True))
    best = dict(zip(keys.tolist(), cosines.max(axis=1, initial=0.0).tolist(), strict=True))

    def similar(key: int, cosine: float) -> float:
        return searchable.calibration.similarity(cosine, _languages(plan, visible.documents[owners[key]]))

    def speaks_alike(key: int) -> bool:
        return visible.documents[owners[key]].metadata.language == plan.language

    fused = _fuse(plan, legs, keys, cosines, similar, speaks_alike, config)
    boosts = {
        document: searchable.boost(plan, visible.documents[document].metadata) for document in set(owners.values())
    }
    ranked = reorder(fused, lambda key: boosts[owners[key]])
    legs.seconds["fuse"] = time.perf_counter() - step

    step = time.perf_counter()
    records = searchable.catalog.children(ranked)
    # A document that is erased at this moment may be gone from the catalog already.
    ranked = {key: s for key, s in ranked.items() if key in records and records[key].document_key == owners[key]}
    if config.mode == "default":
        ranked = with_siblings(ranked, lambda key: records[key].parent_key, config.sibling_share)
    similarity = {key: similar(key, best[key]) for key in ranked}
    by_keyword = {key for ranking in (*legs.sparse, *legs.keywords) for key in ranking}
    candidates = [
        Candidate(key, owners[key], records[key].parent_key, similarity[key], key in by_keyword) for key in ranked
    ]
    in_reach = len(visible.documents) if allowed is None else len(allowed)
    admitted = admit(
        candidates,
        top_k=config.top_k,
        cap=per_document_cap(config.top_k, in_reach),
        # Without the encoder nothing is known of similarity, and a floor would cut everything.
        floor=config.similarity_floor if queries.size else 0.0,
        keyword_floor=_KEYWORD_FLOOR,
    )

    def hit(candidate: Candidate) -> Hit:
        key, record = candidate.key, records[candidate.key]
        document = visible.documents[candidate.document_key]
        return Hit(
            child_id=child_id(document.sha256, record.parent_index, record.index),
            document=document,
            parent_index=record.parent_index,
            start=record.parent_start + record.start,
            end=record.parent_start + record.end,
            text=record.text,
            page=record.page,
            last_page=record.last_page,
            cosine=best[key],
            similarity=similarity[key],
            tier=_tier(similarity[key]),
            dense_rank=_best_rank(legs.dense, key),
            bm25=max((r[key] for r in (*legs.sparse, *legs.keywords) if key in r), default=None),
            sparse_rank=_best_rank([*legs.sparse, *legs.keywords], key),
            fused=ranked[key],
            geographic_boost=boosts[candidate.document_key],
        )

    sources = tuple(
        _source(n, records[group[0].key], tuple(hit(one) for one in group))
        for n, group in enumerate(admitted.values(), start=1)
    )
    legs.seconds["parents"] = time.perf_counter() - step
    legs.seconds["retrieval"] = time.perf_counter() - started
    return Evidence(plan, tuple(source.hits[0] for source in sources), sources, tuple(legs.warnings), legs.seconds)


def _search_dense(
    plan: QueryPlan,
    allowed: Collection[int] | None,
    searchable: Searchable,
    config: RetrievalConfig,
    depth: int,
    legs: _Legs,
) -> Vectors:
    """The query variants' vectors, (0, dimension) when the encoder is away."""
    step = time.perf_counter()
    try:
        queries = searchable.embedder().encode_queries(plan.queries)
    except BackendError as error:
        legs.warnings.append(f"Searched by keywords only: {error}")
        return np.zeros((0, searchable.vectors.shape[1]), np.float32)
    legs.seconds["encode"] = time.perf_counter() - step
    step = time.perf_counter()
    found = None
    # Nothing is allowed: Chroma refuses an empty list, and there is nothing to ask it.
    approximate = config.mode == "paper" or (allowed is None and len(searchable.snapshot) > EXACT_UP_TO)
    if approximate and (allowed is None or allowed):
        where = chroma_where(None if allowed is None else frozenset(allowed))
        try:
            found = searchable.dense().search(queries, depth, where=where)
        except SextantError as error:
            legs.warnings.append(f"The dense index is away, so every vector was compared instead: {error}")
    if found is None:
        found = nearest(searchable.snapshot, searchable.vectors, queries, depth, allowed)
    legs.dense = [keys.tolist() for keys, _ in found]
    legs.seconds["dense"] = time.perf_counter() - step
    return queries


def _search_sparse(
    plan: QueryPlan,
    allowed: Collection[int] | None,
    searchable: Searchable,
    config: RetrievalConfig,
    depth: int,
    legs: _Legs,
) -> None:
    step = time.perf_counter()
    if not has_analyser(plan.language):
        spoken = f"{plan.language!r}, for which there is no stemmer" if plan.language else "no language that we know"
        legs.warnings.append(f"The question is in {spoken}: its keywords are matched as they are written.")
    try:
        search = searchable.sparse().search
        legs.sparse = [dict(search(query, plan.language, depth, allowed=allowed)) for query in plan.queries]
        legs.keywords = [
            dict(search(term, plan.language, config.top_k, allowed=allowed, exact=True)) for term in plan.keywords
        ]
    except SextantError as error:
        legs.sparse, legs.keywords = [], []
        legs.warnings.append(f"Searched by meaning only: {error}")
    legs.seconds["sparse"] = time.perf_counter() - step


def _fuse(
    plan: QueryPlan,
    legs: _Legs,
    keys: Keys,
    cosines: Vectors,
    similarity: Callable[[int, float], float],
    speaks_alike: Callable[[int], bool],
    config: RetrievalConfig,
) -> dict[int, float]:
    """Fused scores of the visible children, best first; `cosines` has a row a child and a column a query variant."""
    visible = set(keys.tolist())
    sparse = [_only(ranking, visible) for ranking in legs.sparse]
    keywords = [_only(ranking, visible) for ranking in legs.keywords]
    if config.mode == "paper":
        return paper_fusion(
            [[key for key in ranking if key in visible] for ranking in legs.dense],
            [list(ranking) for ranking in (*sparse, *keywords)],
            dense_weight=config.paper_dense_weight,
            sparse_weight=config.paper_sparse_weight,
            both_weight=config.paper_both_weight,
            k=config.rrf_k,
        )
    rankings: list[list[int]] = []
    for variant in range(len(plan.queries)):
        worded = sparse[variant] if sparse else {}
        dense: dict[int, float] = {}
        if legs.dense:
            # A child that only the keyword leg found is compared with its true cosine.
            found = visible & {*legs.dense[variant], *worded}
            pairs = zip(keys.tolist(), cosines[:, variant].tolist(), strict=True)
            # The scale ends at 1; beyond it the cosine still tells which is nearer.
            dense = {key: similarity(key, cosine) + _TIE * cosine for key, cosine in pairs if key in found}
        rankings.append(
            list(
                convex_mix(
                    dense,
                    worded,
                    dense_weight=config.dense_weight,
                    gate=lambda key: 1.0 if speaks_alike(key) else config.cross_language_sparse,
                )
            )
        )
    weights = [1.0] + [config.variant_weight] * (len(rankings) - 1) + [config.keyword_weight] * len(keywords)
    return reciprocal_rank([*rankings, *(list(ranking) for ranking in keywords)], weights, k=config.rrf_k)


def _source(n: int, record: ChildRecord, hits: tuple[Hit, ...]) -> Source:
    return Source(
        n=n,
        document=hits[0].document,
        parent_index=record.parent_index,
        start=record.parent_start,
        end=record.parent_end,
        text=record.parent_text,
        page=record.parent_page,
        last_page=record.parent_last_page,
        hits=hits,
    )


def _languages(plan: QueryPlan, document: DocumentRecord) -> Languages:
    """Whether a document speaks the question's language, for the scale that its cosines are read on."""
    spoken = document.metadata.language
    return "any" if not spoken or not plan.language else "same" if spoken == plan.language else "different"


def _only(ranking: Mapping[int, float], keys: Collection[int]) -> dict[int, float]:
    return {key: score for key, score in ranking.items() if key in keys}


def _best_rank(rankings: Sequence[Sequence[int] | Mapping[int, float]], key: int) -> int | None:
    return min((list(ranking).index(key) + 1 for ranking in rankings if key in ranking), default=None)


def _tier(similarity: float) -> Tier:
    return "strong" if similarity >= _STRONG else "moderate" if similarity >= _MODERATE else "weak"
