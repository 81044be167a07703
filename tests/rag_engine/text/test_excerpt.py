"""The part of a passage that is shown holds what is quoted, and no word is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.excerpt import beginning, excerpt

TEXT = "The plan is valid for six years. " * 40


def joined(pieces: list[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in pieces)


def test_the_quote_is_marked_with_words_before_it() -> None:
    start = TEXT.index("six years", 600)

    pieces = excerpt(TEXT, [(start, start + 9)], 0, 200)

    assert [text for text, marked in pieces if marked] == ["six years"]
    assert pieces[0][0] == "… "
    assert pieces[1][0].startswith(("The", "plan", "is", "valid", "for", "six", "years."))


def test_a_beginning_ends_with_a_word() -> None:
    assert beginning("The plan is valid for six years.", 9) == "The plan is …"
    assert beginning("The plan.", 9) == "The plan."


def test_a_short_text_is_shown_whole() -> None:
    assert excerpt("Short.", [], 0, 100) == [("Short.", False)]


def test_overlapping_quotes_are_marked_once() -> None:
    assert excerpt("abcdef", [(1, 3), (2, 5)], 0, 10) == [("a", False), ("bcde", True), ("f", False)]


@given(st.text(max_size=400), st.data())
def test_an_excerpt_is_a_piece_of_the_text_and_holds_the_whole_first_quote(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    length = data.draw(st.integers(1, 120))

    pieces = excerpt(text, [(start, end)], 0, length)

    body = joined([piece for piece in pieces if piece not in (("… ", False), (" …", False))])
    assert body in text
    if start < end:
        assert text[start:end] in [piece for piece, marked in pieces if marked]
