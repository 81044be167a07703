"""Signals of each candidate on scales that can be added.

They are nearness in meaning, nearness of the best sentence, and keywords.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine.calibration import Calibration
from rag_engine.config import RankingWeights
from rag_engine.protocols import Keys, Vectors
from rag_engine.retrieval.diversity import Floats, scaled
from rag_engine.retrieval.search import Candidates
from rag_engine.retrieval.tuning import DEVIATIONS, ENOUGH_WORDS, PRIOR_DOCUMENTS, PRIOR_PASSAGES
from rag_engine.storage.catalog import ChildRecord
from rag_engine.storage.sentence_vectors import best_cosines, sentence_cosines, sentence_places
from rag_engine.storage.snapshot import CollectionView, LanguageSamples
from rag_engine.types.evidence import QueryPlan
from rag_engine.types.passage import NearSentence

# A deviation from the median to the 95th percentile of a normal distribution.
_TO_95TH = 1.645


@dataclass(frozen=True, slots=True)
class Signals:
    """Evidence for each child: one row a child, one column a query variant.

    - `passage`, `sentence`: by how many standard deviations the child and its best sentence are nearer than any passage
      of its language; empty (0 columns) without the encoder
    - `keyword`: from 0 to 1; 0 if no keyword was found
    - `same_language`: whether the child is in the question's language, as far as known
    """

    passage: Floats
    sentence: Floats
    keyword: Floats
    same_language: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """The visible children that were found, ascending by key.

    `owners` are the keys of their documents, `rows` the rows of their vectors, `languages` the languages of their
    documents. `cosines` has the cosine of each child to each query vector (0 columns without the encoder).
    """

    found: Candidates
    keys: Keys
    owners: Keys
    rows: Keys
    languages: tuple[str, ...]
    cosines: Vectors


def pool_of(found: Candidates, also: Iterable[int], view: CollectionView) -> CandidatePool:
    """Return the pool of the retrievers' candidates and the children `also`."""
    snapshot = view.snapshot
    positions = snapshot.positions(np.unique(np.array([*found.keys(), *also], np.int64)))
    owners, rows = snapshot.owners[positions], snapshot.rows[positions]
    languages = tuple(snapshot.documents[owner].metadata.language for owner in owners.tolist())
    cosines = np.array(view.vectors[rows]) @ found.queries.T
    return CandidatePool(found, snapshot.keys[positions], owners, rows, languages, cosines)


def read_signals(plan: QueryPlan, pool: CandidatePool, view: CollectionView, weights: RankingWeights) -> Signals:
    """Return the signals of each child of the pool."""
    found, keys, cosines, languages = pool.found, pool.keys, pool.cosines, pool.languages
    rows = pool.rows.tolist()
    best = cosines
    if weights.sentence_share and cosines.size:
        packed = view.sentences(rows)
        best = best_cosines([packed.get(row, b"") for row in rows], found.queries, cosines)
    variants = found.variants or tuple(range(len(found.queries)))
    shape = (len(keys), max(variants, default=-1) + 1)
    passage, sentence = np.full(shape, -np.inf), np.full(shape, -np.inf)
    samples = view.samples
    for position, (variant, query) in enumerate(zip(variants, found.queries, strict=True)):
        baselines = language_baselines(query, plan.language, samples, view.manifest.calibration)
        mean, deviation = _of_each(baselines, languages, weights.language_scale)
        # A passage answers a long question when it answers one piece of it.
        np.maximum(passage[:, variant], (cosines[:, position] - mean) / deviation, out=passage[:, variant])
        np.maximum(sentence[:, variant], (best[:, position] - mean) / deviation, out=sentence[:, variant])
    worded = [
        keyword_share(column(ranking, keys), ideal) for ranking, ideal in zip(found.sparse, found.ideals, strict=True)
    ]
    return Signals(
        passage=passage,
        sentence=sentence,
        keyword=np.stack(worded, axis=1) if worded else np.zeros((len(keys), 0)),
        same_language=np.array(
            [language == plan.language or not language or not plan.language for language in languages], bool
        ),
    )


def near_sentences(
    queries: Vectors, language: str, records: Sequence[ChildRecord], view: CollectionView
) -> dict[int, tuple[NearSentence, ...]]:
    """Return the sentences of each child with their nearness to the nearest query; none without queries.

    `queries` are unit vectors (queries, dimension) in a language. A child without vectors of sentences is one sentence.
    """
    if not queries.size:
        return {}
    scales = [language_baselines(query, language, view.samples, view.manifest.calibration) for query in queries]
    rows = view.snapshot.rows[view.snapshot.positions(np.array([record.key for record in records], np.int64))].tolist()
    packed = view.sentences(rows)
    near: dict[int, tuple[NearSentence, ...]] = {}
    for record, row in zip(records, rows, strict=True):
        written = view.snapshot.documents[record.document_key].metadata.language
        begin, places = record.parent.start + record.start, [(0, len(record.text))]
        cosines = [np.array([view.vectors[row] @ query]) for query in queries]
        if packed.get(row):
            cut, compared = sentence_places(record.text, written), [sentence_cosines(packed[row], q) for q in queries]
            # Vectors of sentences that were cut in another language, corrected since, name no place.
            if len(cut) == len(compared[0]):
                places, cosines = cut, compared
        deviations = [
            (cosine - scale[written].mean) / scale[written].deviation
            for cosine, scale in zip(cosines, scales, strict=True)
        ]
        nearest = np.max(deviations, axis=0).tolist()
        near[record.key] = tuple(
            NearSentence(begin + start, begin + end, deviation)
            for (start, end), deviation in zip(places, nearest, strict=True)
        )
    return near


def mix(signals: Signals, weights: RankingWeights) -> Floats:
    """Return one score a child in 0..1: a convex mix for each variant, of which the first has weight 1."""
    gate = np.where(signals.same_language, 1.0, weights.cross_language_sparse)
    nearness = (1 - weights.sentence_share) * signals.passage + weights.sentence_share * signals.sentence
    variants = max(nearness.shape[1], signals.keyword.shape[1])
    total = nothing = np.zeros(len(gate))
    for variant in range(variants):
        mixed = convex_mix(
            nearness[:, variant] if nearness.shape[1] else nothing,
            signals.keyword[:, variant] if signals.keyword.shape[1] else nothing,
            # A retriever that is unavailable leaves the whole weight to the other.
            dense_weight=0.0 if not nearness.shape[1] else weights.dense_weight,
            gate=gate,
        )
        total = total + (mixed if variant == 0 else weights.variant_weight * mixed / (variants - 1))
    return scaled(total)


def keyword_share(bm25: Floats, ideal: float) -> Floats:
    """Return the BM25 as shares of the largest, times the weight of that largest, one a child.

    The weight is 1 if the best child reaches .7 of the `ideal` of the query, else the square of the reached part. A
    question in other words than the documents' finds some of its everyday words everywhere. An `ideal` of 0 is unknown,
    and the weight is 1.

    >>> keyword_share(np.array([7.0, 3.5]), ideal=10.0).tolist()
    [1.0, 0.5]
    """
    best = float(bm25.max(initial=0.0))
    if best <= 0:
        return np.zeros_like(bm25)
    reached = min(1.0, best / (ENOUGH_WORDS * ideal)) if ideal > 0 else 1.0
    return bm25 / best * reached**2


def convex_mix(deviations: Floats, keyword: Floats, *, dense_weight: float, gate: Floats) -> Floats:
    """Return dense_weight x deviations / 5 + (1 - dense_weight) x gate x keyword, one score a child.

    A convex combination of normalised scores (Bruch et al. 2023). `deviations` say by how many standard deviations a
    child's cosine is above any passage's, which needs no minimum and maximum of the found ones. `keyword` in 0..1 says
    how well the child matches the words. `gate` in 0..1 says how far keywords count for a child, whose words may be of
    another language.
    """
    mixed: Floats = dense_weight * deviations / DEVIATIONS + (1.0 - dense_weight) * gate * keyword
    return mixed


def column(scores: Mapping[int, float], keys: Keys) -> Floats:
    """Return a score for each of the keys, 0 for one without."""
    return np.array([scores.get(key, 0.0) for key in keys.tolist()])


def scaled_to_best(scores: Floats) -> Floats:
    """Return the scores as shares of the largest; 0 where all are."""
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _of_each(baselines: Mapping[str, Baseline], languages: Sequence[str], by_language: bool) -> tuple[Floats, Floats]:
    """Return the mean and deviation for each child.

    They are of its language if `by_language` is on, else the average over the languages.
    """
    if not by_language:
        mean = float(np.mean([baseline.mean for baseline in baselines.values()]))
        deviation = float(np.mean([baseline.deviation for baseline in baselines.values()]))
        return np.full(len(languages), mean), np.full(len(languages), deviation)
    means = np.array([baselines[language].mean for language in languages])
    return means, np.array([baselines[language].deviation for language in languages])


@dataclass(frozen=True, slots=True)
class Baseline:
    """Mean and standard deviation of the cosines between a question and any passage of a language."""

    mean: float
    deviation: float


def language_baselines(
    query: Vectors, language: str, samples: LanguageSamples, calibration: Calibration
) -> dict[str, Baseline]:
    """Return the baseline of each language of the collection for a query vector in `language`.

    The vector has shape (dimension,). The fewer passages a language has, the more the scale's unrelated pairs count.
    The fewer documents it has, the more the cosines in all languages together count.
    """
    own, expected = {}, {}
    for written, vectors in samples.vectors.items():
        scale = calibration.of(language, written)
        expected[written] = Baseline(scale[1], (scale[2] - scale[1]) / _TO_95TH)
        own[written] = _found(vectors @ query, expected[written])
    trust = {written: n / (n + PRIOR_DOCUMENTS) for written, n in samples.documents.items()}
    whole = sum(trust.values())
    shift = sum(trust[one] * (own[one].mean - expected[one].mean) for one in own) / max(whole, 1e-9)
    stretch = sum(trust[one] * own[one].deviation / expected[one].deviation for one in own) / max(whole, 1e-9)
    baselines = {}
    for written, alone in own.items():
        pooled = Baseline(expected[written].mean + shift, expected[written].deviation * stretch)
        share = trust[written]
        variance = share * alone.deviation**2 + (1 - share) * pooled.deviation**2
        baselines[written] = Baseline(share * alone.mean + (1 - share) * pooled.mean, float(np.sqrt(variance)))
    return baselines


def _found(cosines: Vectors, expected: Baseline) -> Baseline:
    """Return the mean and deviation of the cosines together with a prior of expected ones.

    The prior keeps a few cosines from deciding.
    """
    exact: NDArray[np.float64] = cosines.astype(np.float64)
    n = len(exact)
    mean = (exact.sum() + PRIOR_PASSAGES * expected.mean) / (n + PRIOR_PASSAGES)
    squares = ((exact - exact.mean()) ** 2).sum() if n else 0.0
    variance = (squares + PRIOR_PASSAGES * expected.deviation**2) / (n + PRIOR_PASSAGES)
    return Baseline(float(mean), float(np.sqrt(variance)))
