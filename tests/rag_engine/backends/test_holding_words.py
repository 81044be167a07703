"""A keyword index names every child that holds all of the words, and no other."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.protocols import SparseIndex
from rag_engine.text.analyzer import analyse
from rag_engine.text.words.key_words import find_key_words, holds_words, wanted_words
from tests.rag_engine.backends.conftest import ROWS

LANGUAGES = {language for _, _, language, _ in ROWS}
_WORDS = ("flood", "floods", "plan", "plans", "heat", "maps", "city", "cities")


def holding(index: SparseIndex, words: str, language: str = "en", allowed: set[int] | None = None) -> set[int]:
    return {key for key, _ in index.holding(wanted_words(words, language, LANGUAGES), allowed=allowed)}


def test_all_words_are_wanted_in_any_form(index: TantivyIndex) -> None:
    assert holding(index, "plan flood") == {1}
    assert holding(index, "city") == {2, 3}
    assert holding(index, "city WHO") == {2}


def test_a_name_or_number_is_found_in_every_language(index: TantivyIndex) -> None:
    assert holding(index, "2030") == {1, 4}
    assert holding(index, "WHO") == {2, 5}


def test_a_compound_is_found_by_its_first_word_and_scores_less(index: TantivyIndex) -> None:
    index.add([(8, 4, "de", "Das Hochwasser kam im Mai.")])
    index.commit()
    wanted = wanted_words("Hochwasser", "de", LANGUAGES)
    assert [key for key, _ in index.holding(wanted)] == [8, 6]


def test_a_phrase_is_found_as_it_is_written(index: TantivyIndex) -> None:
    assert holding(index, "“risk management”") == {1}
    assert holding(index, "“management risk”") == set()
    assert holding(index, "plans “heat plans”") == {2}


def test_only_allowed_documents_are_found(index: TantivyIndex) -> None:
    assert holding(index, "2030", allowed={3}) == {4}
    assert holding(index, "2030", allowed=set()) == set()


def test_no_words_find_nothing(index: TantivyIndex) -> None:
    assert holding(index, "the of and") == set()


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=8),
    query=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3).map(" ".join),
)
def test_both_indexes_and_the_marks_agree(tmp_path: Path, texts: list[str], query: str) -> None:
    rows = [(key, key, "en", text) for key, text in enumerate(texts, start=1)]
    wanted = wanted_words(query, "en", {"en"})
    indexes: list[SparseIndex] = [
        open_sparse_index(tmp_path / f"{hash((*texts, query))}", writable=True),
        PaperSparseIndex(analyse),
    ]
    found = []
    for index in indexes:
        index.delete_documents({key for key, *_ in rows})
        index.add(rows)
        index.commit()
        found.append({key for key, _ in index.holding(wanted)})
    expected = {
        key
        for key, _, _, text in rows
        if {analyse(word, "en")[0] for word in query.split()} <= set(analyse(text, "en"))
    }
    # rank-bm25 gives a word that is in every text no score above 0.
    assert found[0] == expected
    assert found[1] <= expected
    assert all(find_key_words(text, "en", wanted) for key, _, _, text in rows if key in expected)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.lists(
        st.sampled_from(
            [
                "flood",
                "-plans",
                "city",
                "OR",
                "AND",
                "NOT",
                "(",
                ")",
                "WHO",
                "2030",
                "heat*",
                "“heat plans”",
                "risk",
                "in",
            ]
        ),
        min_size=1,
        max_size=7,
    ).map(" ".join)
)
def test_the_index_finds_what_holds_the_words(index: TantivyIndex, query: str) -> None:
    wanted = wanted_words(query, "en", LANGUAGES)
    expected = {key for key, _, language, text in ROWS if wanted and holds_words(text, language, wanted)}
    expected -= {key for key, _, language, _ in ROWS if language in wanted.passed}
    assert {key for key, _ in index.holding(wanted)} == expected
