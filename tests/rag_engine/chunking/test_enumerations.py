"""Opening words of an enumeration, for an item that does not say them."""

import pytest

from rag_engine.chunking.indexed_text import opening_of


@pytest.mark.parametrize(
    ("text", "item", "opening"),
    [
        ("Die Mittel dienen:\n1. dem Bau,\n2. dem Betrieb", "2. dem", "Die Mittel dienen:"),
        ("A plan has:\n• maps\nof all rivers\n• pumps", "pumps", ""),
        ("The plan has these parts:\n• maps\nof all rivers\n• pumps", "pumps", "The plan has these parts:"),
        ("The plan has these parts:\n• maps\n\nIt is public.\n\n• pumps", "pumps", ""),
        ("The plan is public.\n• maps\n• pumps", "pumps", ""),
        ("The plan has these parts: maps and pumps.", "pumps", ""),
        ("It is public. The plan has these parts:\n(a) maps\n(b) pumps", "(a)", "The plan has these parts:"),
        ("", "", ""),
    ],
)
def test_the_opening_words_are_those_before_the_first_item(text: str, item: str, opening: str) -> None:
    assert opening_of(text, text.index(item)) == opening


def test_a_long_text_without_an_opening_is_walked_back_only_so_far() -> None:
    text = "The plan has these parts:\n" + "- one more part of the plan\n" * 2_000
    assert opening_of(text, len(text) - 5) == ""
    assert opening_of(text, 500) == "The plan has these parts:"
