"""What the legs found to one order of children: fuse, boost, rerank, diversify.

The order of the steps is that of Buriasco 2026, section 5.3; what each step weighs is measured (docs/retrieval.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rag_engine.chunking.sections.references import named_sections
from rag_engine.config import RetrievalConfig
from rag_engine.errors import SextantError
from rag_engine.protocols import Keys, Vectors
from rag_engine.retrieval.book_index_boost import NamedPlaces
from rag_engine.retrieval.diversity import mmr, with_siblings
from rag_engine.retrieval.fusion import Floats, paper_fusion, reciprocal_rank
from rag_engine.retrieval.provenance import named_acts, provenance_bonus
from rag_engine.retrieval.reranking import DEPTH, rerank
from rag_engine.retrieval.scores import column, mix, pool_of, read_signals, scaled_to_best
from rag_engine.retrieval.search import Candidates, Searchable, search_legs
from rag_engine.storage.catalog import ChildRecord
from rag_engine.storage.cross_references import references
from rag_engine.types import QueryPlan

# So many of the best are looked at for what the question names; the catalog is asked for each.
_NAMED_AMONG = 50
# A passage elsewhere on a page that an index names.
_BESIDE = 0.5
# A good passage that refers to another one speaks for it; so many of the best are asked.
_REFERRING = 10


@dataclass(slots=True)
class Ranked:
    """Children, best first, with what put them there.

    `keys`, `owners` (document keys), `scores` (1 for the best that legs alone found) and `cosines` (the best over the
    query variants, 0 without the encoder) have one entry a child.
    """

    keys: Keys
    owners: Keys
    scores: Floats
    cosines: Vectors
    found: Candidates
    boosts: Mapping[int, float]
    listed: Mapping[int, tuple[str, ...]]
    provenance: dict[int, float] = field(default_factory=dict)
    reranked: dict[int, float] = field(default_factory=dict)


def rank(plan: QueryPlan, allowed: Collection[int] | None, searchable: Searchable, config: RetrievalConfig) -> Ranked:
    """Every child that a leg or an index found in the allowed documents (None allows all), best first."""
    found = search_legs(plan, allowed, searchable, config)
    step = time.perf_counter()
    named = searchable.listed(plan) if config.index_weight and config.fusion != "paper" else NamedPlaces({}, {})
    listed = _allowed(named.passages, allowed, searchable)
    pool = pool_of(found, listed, searchable)
    keys, owners, documents = pool.keys, pool.owners, searchable.snapshot.documents
    if config.fusion == "convex":
        scores = mix(read_signals(plan, pool, searchable, config), config)
    else:
        scores = _by_rank(found, keys, config)
    best = pool.cosines.max(axis=1, initial=0.0) if pool.cosines.size else np.zeros(len(keys), np.float32)
    boosts = {
        int(owner): searchable.boost(plan, documents[owner].metadata) if config.geography else 1.0
        for owner in np.unique(owners)
    }
    scores = scores * np.array([boosts[int(owner)] for owner in owners])
    lifts = [1.0 if key in listed else _BESIDE if key in named.beside else 0.0 for key in keys.tolist()]
    scores = scores + config.index_weight * np.array(lifts)
    ranked = _ordered(Ranked(keys, owners, scores, best, found, boosts, listed), scores)
    found.seconds["fuse"] = time.perf_counter() - step
    step = time.perf_counter()
    ranked = _refined(plan, ranked, searchable, config)
    found.seconds["rank"] = time.perf_counter() - step
    return ranked


def _allowed(
    listed: Mapping[int, tuple[str, ...]], allowed: Collection[int] | None, searchable: Searchable
) -> Mapping[int, tuple[str, ...]]:
    """Those of the listed children that are visible and in the allowed documents."""
    places = searchable.snapshot.positions(np.array(sorted(listed), np.int64))
    pairs = zip(searchable.snapshot.keys[places].tolist(), searchable.snapshot.owners[places].tolist(), strict=True)
    return {key: listed[key] for key, owner in pairs if allowed is None or owner in allowed}


def _by_rank(found: Candidates, keys: Keys, config: RetrievalConfig) -> Floats:
    """Scores by reciprocal rank, as published or plainly weighted."""
    visible = set(keys.tolist())
    dense = [[key for key in ranking if key in visible] for ranking in found.dense]
    sparse = [[key for key in ranking if key in visible] for ranking in (*found.sparse, *found.keywords)]
    if config.fusion == "paper":
        fused = paper_fusion(
            dense,
            sparse,
            dense_weight=config.paper_dense_weight,
            sparse_weight=config.paper_sparse_weight,
            both_weight=config.paper_both_weight,
            k=config.rrf_k,
        )
    else:
        weights = [config.paper_dense_weight] * len(dense) + [config.paper_sparse_weight] * len(sparse)
        fused = reciprocal_rank([*dense, *sparse], weights, k=config.rrf_k)
    scores = column(fused, keys)
    # What an index and the question name is added on a scale on which the best has 1; the paper adds nothing.
    return scores if config.fusion == "paper" else scaled_to_best(scores)


def _refined(plan: QueryPlan, ranked: Ranked, searchable: Searchable, config: RetrievalConfig) -> Ranked:
    """The order after what looks at the passages themselves: provenance, references, siblings, reranker, MMR."""
    if config.fusion == "paper" or not len(ranked.keys):
        return ranked
    records = _Records(searchable)
    scores = ranked.scores.copy()
    if config.provenance_weight:
        for place, bonus in _named(plan, records.of(ranked, _NAMED_AMONG), searchable):
            ranked.provenance[int(ranked.keys[place])] = config.provenance_weight * bonus
            scores[place] += config.provenance_weight * bonus
    if config.reference_weight:
        scores += config.reference_weight * _referred(ranked, scores, records, searchable)
    if config.sibling_share:
        parents = searchable.snapshot.parents_of(ranked.keys)
        scores = with_siblings(scores, parents, config.sibling_share)
    ranked = _ordered(ranked, scores)
    if config.rerank:
        ranked = _reranked(plan, ranked, records, searchable, config)
    if config.mmr:
        rows = searchable.snapshot.rows[searchable.snapshot.positions(ranked.keys)]
        top = min(config.candidates, len(rows))
        order = mmr(ranked.scores[:top], np.array(searchable.vectors[rows[:top]]), lambda_=config.mmr_lambda, top_k=top)
        ranked = _taken(ranked, np.array([*order, *range(top, len(rows))], np.int64))
    return ranked


def _named(plan: QueryPlan, records: Sequence[ChildRecord | None], searchable: Searchable) -> list[tuple[int, float]]:
    """Places of the children whose section or act the question names, with what they gain."""
    documents = searchable.snapshot.documents
    # Only what has sections is cited by them: the initials of other titles would meet many an abbreviation.
    cited = {place: record for place, record in enumerate(records) if record and record.section}
    titles = {r.document_key: documents[r.document_key].metadata.title for r in cited.values()}
    sections = named_sections(plan.question, plan.language)
    acts = named_acts(plan.question, plan.language, {*titles.values(), *(r.act for r in cited.values())})
    if cited and sections and not acts:
        # The act that is named may be one that none of the best belongs to. Asking every title takes its time.
        acts = named_acts(plan.question, plan.language, {one.metadata.title for one in documents.values()})
    if not sections and not acts:
        return []
    gained = {
        place: provenance_bonus(sections, acts, r.act, r.section, titles[r.document_key]) for place, r in cited.items()
    }
    return [(place, bonus) for place, bonus in gained.items() if bonus]


def _reranked(
    plan: QueryPlan, ranked: Ranked, records: _Records, searchable: Searchable, config: RetrievalConfig
) -> Ranked:
    """The order after the reranker has read the best; why not is said."""
    try:
        reranker = searchable.reranker()
    except SextantError as error:
        ranked.found.warnings.append(f"The passages were not reranked: {error}")
        return ranked
    known = reranker.languages
    if known is not None and plan.language not in known:
        return ranked
    best = [record for record in records.of(ranked, DEPTH) if record is not None]
    places = {key: place for place, key in enumerate(ranked.keys.tolist())}
    chosen = [places[record.key] for record in best]
    documents = searchable.snapshot.documents
    # What the question names stays named whatever the reranker thinks of its words.
    bonus = np.array([ranked.provenance.get(record.key, 0.0) for record in best])
    result = rerank(
        plan.question,
        [record.text for record in best],
        (ranked.scores[chosen] - bonus).tolist(),
        reranker,
        weight=config.rerank_weight,
        seconds=config.rerank_seconds,
        readable=[known is None or documents[r.document_key].metadata.language in known for r in best],
    )
    if result.said:
        ranked.found.warnings.append(result.said)
        return ranked
    scores = ranked.scores.copy()
    scores[chosen] = result.scores + bonus
    ranked.reranked |= {one.key: read for one, read in zip(best, result.read, strict=True) if read is not None}
    return _ordered(ranked, scores)


def _referred(ranked: Ranked, scores: Floats, records: _Records, searchable: Searchable) -> Floats:
    """For each child the largest score of the best passages that refer to its parent, 0 where none does."""
    best = [record for record in records.of(ranked, _REFERRING) if record is not None]
    score_of = dict(zip(ranked.keys.tolist(), scores.tolist(), strict=True))
    referring: dict[int, float] = {}
    edges = references(searchable.catalog, {record.parent_key for record in best})
    for record in best:
        for _, target in edges.get(record.parent_key, ()):
            referring[target.key] = max(referring.get(target.key, 0.0), score_of[record.key])
    parents = searchable.snapshot.parents_of(ranked.keys)
    return np.array([referring.get(parent, 0.0) for parent in parents.tolist()])


class _Records:
    """Records of the best children, read from the catalog once."""

    def __init__(self, searchable: Searchable) -> None:
        self._read: Callable[[list[int]], dict[int, ChildRecord]] = searchable.catalog.children
        self._known: dict[int, ChildRecord | None] = {}

    def of(self, ranked: Ranked, count: int) -> list[ChildRecord | None]:
        """The records of the first `count` children; None for one that was erased at this moment."""
        keys = ranked.keys[:count].tolist()
        missing = [key for key in keys if key not in self._known]
        if missing:
            read = self._read(missing)
            self._known |= {key: read.get(key) for key in missing}
        return [self._known[key] for key in keys]


def _ordered(ranked: Ranked, scores: Floats) -> Ranked:
    """The same children by these scores, best first; ties by key, so that the order depends on nothing else."""
    order = np.lexsort((ranked.keys, -scores))
    ranked.scores = scores
    return _taken(ranked, order)


def _taken(ranked: Ranked, order: Keys) -> Ranked:
    ranked.keys, ranked.owners = ranked.keys[order], ranked.owners[order]
    ranked.scores, ranked.cosines = ranked.scores[order], ranked.cosines[order]
    return ranked
