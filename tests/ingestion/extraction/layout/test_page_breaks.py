from __future__ import annotations

from ingestion.extraction.assemble import DraftBlock, DraftLine, assemble
from ingestion.extraction.layout.page_breaks import joined_over_pages
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from rag_engine.types.document import BlockKind, Box

NO_WORDS: frozenset[str] = frozenset()


def block(page: int, *lines: str, kind: BlockKind = "text", width: float = 400) -> DraftBlock:
    return DraftBlock(page, kind, tuple(DraftLine(line, Box(72, 10, 72 + width, 22)) for line in lines), 11.0)


def text_of(*pages: list[DraftBlock]) -> str:
    return assemble(joined_over_pages(pages, NO_WORDS))[0]


def test_a_sentence_over_a_page_break_is_whole_and_its_notes_stand_before_it() -> None:
    pages = (
        [block(1, "The plan of the"), block(1, "1 See the annex.", kind="note")],
        [block(2, "river holds."), block(2, "End.")],
    )
    text, lines, blocks, _ = assemble(joined_over_pages(pages, NO_WORDS))
    assert text == "1 See the annex.\n\nThe plan of the river holds.\n\nEnd."
    assert [line.page for line in lines] == [1, 1, 2, 2]
    assert [one.page for one in blocks] == [1, 1, 2]
    assert all(line.box is not None for line in lines)


def test_a_sentence_over_three_pages_is_whole_and_no_block_goes_back_a_page() -> None:
    note = [block(page, f"{page} See there.", kind="note") for page in (1, 2)]
    pages = [block(1, "The plan"), note[0]], [block(2, "of the river"), note[1]], [block(3, "holds."), block(3, "End.")]
    text, _, blocks, _ = assemble(joined_over_pages(pages, NO_WORDS))
    assert text == "1 See there.\n\nThe plan of the river holds.\n\n2 See there.\n\nEnd."
    assert [one.page for one in blocks] == [1, 1, 2, 3]


def test_a_word_that_is_cut_by_the_page_is_made_whole() -> None:
    assert (
        text_of([block(1, "die örtlichen Feuer-")], [block(2, "wehren planen.")]) == "die örtlichen Feuerwehren planen."
    )
    assert text_of([block(1, "from Soekarno-")], [block(2, "Hatta Airport.")]) == "from Soekarno-Hatta Airport."


def test_a_sentence_that_has_ended_an_item_and_a_heading_begin_anew() -> None:
    assert text_of([block(1, "It holds.")], [block(2, "river plans")]) == "It holds.\n\nriver plans"
    assert text_of([block(1, "They shall")], [block(2, "a) plan rivers")]) == "They shall\n\na) plan rivers"
    heading = block(2, "rivers", kind="heading")
    assert text_of([block(1, "They shall")], [heading]) == "They shall\n\nrivers"


def test_what_begins_with_a_capital_goes_on_only_from_a_full_line() -> None:
    full = block(1, "Der Plan gilt für die Städte,", "für alle Gemeinden und für ihre")
    short = DraftBlock(1, "text", (full.lines[0], DraftLine("Anlage 1", Box(72, 30, 120, 42))), 11.0)
    assert (
        text_of([full], [block(2, "Flüsse.")])
        == "Der Plan gilt für die Städte, für alle Gemeinden und für ihre Flüsse."
    )
    assert text_of([short], [block(2, "Flüsse.")]) == "Der Plan gilt für die Städte, Anlage 1\n\nFlüsse."


def test_the_notes_of_a_page_follow_its_text_when_nothing_goes_on() -> None:
    note = block(1, "1 See there.", kind="note")
    assert text_of([block(1, "Total 40"), note], [block(2, "New.")]) == "Total 40\n\n1 See there.\n\nNew."
    assert text_of([block(1, "Total 40"), note]) == "Total 40\n\n1 See there."


def test_a_table_goes_on_under_the_header_of_the_page_before() -> None:
    def block(page: int, *rows: tuple[str, str]) -> DraftBlock:
        return table_block(table_of([[GridCell(text, box=Box(0, 0, 9, 9)) for text in row] for row in rows]), page)

    pages = [[block(1, ("River", "Level"), ("Po", "12"))], [block(2, ("Elbe", "7"), ("Oder", "9"))]]
    text, lines, *_ = assemble(joined_over_pages(pages, NO_WORDS))
    assert text.split("\n\n") == [
        "River | Level", "River: Po; Level: 12", "River: Elbe; Level: 7", "River: Oder; Level: 9"
    ]  # fmt: skip
    assert [(line.page, line.box is None) for line in lines] == [(1, False), (1, False), (2, False), (2, False)]
