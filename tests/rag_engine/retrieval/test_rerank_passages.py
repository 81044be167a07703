"""Reranking: the mix of two scores, how deep, and what is said when the reranker does not do its part."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Scores
from rag_engine.retrieval.rerank_passages import Reranked, affordable_depth, interpolate, rerank
from rag_engine.retrieval.tuning import RERANK_DEPTH


@dataclass
class Reader:
    """A Reranker that gives each text the score its function does and remembers what it was given."""

    of: Callable[[str], float]
    name: str = "reader"
    execution: str = "by hand"
    languages: frozenset[str] | None = None
    batches: list[list[str]] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        self.batches.append(list(texts))
        return np.array([self.of(text) for text in texts], dtype=np.float32)


TEXTS = ["first", "second", "third, which answers"]
SCORES = [0.9, 0.8, 0.5]


def answers(text: str) -> float:
    return 1.0 if "answers" in text else 0.0


def order(found: Reranked) -> list[int]:
    return sorted(range(len(found.scores)), key=lambda place: -found.scores[place])


def ranking(count: int) -> tuple[list[str], list[float]]:
    return [f"passage {n}" for n in range(count)], [1 - n / (count + 1) for n in range(count)]


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-50, 50)), min_size=1, max_size=RERANK_DEPTH),
    st.floats(0, 1),
)
def test_the_scores_of_the_mix_stay_in_their_range(pairs: list[tuple[float, float]], weight: float) -> None:
    pairs.sort(key=lambda pair: -pair[0])
    scores, read = [pair[0] for pair in pairs], {f"text {n}": pair[1] for n, pair in enumerate(pairs)}
    found = rerank("q", list(read), scores, Reader(read.__getitem__), weight=weight)
    assert found.warning == ""
    assert min(scores) - 1e-9 <= min(found.scores) <= max(found.scores) <= max(scores) + 1e-9


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=RERANK_DEPTH, unique=True))
def test_a_reranker_of_the_same_opinion_changes_nothing(scores: list[float]) -> None:
    scores.sort(reverse=True)
    texts = [str(score) for score in scores]
    assert order(rerank("q", texts, scores, Reader(float), weight=0.5)) == list(range(len(scores)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 100), st.floats(-100, 100))
def test_the_mix_does_not_depend_on_the_unit_of_a_score(read: list[float], unit: float, zero: float) -> None:
    scores, told = np.linspace(1, 0, len(read)), np.round(read, 3)
    mixed = interpolate(scores, told, 0.3)
    assert interpolate(scores, told * unit + zero, 0.3) == pytest.approx(mixed, abs=1e-6)


def test_only_the_first_twenty_are_read_and_nothing_from_behind_them_rises() -> None:
    texts, scores = ranking(30)
    reader = Reader(lambda text: float(text.split()[1]))
    found = rerank("q", texts, scores, reader, weight=1.0)
    assert {text for batch in reader.batches for text in batch} == set(texts[:RERANK_DEPTH])
    assert order(found) == [*reversed(range(RERANK_DEPTH)), *range(RERANK_DEPTH, 30)]
    assert found.scores[RERANK_DEPTH:] == tuple(scores[RERANK_DEPTH:])


def test_passages_in_a_language_it_does_not_know_are_not_read_and_keep_their_scores() -> None:
    reader = Reader(answers)
    found = rerank("q", TEXTS, SCORES, reader, weight=1.0, readable=[True, False, True])
    assert reader.batches == [["third, which answers", "first"]]
    assert order(found) == [2, 1, 0]
    assert found.scores == pytest.approx((0.5, 0.8, 0.9))


@pytest.mark.parametrize("count", [0, 1])
def test_what_cannot_change_is_not_read(count: int) -> None:
    reader = Reader(answers)
    assert rerank("q", TEXTS[:count], SCORES[:count], reader, weight=0.5).scores == tuple(SCORES[:count])
    assert rerank("q", TEXTS, SCORES, reader, weight=0.0).scores == tuple(SCORES)
    assert reader.batches == []


@pytest.mark.parametrize(
    ("seconds_a_passage", "depth"), [(0.01, RERANK_DEPTH), (0.15, RERANK_DEPTH), (0.2, 15), (0.59, 5), (0.7, 0)]
)
def test_as_many_passages_are_read_as_the_machine_reads_in_time(seconds_a_passage: float, depth: int) -> None:
    reader = Reader(answers)
    ticks = itertools.count(0.0, 4 * seconds_a_passage)
    assert affordable_depth(reader, clock=lambda: next(ticks)) == depth
    assert {len(batch) for batch in reader.batches} == {4}


def test_the_fastest_run_counts_for_others_may_have_used_the_machine() -> None:
    times = iter([0.0, 9.0, 10.0, 10.5, 20.0, 29.0, 30.0, 39.0])
    assert affordable_depth(Reader(answers), clock=lambda: next(times)) == RERANK_DEPTH


def test_a_machine_that_reads_as_many_as_are_wanted_is_tried_once() -> None:
    reader, ticks = Reader(answers), itertools.count(0.0, 0.1)
    assert affordable_depth(reader, clock=lambda: next(ticks)) == RERANK_DEPTH
    assert len(reader.batches) == 1


def test_only_the_best_are_read_as_deep_as_is_said() -> None:
    texts, scores = ranking(20)
    reader = Reader(lambda text: float(text.split()[1]))
    found = rerank("q", texts, scores, reader, weight=1.0, depth=6)
    assert order(found) == [5, 4, 3, 2, 1, 0, *range(6, 20)]
    assert order(rerank("q", texts, scores, reader, weight=1.0, depth=0)) == list(range(20))


def breaks_off(text: str) -> float:
    raise BackendError("Reranker reader broke off.")


def dies(text: str) -> float:
    raise RuntimeError("Infer Request is busy")


def shapeless(query: str, texts: Sequence[str]) -> Scores:
    return np.zeros((len(texts), 2), dtype=np.float32)


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (breaks_off, "Reranker reader broke off."),
        (dies, "Infer Request is busy"),
        (lambda _: float("nan"), "reader did not give one number for each of 3 passages."),
        (lambda _: float("inf"), "reader did not give one number for each of 3 passages."),
    ],
)
def test_the_ranking_stays_and_says_why_when_the_reranker_fails(of: Callable[[str], float], why: str) -> None:
    found = rerank("q", TEXTS, SCORES, Reader(of), weight=0.5)
    assert order(found) == [0, 1, 2]
    assert found.scores == tuple(SCORES)
    assert found.warning == f"Not reranked: {why}"


def test_scores_of_another_shape_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(answers)
    monkeypatch.setattr(reader, "score", shapeless)
    found = rerank("q", TEXTS, SCORES, reader, weight=0.5)
    assert order(found) == [0, 1, 2]
    assert "one number for each of 3" in found.warning


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_that_is_no_share_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight"):
        rerank("q", TEXTS, SCORES, Reader(answers), weight=weight)
