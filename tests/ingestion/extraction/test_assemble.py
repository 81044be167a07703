from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.assemble import DraftBlock, DraftLine, assemble, one_line
from ingestion.extraction.table_text import table

texts = st.text(st.characters(exclude_categories=()), max_size=40)
drafts = st.lists(
    st.builds(
        DraftBlock,
        page=st.integers(1, 9),
        kind=st.sampled_from(["heading", "text", "table", "note"]),
        lines=st.lists(st.builds(DraftLine, texts, joint=st.sampled_from([" ", "", "\n"])), max_size=5).map(tuple),
    ),
    max_size=8,
)


@given(drafts)
def test_blocks_joined_by_a_blank_line_are_the_text(blocks: list[DraftBlock]) -> None:
    text, _, placed, _ = assemble(blocks)
    assert "\n\n".join(text[block.start : block.end] for block in placed) == text


@given(drafts)
def test_lines_hold_every_visible_character_once_and_in_order(blocks: list[DraftBlock]) -> None:
    text, lines, *_ = assemble(blocks)
    shown = [one_line(line.text) for block in blocks for line in block.lines]
    assert [text[line.start : line.end] for line in lines] == [line for line in shown if line]
    between = [text[a.end : b.start] for a, b in pairwise(lines)]
    assert set(between) <= {" ", "", "\n", "\n\n"}


@given(texts)
def test_tidy_text_is_one_line_that_can_be_stored_and_stays_as_it_is(text: str) -> None:
    shortened_text = one_line(text)
    assert len(shortened_text.encode("utf-8").decode().splitlines()) <= 1
    assert one_line(shortened_text) == shortened_text


def test_bullets_of_symbol_fonts_become_readable() -> None:
    assert one_line("\uf0b7 prepare") == "• prepare"


def test_table_rows_are_lines_without_empty_tails() -> None:
    text, lines, *_ = assemble([table([["Hazard", "Level", ""], ["", "", ""], ["Flood", "3", ""]])])
    assert text == "Hazard | Level\n\nHazard: Flood; Level: 3"
    assert len(lines) == 2
