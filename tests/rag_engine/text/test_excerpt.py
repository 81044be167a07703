"""The part of a passage that is shown holds what is quoted, and no word is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.excerpt import beginning, excerpt, shortened, word_end, word_start

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


@pytest.mark.parametrize(
    ("length", "shown"),
    [(9, "The …"), (10, "The plan …"), (11, "The plan …"), (31, "The plan is valid for six …"), (32, None)],
)
def test_what_is_shortened_has_the_words_that_fit(length: int, shown: str | None) -> None:
    text = "The plan is valid for six years."
    assert shortened(text, length) == (shown or text)


@given(st.text(max_size=200), st.integers(3, 120))
def test_what_is_shortened_fits_and_is_the_beginning(text: str, length: int) -> None:
    shown = shortened(text, length)
    assert len(shown) <= length
    assert shown == text or text.startswith(shown.removesuffix(" …"))


def test_neither_the_first_nor_the_last_word_of_a_text_is_cut() -> None:
    assert excerpt("River basin plan", [(6, 11)], 0, 8)[0] == ("River ", False)
    assert beginning("Wardens walk along the crest", 25) == "Wardens walk along the crest"


def test_a_list_without_blanks_is_cut_at_its_commas() -> None:
    hazards = ",".join(["hail", "hailstone", "hailstorm"] * 20)
    cut = hazards.index("hailstorm", 200) + 7
    assert hazards[: word_end(hazards, cut)].endswith(",hailstorm")
    assert hazards[word_start(hazards, cut) :].startswith("hailstorm,")


def test_a_long_compound_is_not_cut() -> None:
    compound = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
    text = f"{'Das Gesetz heißt ' * 9}{compound} {'und gilt noch. ' * 9}"
    cut = text.index("kettierung")
    assert text[word_start(text, cut) : word_end(text, cut)] == compound


@pytest.mark.parametrize("script", ["a", "洪", "น้ำ"])
def test_a_text_without_blanks_is_cut_near_the_length(script: str) -> None:
    text = script * 400_000
    assert len(beginning(text, 100)) < 200
    assert sum(len(piece) for piece, _ in excerpt(text, [(200_000, 200_010)], 0, 100)) < 300


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
