"""Retrieved passages against ideal ones, counted by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.evaluation.passage_metrics import Passage, score_passages, word_starts

# Twenty words of four letters: word n stands at [5n, 5n + 4).
WORDS = {"a": word_starts("word " * 20), "b": word_starts("word " * 20)}


def words(first: int, beyond: int, document: str = "a") -> Passage:
    return Passage(document, 5 * first, 5 * beyond - 1)


def test_the_figures_are_those_counted_by_hand() -> None:
    # Ideal: words 0 to 9. Retrieved: 4 to 13, then 0 to 3: all ten ideal words of fourteen read.
    found = score_passages([words(4, 14), words(0, 4)], [[words(0, 10)]], WORDS)
    assert found.precision == pytest.approx(10 / 14)
    assert found.recall == 1.0
    assert found.f1 == pytest.approx(2 * (10 / 14) / (10 / 14 + 1))
    assert found.ndcg == pytest.approx(0.6 + 0.4 / log2(3))
    assert (found.mrr, found.token_match, found.tokens) == (1.0, 10.0, 14.0)


def test_the_first_passage_with_half_of_an_ideal_one_gives_the_reciprocal_rank() -> None:
    found = score_passages([words(0, 10, "b"), words(0, 4), words(4, 9)], [[words(0, 10)]], WORDS)
    assert found.mrr == pytest.approx(1 / 3)


def test_reading_the_same_words_twice_gains_nothing() -> None:
    once = score_passages([words(0, 5)], [[words(0, 10)]], WORDS)
    twice = score_passages([words(0, 5), words(0, 5)], [[words(0, 10)]], WORDS)
    assert once == twice


def test_passages_of_one_answer_belong_together_and_a_translation_answers_as_well() -> None:
    both = [[words(0, 5), words(10, 15)], [words(0, 5, "b")]]
    assert score_passages([words(0, 5)], both, WORDS).recall == 0.5
    assert score_passages([words(0, 5, "b")], both, WORDS).recall == 1.0
    assert score_passages([words(0, 5), words(0, 5, "b")], both, WORDS).precision == 1.0


def test_nothing_found_is_nothing_gained() -> None:
    found = score_passages([], [[words(0, 5)]], WORDS)
    assert (found.precision, found.recall, found.f1, found.ndcg, found.mrr) == (0, 0, 0, 0, 0)


PASSAGES = st.builds(lambda first, size, document: words(first, min(20, first + size), document),
                     st.integers(0, 18), st.integers(1, 10), st.sampled_from("ab"))  # fmt: skip


@given(st.lists(PASSAGES, max_size=6), st.lists(st.lists(PASSAGES, min_size=1, max_size=2), min_size=1, max_size=3))
def test_every_share_is_a_share_and_reading_on_never_lowers_recall(
    retrieved: list[Passage], alternatives: list[list[Passage]]
) -> None:
    found = score_passages(retrieved, alternatives, WORDS)
    for share in (found.precision, found.recall, found.f1, found.ndcg, found.mrr):
        assert 0.0 <= share <= 1.0 + 1e-9
    assert found.token_match <= found.tokens
    assert score_passages(retrieved[:-1], alternatives, WORDS).recall <= found.recall


@given(st.lists(PASSAGES, min_size=1, max_size=3))
def test_whoever_reads_exactly_the_answer_has_everything(answer: list[Passage]) -> None:
    found = score_passages(answer, [answer], WORDS)
    assert found.precision == found.recall == found.f1 == found.mrr == 1.0
