"""A page shows its own text, all of it."""

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.types.document import Block, Box, Line
from rag_engine.viewer.pages import PagedText, Paragraph, fitting_paragraphs, page_paragraphs, text_layer

_TEXT = "First page.¹\n\nSecond page.\n\n¹ A note."
_BOX = Box(10, 20, 110, 30)
# The note is on the first page, and is read after the second begins.
DRAWN = PagedText(
    _TEXT, (Line(0, 12, 1, _BOX), Line(14, 26, 2, _BOX), Line(28, 37, 1, _BOX)), (Block(0, 12, 1, "text"),), 2
)


def test_a_page_has_its_lines_also_where_another_page_comes_between() -> None:
    assert [line.text for line in text_layer(DRAWN, 1)] == ["First page.¹", "¹ A note."]


def test_a_page_without_text_has_an_empty_layer() -> None:
    assert text_layer(DRAWN, 3) == ()


def test_a_format_is_drawn_when_a_line_of_it_has_a_box() -> None:
    assert DRAWN.is_drawn
    assert not PagedText("a", (Line(0, 1, 1, None),), (), 1).is_drawn


def test_a_page_out_of_range_is_the_nearest_one() -> None:
    assert [DRAWN.clamp_page(page) for page in (-4, 0, 2, 999_999_999)] == [1, 1, 2, 2]
    assert PagedText("", (), (), 0).clamp_page(7) == 1


@given(
    st.lists(st.tuples(st.text(alphabet="ab \n", min_size=1, max_size=12), st.booleans()), max_size=8),
    st.integers(1, 3),
)
def test_the_paragraphs_of_the_pages_hold_all_of_a_text_once(pieces: list[tuple[str, bool]], pages: int) -> None:
    text, lines, blocks = "", list[Line](), list[Block]()
    for number, (piece, is_block) in enumerate(pieces):
        start, page = len(text), 1 + number * pages // len(pieces)
        text += piece
        lines.append(Line(start, len(text), page, None))
        if is_block:
            blocks.append(Block(start, len(text), page, "text"))
    document = PagedText(text, tuple(lines), tuple(blocks), pages)

    shown = [text[one.start : one.end] for page in range(1, pages + 1) for one in page_paragraphs(document, page)]

    assert "".join("".join(shown).split()) == "".join(text.split())


def test_of_a_sheet_of_a_million_rows_the_part_around_the_passage_is_shown() -> None:
    text = "Heading\n\n" + "Name of the town: Milltown; year: 1953\n\n" * 100_000
    heading, sheet = Paragraph("heading", 0, 7), Paragraph("table", 9, len(text) - 2)
    assert fitting_paragraphs(text, [heading], None) == [heading]
    first = fitting_paragraphs(text, [heading, sheet], None)
    assert first[0] == heading
    assert 200_000 < first[1].end - first[1].start <= 300_000
    middle = len(text) // 2
    [around] = fitting_paragraphs(text, [heading, sheet], (middle, middle + 30))
    assert around.start < middle < around.end
    assert text[around.start :].startswith(("Name of the town", "\n"))
    assert around.end - around.start <= 300_000
    [last] = fitting_paragraphs(text, [heading, sheet], (len(text) - 40, len(text) - 2))
    assert last.end == sheet.end
    without_lines = "x" * 1_000_000
    [cut] = fitting_paragraphs(without_lines, [Paragraph("text", 0, 1_000_000)], (700_000, 700_010))
    assert cut.start < 700_000 < cut.end <= cut.start + 300_000
