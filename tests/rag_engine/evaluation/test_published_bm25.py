"""BM25 as published, against its formula worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.evaluation.datasets import CorpusDocument
from rag_engine.evaluation.published_bm25 import lucene_length, lucene_terms, published_bm25


def test_a_hand_made_case_has_the_scores_of_the_formula() -> None:
    documents = [
        CorpusDocument("a", "Floods", "The flood and the dykes"),
        CorpusDocument("b", "", "A dyke is high"),
        CorpusDocument("c", "Heat", "the heat of the red level, 38 degrees"),
        CorpusDocument("empty", "", "the"),
    ]
    ranked = published_bm25(documents)("Dykes in floods, floods?")
    # a = flood flood dyke, b = dyke high, c = heat heat red level 38 degre; a text without terms is not counted.
    mean = (3 + 2 + 6) / 3

    def weight(count: int, length: int, having: int) -> float:
        idf = math.log(1 + (3 - having + 0.5) / (having + 0.5))
        return idf * count / (count + 0.9 * (1 - 0.4 + 0.4 * length / mean))

    assert [id for id, _ in ranked] == ["a", "b"]
    assert ranked[0][1] == pytest.approx(weight(1, 3, 2) + 2 * weight(2, 3, 1))
    assert ranked[1][1] == pytest.approx(weight(1, 2, 2))


def test_terms_are_those_of_the_english_analyser() -> None:
    assert lucene_terms("The IPCC's reports are in U.S.A. 1,500.5 tons, e.g. well-being isn't") == [
        "ipcc", "report", "u.s.a", "1,500.5", "ton", "e.g", "well", "be", "isn't",
    ]  # fmt: skip


def test_a_question_without_a_known_term_finds_nothing() -> None:
    rank = published_bm25([CorpusDocument("a", "", "flood"), CorpusDocument("b", "", "")])
    assert rank("the") == rank("heat") == []
    assert published_bm25([CorpusDocument("b", "", "")])("heat") == []


@given(st.integers(0, 100_000))
def test_a_length_is_exact_where_short_and_keeps_four_binary_digits_of_the_rest(length: int) -> None:
    kept = lucene_length(length)
    assert kept <= length
    assert kept == length if length < 40 else length - kept < (length - 24) / 8
