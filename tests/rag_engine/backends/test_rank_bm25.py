import pytest

from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.protocols import SparseIndex
from rag_engine.text.analyzer import analyse

ROWS = [
    (11, 1, "en", "flood plans and flood maps"),
    (12, 1, "en", "heat plans, maps"),
    (13, 2, "it", "piano alluvioni"),
    (14, 2, "en", "drought in the north"),
    (15, 3, "en", "storms at sea"),
]


@pytest.fixture
def index() -> SparseIndex:
    opened = PaperSparseIndex()
    opened.add(ROWS)
    opened.commit()
    return opened


def test_the_child_that_says_a_word_more_often_comes_first(index: SparseIndex) -> None:
    index.add([(16, 4, "en", "a flood of words and nothing else")])
    index.commit()
    assert [key for key, _ in index.search("Flood", "en", 5)] == [11, 16]


def test_punctuation_is_part_of_a_word_as_in_the_paper(index: SparseIndex) -> None:
    assert [key for key, _ in index.search("plans", "en", 5)] == [11]


def test_children_without_a_word_of_the_query_are_not_found(index: SparseIndex) -> None:
    assert index.search("earthquake", "en", 5) == []


def test_only_allowed_documents_are_found(index: SparseIndex) -> None:
    assert index.search("flood", "en", 5, allowed=[2, 3]) == []
    assert [key for key, _ in index.search("flood", "en", 5, allowed=[1])] == [11]
    assert index.search("flood", "en", 5, allowed=[]) == []


def test_a_filter_leaves_scores_as_they_are(index: SparseIndex) -> None:
    assert index.search("flood", "en", 5, allowed=[1]) == index.search("flood", "en", 5)


def test_nothing_changes_before_commit(index: SparseIndex) -> None:
    index.delete_documents([1])
    assert index.search("flood", "en", 5)
    index.commit()
    assert index.search("flood", "en", 5) == []
    assert index.keys() == {13, 14, 15}


@pytest.mark.parametrize("rows", [[], [(1, 1, "en", "")], [(1, 1, "en", "  ")]])
def test_a_collection_without_words_finds_nothing(rows: list[tuple[int, int, str, str]]) -> None:
    index = PaperSparseIndex()
    index.add(rows)
    index.commit()
    assert index.search("flood", "en", 5) == []


def test_other_terms_may_be_ranked_by_the_same_formula() -> None:
    index = PaperSparseIndex(analyse)
    index.add(ROWS)
    index.commit()
    assert [key for key, _ in index.search("alluvione", "it", 5)] == [13]
