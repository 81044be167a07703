"""Numbers and notes in the margins, put to the paragraphs beside them; pure geometry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ingestion.extraction.layout.margin_numbers import (
    NOT_NUMBERED,
    Numbered,
    number_columns,
    numbered_pages,
    without_number,
)
from ingestion.extraction.layout.ruled_tables import holds
from ingestion.extraction.layout.text_rows import LABEL, PrintedLine, TextRow, rows_of
from rag_engine.types.document import Box

# Shares of a page's width: what is wider is no note in a margin; from which a line is one of the text.
_NARROW, _WIDE = 0.24, 0.3
# Notes in margins are set smaller than the text; those that are not have more lines of text to each, as no table has.
_SMALLER, _ROWS = 0.92, 3
# Share of the lines of the text that may reach into the margin, such as a heading.
_STRAY = 0.05
_FEWEST_LINES = 6
# Notes have at most this share of the words beside them, or they are a column.
_MOST_WORDS = 0.4
# No margin has more; each is looked for among all rows.
_MOST_LINES = 500


_WORD = re.compile(r"[^\W\d_]{4}")


@dataclass(frozen=True, slots=True)
class MarginText:
    """Lines in a margin that belong together: the number of a paragraph, or a note."""

    lines: tuple[PrintedLine, ...]
    number: bool

    @property
    def height(self) -> float:
        """The middle of its first line, where the paragraph stands that it belongs to."""
        first = self.lines[0].box
        return (first.y0 + first.y1) / 2


def without_margins(
    lines: Sequence[PrintedLine], width: float, tables: Sequence[Box], numbered: Numbered
) -> tuple[list[PrintedLine], list[MarginText]]:
    """Return the lines of the text of a page, and the numbers and notes in its margins."""
    numbers = [MarginText((lines[at],), True) for at in sorted(numbered.paragraphs)]
    text = lines
    if numbered is not NOT_NUMBERED:
        gone = numbered.dropped | numbered.paragraphs
        text = [without_number(line, at, numbered) for at, line in enumerate(lines) if at not in gone]
    notes = _notes(text, width, tables)
    of_notes = {id(line) for note in notes for line in note.lines}
    return [line for line in text if id(line) not in of_notes], [*numbers, *notes]


def _notes(lines: Sequence[PrintedLine], width: float, tables: Sequence[Box]) -> list[MarginText]:
    """Return the notes that are printed small in one margin of a page."""
    narrow = [line for line in lines if line.box.x1 - line.box.x0 <= _NARROW * width and not line.turned]
    wide = [line for line in lines if line.box.x1 - line.box.x0 >= _WIDE * width]
    if len(wide) < _FEWEST_LINES or not narrow:
        return []
    usual = median(line.size for line in wide)
    starts = sorted(line.box.x0 for line in wide)
    ends = sorted(line.box.x1 for line in wide)
    stray = int(_STRAY * len(wide))
    edges = starts[stray], ends[-1 - stray]
    notes: list[MarginText] = []
    free = [line for line in narrow if line.size <= usual and not any(holds(table, line.box) for table in tables)]
    for outside in (
        [line for line in free if line.box.x1 <= edges[0]],
        [line for line in free if line.box.x0 >= edges[1]],
    ):
        if outside and _are_few(outside, wide):
            found = _grouped(outside, wide)
            small = median(line.size for line in outside) <= _SMALLER * usual
            notes += found if small or _are_plainly_notes(found, narrow, len(wide)) else []
    return notes


def _are_plainly_notes(notes: Sequence[MarginText], narrow: Sequence[PrintedLine], wide: int) -> bool:
    """Return whether texts as large as those beside them are notes, neither cells nor marks of items."""
    own = {id(line) for note in notes for line in note.lines}
    cells = [line.box for line in narrow if id(line) not in own]
    firsts = [note.lines[0] for note in notes]
    return _ROWS * len(notes) <= wide and all(
        _WORD.search(line.text) and not any(box.y0 < line.box.y1 - 1 and line.box.y0 + 1 < box.y1 for box in cells)
        for line in firsts
    )


def _are_few(outside: Sequence[PrintedLine], wide: Sequence[PrintedLine]) -> bool:
    words = sum(len(line.text) for line in outside)
    return len(outside) <= _MOST_LINES and words <= _MOST_WORDS * sum(len(line.text) for line in wide)


def _grouped(outside: Sequence[PrintedLine], wide: Sequence[PrintedLine]) -> list[MarginText]:
    """Return the lines of a margin as notes, each beside a line of the text."""
    groups: list[list[PrintedLine]] = []
    for line in sorted(outside, key=lambda line: line.box.y0):
        last = groups[-1][-1] if groups else None
        if last is not None and line.box.y0 - last.box.y1 < 0.5 * last.size and abs(line.size - last.size) < 0.5:
            groups[-1].append(line)
        else:
            groups.append([line])
    return [MarginText(tuple(group), False) for group in groups if _is_worded(group) and _is_beside(group, wide)]


def _is_worded(group: Sequence[PrintedLine]) -> bool:
    """Return whether lines have letters, and are not the mark of an item."""
    return not LABEL.fullmatch(group[0].text) and any(map(str.isalpha, "".join(line.text for line in group)))


def _is_beside(group: Sequence[PrintedLine], wide: Iterable[PrintedLine]) -> bool:
    return any(line.box.y0 < group[-1].box.y1 and group[0].box.y0 < line.box.y1 for line in wide)


def with_margins(rows: tuple[TextRow, ...], margins: Sequence[MarginText]) -> tuple[TextRow, ...]:
    """Return the rows of a page, each with the numbers and notes in the margin beside it."""
    if not margins or not rows:
        return rows
    placed = list(rows)
    for block, text in enumerate(margins, 1 + max(row.block for row in rows)):
        at = _beside(text, placed)
        row = placed[at]
        if text.number:
            number = " ".join(filter(None, (row.number, text.lines[0].text)))
            placed[at] = replace(row, number=number)
        else:
            notes = rows_of([replace(line, block=block) for line in text.lines])
            placed[at] = replace(row, notes=(*row.notes, *notes))
    return tuple(placed)


def _beside(text: MarginText, rows: Sequence[TextRow]) -> int:
    """Return the place of the row that a text in the margin is nearest to: at its height, and beside it."""
    box = text.lines[0].box

    def distance(row: TextRow) -> tuple[float, float]:
        above = max(row.box.y0 - text.height, text.height - row.box.y1, 0.0)
        across = max(row.box.x0 - box.x1, box.x0 - row.box.x1, 0.0)
        return above, across

    return min(range(len(rows)), key=lambda at: distance(rows[at]) if not rows[at].turned else (float("inf"), 0.0))


def rows_of_pages(
    pages: Mapping[int, Sequence[PrintedLine]], widths: Mapping[int, float]
) -> dict[int, tuple[TextRow, ...]]:
    """Return the rows of level lines of pages, with what is in their margins beside them."""
    columns = {number: number_columns(lines, widths[number], ()) for number, lines in pages.items()}
    numbered = numbered_pages(columns)
    rows = {}
    for number, lines in pages.items():
        text, margins = without_margins(lines, widths[number], (), numbered.get(number, NOT_NUMBERED))
        rows[number] = with_margins(rows_of(text), margins)
    return rows
