"""Words are found in a document as a person types them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.types.document import Line
from rag_engine.viewer.find import find_words
from rag_engine.viewer.pages import PagedText

_TEXT = "Die Überprüfung der\nHochwasserpläne. Die überprüfung endet."
TEXT = PagedText(_TEXT, (Line(0, 19, 1, None), Line(20, len(_TEXT), 2, None)), (), 2)


def found(words: str, limit: int = 10) -> list[tuple[str, int]]:
    return [(_TEXT[one.start : one.end], one.page) for one in find_words(TEXT, words, limit).first]


def test_words_are_found_whatever_their_case_and_accents_with_their_page() -> None:
    assert found("uberprufung") == [("Überprüfung", 1), ("überprüfung", 2)]


def test_a_phrase_is_found_across_lines() -> None:
    assert found("überprüfung  der hochwasser") == [("Überprüfung der\nHochwasser", 1)]


def test_signs_have_no_meaning_of_their_own() -> None:
    assert found("endet.") == [("endet.", 2)]
    assert found(".*") == []


@pytest.mark.parametrize("words", ["", "  \n"])
def test_nothing_is_found_for_nothing(words: str) -> None:
    assert found(words) == []


@given(st.text(max_size=80), st.integers(0, 79), st.integers(1, 20))
def test_every_piece_of_a_text_is_found_where_it_is(text: str, start: int, length: int) -> None:
    piece = text[start : start + length].strip()
    document = PagedText(text, (Line(0, len(text), 1, None),), (), 1)
    places = [(one.start, one.end) for one in find_words(document, piece, 1000).first]
    assert not piece or any(text[a:b] == piece for a, b in places)
