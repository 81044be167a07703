"""Reading of the best passages: the mix of two scores, how deep, which part, and failures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.protocols import Scores
from rag_engine.retrieval.rerank_passages import read_scores, read_window, read_windows, rerank
from rag_engine.retrieval.tuning import RERANK_DEPTH, WINDOW
from rag_engine.types.passage import NearSentence, PassageReading


@dataclass
class Reader:
    """A Reranker that gives each text the score its function does."""

    of: Callable[[str], float]
    name: str = "reader"
    execution: str = "by hand"

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        return np.array([self.of(text) for text in texts], dtype=np.float32)


TEXTS = ["first", "second", "third, which answers"]


def answers(text: str) -> float:
    return 1.0 if "answers" in text else 0.0


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-50, 50)), min_size=1, max_size=RERANK_DEPTH), st.floats(0, 1))
def test_the_scores_of_the_mix_stay_in_their_range(pairs: list[tuple[float, float]], weight: float) -> None:
    scores, read = np.array(pairs).T
    mixed = rerank(scores, read, weight)
    assert scores.min() - 1e-9 <= mixed.min() <= mixed.max() <= scores.max() + 1e-9


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=RERANK_DEPTH, unique=True), st.floats(0, 1))
def test_a_reranker_of_the_same_opinion_changes_nothing(numbers: list[int], weight: float) -> None:
    scores = np.array(numbers) / 100
    assert rerank(scores, scores, weight) == pytest.approx(scores)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 100), st.floats(-100, 100))
def test_the_mix_does_not_depend_on_the_unit_of_a_score(read: list[float], unit: float, zero: float) -> None:
    scores, told = np.linspace(1, 0, len(read)), np.round(read, 3)
    mixed = rerank(scores, told, 0.3)
    assert rerank(scores, told * unit + zero, 0.3) == pytest.approx(mixed, abs=1e-6)


def test_without_weight_the_scores_stay_and_with_the_whole_the_reading_alone_orders() -> None:
    scores, read = np.array([0.9, 0.8, 0.5]), np.array([0.0, 1.0, 2.0])
    assert rerank(scores, read, 0.0) == pytest.approx(scores)
    assert rerank(scores, read, 1.0) == pytest.approx([0.5, 0.7, 0.9])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_not_used(number: float) -> None:
    with pytest.raises(RuntimeError, match="reader did not give one number for each passage"):
        read_scores("q", TEXTS, Reader(lambda _: number))


def test_scores_of_another_shape_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(answers)
    monkeypatch.setattr(reader, "score", lambda _, texts: np.zeros((len(texts), 2), dtype=np.float32))
    with pytest.raises(RuntimeError, match="one number for each passage"):
        read_scores("q", TEXTS, reader)


# Where the passage begins in its document.
BEGIN = 5000
FILLER = "Hall number {n} of the market is let to a trader for a year. "
SIREN = "The siren on the roof of the mill warns the village. "


def near(text: str, sentence: str, nearness: float = 1.0) -> NearSentence:
    start = BEGIN + text.index(sentence)
    return NearSentence(start, start + len(sentence), nearness)


@pytest.mark.parametrize("before", [0, 3, 20, 39, 40])
def test_of_a_long_passage_what_stands_around_its_nearest_sentence_is_read(before: int) -> None:
    others = [FILLER.format(n=n) for n in range(40)]
    text = "".join([*others[:before], SIREN, *others[before:]])
    sentences = (near(text, others[7].strip(), 0.5), near(text, SIREN.strip(), 2.0), near(text, others[30].strip()))
    start, end = read_window(text, BEGIN, sentences)
    assert SIREN.strip() in text[start:end]
    assert WINDOW / 2 <= end - start <= WINDOW
    # Words are not cut.
    assert start == 0 or text[start - 1] == " "
    assert end == len(text) or text[end] == " "


def test_a_short_passage_is_read_whole_and_a_long_one_that_nothing_compared_from_its_beginning() -> None:
    assert read_window(SIREN, BEGIN, (near(SIREN, "roof"),)) == (0, len(SIREN))
    assert read_window(SIREN, BEGIN, ()) == (0, len(SIREN))
    assert read_window(SIREN * 40, BEGIN, ()) == (0, WINDOW)


@given(
    st.text(alphabet="ab \n。", min_size=1, max_size=3 * WINDOW),
    st.integers(1, 40),
    st.floats(0, 1),
    st.integers(1, WINDOW // 2),
)
def test_the_nearest_sentence_is_in_what_is_read_whatever_the_text(
    piece: str, times: int, place: float, length: int
) -> None:
    text = piece * times
    start = int(place * (len(text) - 1))
    nearest = NearSentence(BEGIN + start, BEGIN + min(start + length, len(text)), 1.0)
    first, last = read_window(text, BEGIN, (nearest, NearSentence(BEGIN, BEGIN + 1, 0.0)))
    assert 0 <= first < last <= len(text)
    assert last - first <= WINDOW
    assert first <= nearest.start - BEGIN
    assert nearest.end - BEGIN <= last


def test_a_reading_is_told_at_the_places_of_the_document() -> None:
    class Whole(Reader):
        def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
            return [PassageReading(self.of(one), 0.0, ((0, len(one)),), (1.0,), (1.0,)) for one in passages]

    first, second = read_windows("q", [(40, "dyke", ()), (7, "which answers", ())], Whole(answers))
    assert (first.tokens, first.relevance) == (((40, 44),), 0.0)
    assert (second.tokens, second.relevance) == (((7, 20),), 1.0)
