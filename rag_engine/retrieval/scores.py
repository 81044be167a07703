"""What speaks for each child, on scales that can be added: nearness in meaning, the best sentence, words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine.config import RetrievalConfig
from rag_engine.protocols import Keys, Vectors
from rag_engine.retrieval.diversity import scaled
from rag_engine.retrieval.fusion import Floats, convex_mix, keyword_share
from rag_engine.retrieval.language_scale import Usual, usual_cosines
from rag_engine.retrieval.search import Candidates, Searchable
from rag_engine.storage.sentence_vectors import best_cosines
from rag_engine.types import QueryPlan


@dataclass(frozen=True, slots=True)
class Signals:
    """One row a child, one column a query variant.

    `passage` and `sentence` say by how many standard deviations the child and its best sentence are nearer than any
    passage of its language; both are empty (0 columns) without the encoder. `keyword` in 0..1 is 0 where the keyword
    leg found nothing; `named` in 0..1 how well acronyms and quoted phrases are met; `alike` whether the child
    speaks the question's language as far as is known.
    """

    passage: Floats
    sentence: Floats
    keyword: Floats
    named: Floats
    alike: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pool:
    """The visible children that were found, ascending by key: whose they are, where their vectors lie, what their
    documents speak, and the cosine of each to each query vector (0 columns without the encoder).
    """

    found: Candidates
    keys: Keys
    owners: Keys
    rows: Keys
    spoken: tuple[str, ...]
    cosines: Vectors


def pool_of(found: Candidates, also: Iterable[int], searchable: Searchable) -> Pool:
    """What the legs found, and the children `also`."""
    snapshot = searchable.snapshot
    places = snapshot.positions(np.unique(np.array([*found.keys(), *also], np.int64)))
    owners, rows = snapshot.owners[places], snapshot.rows[places]
    spoken = tuple(snapshot.documents[owner].metadata.language for owner in owners.tolist())
    cosines = np.array(searchable.vectors[rows]) @ found.queries.T
    return Pool(found, snapshot.keys[places], owners, rows, spoken, cosines)


def read_signals(plan: QueryPlan, pool: Pool, searchable: Searchable, config: RetrievalConfig) -> Signals:
    """What speaks for each child of the pool."""
    found, keys, cosines, spoken = pool.found, pool.keys, pool.cosines, pool.spoken
    rows = pool.rows.tolist()
    best = cosines
    if config.sentence_share and cosines.size:
        packed = searchable.sentences(rows)
        best = best_cosines([packed.get(row, b"") for row in rows], found.queries, cosines)
    variants = found.variants or tuple(range(len(found.queries)))
    shape = (len(keys), max(variants, default=-1) + 1)
    passage, sentence = np.full(shape, -np.inf), np.full(shape, -np.inf)
    samples = searchable.samples()
    for place, (variant, query) in enumerate(zip(variants, found.queries, strict=True)):
        usual = usual_cosines(query, plan.language, samples, searchable.calibration)
        mean, deviation = _of_each(usual, spoken, config.language_scale)
        # A passage answers a long question when it answers one piece of it.
        np.maximum(passage[:, variant], (cosines[:, place] - mean) / deviation, out=passage[:, variant])
        np.maximum(sentence[:, variant], (best[:, place] - mean) / deviation, out=sentence[:, variant])
    named = sum((scaled_to_best(column(ranking, keys)) for ranking in found.keywords), np.zeros(len(keys)))
    worded = [
        keyword_share(column(ranking, keys), ideal) for ranking, ideal in zip(found.sparse, found.ideals, strict=True)
    ]
    return Signals(
        passage=passage,
        sentence=sentence,
        keyword=np.stack(worded, axis=1) if worded else np.zeros((len(keys), 0)),
        named=named / max(len(found.keywords), 1),
        alike=np.array([one == plan.language or not one or not plan.language for one in spoken], bool),
    )


def mix(signals: Signals, config: RetrievalConfig) -> Floats:
    """One score a child in 0..1: a convex mix for each variant, the first with weight 1, and what it names."""
    gate = np.where(signals.alike, 1.0, config.cross_language_sparse)
    nearness = (1 - config.sentence_share) * signals.passage + config.sentence_share * signals.sentence
    variants = max(nearness.shape[1], signals.keyword.shape[1])
    total = config.keyword_weight * signals.named
    nothing = np.zeros(len(gate))
    for variant in range(variants):
        mixed = convex_mix(
            nearness[:, variant] if nearness.shape[1] else nothing,
            signals.keyword[:, variant] if signals.keyword.shape[1] else nothing,
            # A leg that is away leaves the whole weight to the other.
            dense_weight=0.0 if not nearness.shape[1] else config.dense_weight,
            gate=gate,
        )
        total = total + (mixed if variant == 0 else config.variant_weight * mixed / (variants - 1))
    return scaled(total)


def column(scores: Mapping[int, float], keys: Keys) -> Floats:
    """A score for each of the keys, 0 for one without."""
    return np.array([scores.get(key, 0.0) for key in keys.tolist()])


def scaled_to_best(scores: Floats) -> Floats:
    """The scores as shares of the largest; 0 where all are."""
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _of_each(usual: Mapping[str, Usual], spoken: Sequence[str], by_language: bool) -> tuple[Floats, Floats]:
    """Mean and deviation for each child: those of its language, or else those of the languages' average."""
    if not by_language:
        mean = float(np.mean([one.mean for one in usual.values()]))
        deviation = float(np.mean([one.deviation for one in usual.values()]))
        return np.full(len(spoken), mean), np.full(len(spoken), deviation)
    means = np.array([usual[language].mean for language in spoken])
    return means, np.array([usual[language].deviation for language in spoken])
