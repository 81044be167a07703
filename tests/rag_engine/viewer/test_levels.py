"""A statute is drawn as it reads: its headings by their depth, its points below their paragraphs."""

import pytest

from rag_engine.types.document import BlockKind
from rag_engine.viewer.levels import paragraph_levels
from rag_engine.viewer.pages import Paragraph


def levels(*paragraphs: tuple[BlockKind, str], depths: dict[str, int] | None = None) -> list[int]:
    text, found = "", []
    for kind, words in paragraphs:
        start = len(text) + 2 * bool(text)
        text = f"{text}\n\n{words}" if text else words
        found.append(Paragraph(kind, start, len(text)))
    known = {text.index(words): depth for words, depth in (depths or {}).items()}
    return list(paragraph_levels(text, found, known))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1. The fee is:", "(a) 35 euros;", "(b) 5 euros.", "2. It is due."], [0, 1, 1, 0]),
        (["(1) It has", "1. maps and", "a) of rivers", "b) of dams", "2. lists.", "(2) Text."], [0, 1, 2, 2, 1, 0]),
        (["(a) first", "(i) one", "(ii) two", "(b) second"], [0, 1, 1, 0]),
        (["(g) seven", "(h) eight", "(i) nine", "(j) ten"], [0, 0, 0, 0]),
        (["The fee is:", "(a) 35 euros;", "(b) 5 euros.", "It is due."], [0, 1, 1, 0]),
        (["(a) The Secretary shall—", "(1) count; and", "(A) wash", "(i) dry", "(2) sing"], [0, 1, 2, 3, 1]),
        (["Boats are:", "– washed", "– dried"], [0, 1, 1]),
        (["No boat is left.", "A boat is washed.", "2024 was wet.", "Art. 5 applies."], [0, 0, 0, 0]),
        (["I. Boats", "II. Dogs"], [0, 0]),
    ],
)  # fmt: skip
def test_paragraphs_are_indented_by_their_markers(lines: list[str], expected: list[int]) -> None:
    assert levels(*(("text", line) for line in lines)) == expected


def test_headings_have_their_depth_and_begin_anew() -> None:
    found = levels(
        ("heading", "Beaches Act"), ("heading", "Part I"), ("heading", "Article 1"), ("text", "1. Boats:"),
        ("text", "(a) large"), ("note", "[1] Of 2001."), ("heading", "Article 2"), ("text", "(a) small"),
        depths={"Beaches Act": 0, "Part I": 1, "Article 1": 2, "Article 2": 2},
    )  # fmt: skip
    assert found == [0, 1, 2, 0, 1, 1, 2, 0]


def test_no_heading_is_two_levels_below_the_one_before() -> None:
    found = levels(("heading", "Act"), ("heading", "Article 1"), depths={"Act": 0, "Article 1": 3})
    assert found == [0, 1]
