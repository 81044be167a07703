"""Folding: Łódź is one word in every room, and folding in place moves no position."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.book_index.entries import folded as folded_title
from ingestion.file_names import slug_of
from ingestion.metadata.term_matching import cut_words
from rag_engine.text.analyzer import surface
from rag_engine.text.folding import fold, fold_case, fold_in_place, fold_title
from rag_engine.text.stop_words import listed_stopwords, stopwords


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Łódź", "lodz"),
        ("LØGSTØR", "logstor"),
        ("Straße STRASSE", "strasse strasse"),
        ("İzmir ISPARTA ısı", "izmir isparta isi"),
        ("Œuvre Ærø", "oeuvre aero"),
        ("Đurđevac Fjörður", "durdevac fjordur"),
        ("ﬁnal CO₂ №", "final co2 no"),
        ("e\u0301te\u0301", "ete"),
        ("हिन्दी", "हिन्दी"),
        ("한국", "한국"),
    ],
)
def test_spellings_of_a_word_fold_to_one(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    "room",
    [
        lambda text: " ".join(surface(text)),
        lambda text: cut_words(text)[0].folded,
        fold_title,
        folded_title,
        slug_of,
        fold_in_place,
    ],
)
@pytest.mark.parametrize("name", ["Łódź", "ŁÓDŹ", "Lodz"])
def test_a_polish_city_is_one_word_in_every_room(room: Callable[[str], str], name: str) -> None:
    assert room(name) == "lodz"


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=60))
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_capitals_make_no_difference(text: str) -> None:
    assert fold(text.upper()) == fold(text)


@given(st.text(max_size=60))
def test_folding_in_place_keeps_every_position(text: str) -> None:
    folded = fold_in_place(text)
    assert len(folded) == len(text)
    assert all(
        one == fold(letter)
        for one, letter in zip(folded, text, strict=True)
        if letter.isalpha() and len(fold(letter)) == 1 and letter != "ʼ"
    )


def test_every_apostrophe_and_dash_is_one_sign_in_place() -> None:
    assert fold_in_place("’‘ʼ´ ‐‑‒–—−") == "'''' ------"


def test_the_case_alone_can_be_folded() -> None:
    assert fold_case("İRAN Isparta Çin") == "iran isparta çin"


def test_function_words_are_folded_and_both_norwegians_share_theirs() -> None:
    assert "fur" in stopwords("de")
    assert stopwords("nb") == stopwords("nn") == stopwords("no") != frozenset()
    assert stopwords("xx") == frozenset()
    assert all(word == fold(word) for language in listed_stopwords() for word in stopwords(language))
