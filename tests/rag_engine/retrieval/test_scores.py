"""Scores of a child: similarity above the baseline of its language, its best sentence, its words."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rag_engine.config import RankingWeights, RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.retrieval.scores import CandidatePool, Signals, mix, pool_of, read_signals, scaled_to_best
from rag_engine.retrieval.search import search
from rag_engine.storage.sentence_vectors import pack_sentences
from rag_engine.storage.snapshot import CollectionView, LanguageSamples
from rag_engine.types.evidence import QueryPlan

QUESTION = "Where do volunteers stack the sandbags?"
PLAN = QueryPlan(QUESTION, "en", (QUESTION,))
DEFAULT = RankingWeights()
RETRIEVAL = RetrievalConfig(weights=DEFAULT)


def signals(nearness: Sequence[float], keyword: Sequence[float], same_language: Sequence[bool] = ()) -> Signals:
    """Signals of one query variant; an empty retriever is unavailable."""
    count = max(len(nearness), len(keyword))
    near = np.array(nearness, float).reshape(count, -1) if nearness else np.zeros((count, 0))
    words = np.array(keyword, float).reshape(count, -1) if keyword else np.zeros((count, 0))
    return Signals(near, near, words, np.array(same_language or [True] * count))


@st.composite
def any_signals(draw: st.DrawFn) -> Signals:
    count, variants = draw(st.integers(0, 12)), draw(st.integers(1, 3))
    near = draw(st.sampled_from([0, variants]))
    worded = draw(st.sampled_from([0, variants]))
    deviations = arrays(np.float64, (count, near), elements=st.floats(-6, 12))
    return Signals(
        passage=draw(deviations),
        sentence=draw(deviations),
        keyword=draw(arrays(np.float64, (count, worded), elements=st.floats(0, 1))),
        same_language=draw(arrays(np.bool_, count)),
    )


@given(any_signals(), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_mix_lies_between_nought_and_one_and_the_best_has_one(
    some: Signals, dense: float, share: float, gate: float
) -> None:
    config = replace(DEFAULT, dense_weight=dense, sentence_share=share, cross_language_sparse=gate)
    mixed = mix(some, config)
    assert mixed.shape == some.same_language.shape
    assert np.isfinite(mixed).all()
    if mixed.size:
        assert mixed.max() == 1.0
        assert mixed.min() >= 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9, unique=True))
def test_a_leg_that_is_away_leaves_the_order_to_the_other(scores: list[float]) -> None:
    scores = [round(score, 3) for score in scores]
    for alone in (signals([], scores), signals(scores, [])):
        mixed = mix(alone, DEFAULT)
        assert [mixed[a] >= mixed[b] for a in range(len(scores)) for b in range(a)] == [
            scores[a] >= scores[b] for a in range(len(scores)) for b in range(a)
        ]


def test_words_of_another_language_count_only_as_far_as_the_gate_is_open() -> None:
    foreign = signals([1.0, 1.0, 0.0], [0.0, 0.9, 0.0], same_language=[True, False, True])
    shut, ajar = (mix(foreign, replace(DEFAULT, cross_language_sparse=gate)) for gate in (0.0, 1.0))
    assert shut[0] == shut[1]
    assert ajar[1] > ajar[0]


def test_further_variants_share_one_weight_beside_the_question_itself() -> None:
    near = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 4.0]])
    some = Signals(near, near, np.zeros((2, 0)), np.ones(2, bool))
    assert mix(some, replace(DEFAULT, variant_weight=0.9)).tolist() == [1.0, 0.0]
    assert mix(some, replace(DEFAULT, variant_weight=1.1)).tolist() == [0.0, 1.0]


@given(st.lists(st.floats(0, 1e6), max_size=9))
@example([2.0, 5e-324, 0.0])
def test_shares_of_the_best_keep_the_order_and_end_at_one(scores: list[float]) -> None:
    shares = scaled_to_best(np.array(scores))
    assert ((shares >= 0) & (shares <= 1)).all()
    # Two that differ by less than a number can tell may become one, but none overtakes another.
    assert (np.diff(shares[np.argsort(scores)]) >= 0).all()


def test_sentences_are_read_only_where_they_count(engine: Engine) -> None:
    read: list[int] = []

    class View(CollectionView):
        """A collection without sentences, which notes those that are asked for."""

        def sentences(self, rows: Sequence[int]) -> dict[int, bytes]:
            read.extend(rows)
            return {}

    whole = engine.collection.view()
    view = View(whole.catalog, whole.snapshot, whole.file, whole.manifest)
    pool = pool_of(search(PLAN, None, view, engine.retrievers(), RETRIEVAL), (), view)
    without = read_signals(PLAN, pool, view, replace(DEFAULT, sentence_share=0.0))
    assert read == []
    erased = read_signals(PLAN, pool, view, DEFAULT)
    assert sorted(read) == sorted(pool.rows.tolist())
    assert np.array_equal(erased.sentence, without.passage), "a passage without sentences has its own vector"


Read = Callable[..., Signals]


@pytest.fixture
def read(engine: Engine) -> Read:
    """Signals of children with these cosines and languages, where each language's passages lie as given."""

    def signals_of(
        cosines: Sequence[float],
        spoken: Sequence[str],
        usual: dict[str, float],
        plan: QueryPlan = PLAN,
        **changes: object,
    ) -> Signals:
        keys = np.arange(len(cosines))
        found = replace(
            search(PLAN, None, engine.collection.view(), engine.retrievers(), RETRIEVAL),
            queries=np.array([[1.0, 0.0]], np.float32),
            dense=[keys.tolist()],
            sparse=[{0: 3.0}],
            ideals=[3.0],
            keywords=[{0: 4.0, 1: 1.0}, {1: 2.0}],
        )
        spread = np.random.default_rng(3).normal(0, 0.03, 400)
        vectors = {
            language: np.stack([mean + spread, np.sqrt(1 - (mean + spread) ** 2)], axis=1).astype(np.float32)
            for language, mean in usual.items()
        }

        class View(CollectionView):
            samples = LanguageSamples(vectors, dict.fromkeys(vectors, 10000))

            def sentences(self, rows: Sequence[int]) -> dict[int, bytes]:
                return {1: pack_sentences(np.array([[0.0, 1.0], [0.9, 0.436]], np.float32))}

        whole = engine.collection.view()
        view = View(whole.catalog, whole.snapshot, whole.file, whole.manifest)
        pool = CandidatePool(found, keys, keys, keys, tuple(spoken), np.array(cosines, np.float32).reshape(-1, 1))
        return read_signals(plan, pool, view, replace(DEFAULT, **changes))  # type: ignore[arg-type]

    return signals_of


def test_a_language_that_is_not_known_is_taken_for_the_questions(read: Read) -> None:
    usual = {"en": 0.5, "de": 0.5, "": 0.5}
    assert read([0.5] * 3, ["en", "de", ""], usual).same_language.tolist() == [True, False, True]
    unknown = replace(PLAN, language="")
    assert read([0.5] * 3, ["en", "de", ""], usual, unknown).same_language.all()
