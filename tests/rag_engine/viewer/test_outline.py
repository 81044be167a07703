"""The outline names each heading once, where it is."""

import pytest

from rag_engine.storage.catalog import ParentRecord
from rag_engine.types.document import Block, BlockKind, Line
from rag_engine.viewer.outline import OutlineEntry, heading_at, outline, place_in
from rag_engine.viewer.pages import PagedText

_TEXTS = (
    "II.\nThe Council\n\nArticle 4\nSeat. The council sits in Bern.",
    "It meets twice a year.",
    "Article 5\nVotes. Each has one.",
)


def parents(*placed: tuple[str, str, tuple[str, ...], int]) -> list[ParentRecord]:
    """Return parents by text, section, headings and page, one after the other with a blank line between."""
    records: list[ParentRecord] = []
    start = 0
    for index, (text, section, headings, page) in enumerate(placed):
        records.append(
            ParentRecord(index, 1, index, start, start + len(text), page, page, text, "", section, 0, headings)
        )
        start += len(text) + 2
    return records


PARENTS = parents(
    (_TEXTS[0], "Article 4", ("The Council",), 1),
    (_TEXTS[1], "Article 4", ("The Council",), 2),
    (_TEXTS[2], "Article 5", ("The Council", "Article 5 Votes."), 4),
)
TEXT = "\n\n".join(_TEXTS)
NO_LAYOUT = PagedText("", (), (), 1)


def laid_out(*placed: tuple[BlockKind, str]) -> PagedText:
    """Return a text of these blocks, each of one line, on one page."""
    text, blocks = "", list[Block]()
    for kind, words in placed:
        text += "\n\n" if text else ""
        blocks.append(Block(len(text), len(text) + len(words), 1, kind))
        text += words
    return PagedText(text, tuple(Line(one.start, one.end, 1, None) for one in blocks), tuple(blocks), 1)


PLAN = laid_out(
    ("heading", "Basin Plan"),
    ("heading", "1 Purpose"),
    ("text", "The plan protects homes."),
    ("heading", "2 Review"),
    ("text", "It is reviewed."),
)


def test_each_heading_is_named_once_with_its_page_and_depth() -> None:
    assert [(one.title, one.depth, one.page) for one in outline(PARENTS, NO_LAYOUT, "")] == [
        ("The Council", 0, 1),
        ("Article 4", 1, 1),
        ("Article 5 Votes.", 1, 4),
    ]


def test_a_heading_is_where_it_is_written_also_across_lines() -> None:
    assert [TEXT[one.start : one.end] for one in outline(PARENTS, NO_LAYOUT, "")] == [
        "The Council",
        "Article 4",
        "Article 5\nVotes.",
    ]


def test_a_heading_that_is_not_written_there_is_at_the_first_line() -> None:
    [entry] = outline(parents(("\nOne line.\nAnother.", "", ("Elsewhere",), 3)), NO_LAYOUT, "")
    assert (entry.start, entry.end) == (1, 10)


def test_a_document_without_headings_has_no_outline() -> None:
    assert outline(parents(("Text.", "", (), 1)), laid_out(("text", "Text.")), "") == ()


@pytest.mark.parametrize("cut", [1, 2])
def test_where_parents_have_no_headings_they_are_those_of_the_layout(cut: int) -> None:
    pieces = [PLAN.text] if cut == 1 else [PLAN.text[:30], PLAN.text[32:]]
    found = outline(parents(*((piece, "", (), 1) for piece in pieces)), PLAN, "Basin Plan")
    assert [(one.title, one.depth, PLAN.text[one.start : one.end]) for one in found] == [
        ("Basin Plan", 0, "Basin Plan"),
        ("1 Purpose", 1, "1 Purpose"),
        ("2 Review", 1, "2 Review"),
    ]


def test_a_single_parent_under_the_title_alone_has_the_headings_of_the_layout() -> None:
    found = outline(parents((PLAN.text, "", ("Basin Plan",), 1)), PLAN, "Basin Plan")
    assert [one.title for one in found] == ["Basin Plan", "1 Purpose", "2 Review"]


def test_a_lone_article_is_called_by_its_number() -> None:
    text = "Article 9. Works are inspected each year."
    assert [one.title for one in outline(parents((text, "Article 9", (), 1)), laid_out(("text", text)), "")] == [
        "Article 9"
    ]


def test_parents_with_headings_decide_alone() -> None:
    found = outline(
        parents(("Basin Plan", "", ("Basin Plan",), 1), ("It is reviewed.", "", ("2 Review",), 1)), PLAN, ""
    )
    assert [one.title for one in found] == ["Basin Plan", "2 Review"]


def test_the_innermost_heading_above_a_place_is_its_heading() -> None:
    entries = outline(PARENTS, NO_LAYOUT, "")
    assert heading_at(entries, TEXT.index("sits")) == "Article 4"
    assert heading_at(entries, 0) == ""


ENTRIES = (OutlineEntry("A", 0, 10, 11, 2), OutlineEntry("B", 0, 20, 21, 4), OutlineEntry("C", 1, 30, 31, 4))


def test_a_reader_is_under_the_heading_above_the_passage() -> None:
    assert place_in(ENTRIES, 4, (25, 28)) == 1


def test_a_reader_is_under_the_first_heading_of_the_page_else_the_last_before_it() -> None:
    assert [place_in(ENTRIES, page, None) for page in (1, 2, 3, 4, 9)] == [None, 0, 0, 1, 2]
