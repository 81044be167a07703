"""Rows of a page to paragraphs, headings, tables and notes; pure geometry, no PDF library."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ingestion.extraction.assemble import DraftBlock
from ingestion.extraction.layout.hyphenation import join_lines
from ingestion.extraction.layout.quarter_turns import block_turned_back, size_of
from ingestion.extraction.layout.text_rows import LABEL, PageRows, TextRow
from ingestion.extraction.table_grid import GridCell, TableGrid, around, table_of, without_leader
from ingestion.extraction.table_text import table_block
from rag_engine.text.raised import RAISED
from rag_engine.types.document import BlockKind, Box

# No sentence ends in more quotation marks, brackets and note numbers than this.
_LONGEST_END = 12
_BULLET = re.compile(r"[•▪●○■□◦‣]\s")
_SENTENCE_END = re.compile(r"[.:;!?…][\"'”’»)\]]*\d{0,3}$")
_NOTE_MARK = re.compile(r"(?:\d{1,3}|[*†‡§]|[a-z](?=\s))")
_RAISED_MARK = re.compile(f"[⁽(]?[{RAISED}]")
# Sizes of notes, as shares of the text's; one whose mark is raised may be nearly as large.
# Share of a page from its head where few notes stand.
_UPPER = 0.4
_NOTE_SIZE, _MARKED_SIZE = 0.87, 0.97
# "2.1 Scope", "§ 3", "Art. 4": what lists of contents and statutes number their lines with.
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})*\s+[^\W\d_]|§+\s*\d|Art(?:icle|icolo|igo|ículo|ikel|\.)?\s*\d")


def ends_sentence(text: str) -> bool:
    """Return whether a text ends as sentences do.

    With their sign, and the quotes and note numbers after it.

    >>> ends_sentence("Mayors warn the public.”12"), ends_sentence("Mayors warn the")
    (True, False)
    """
    return _SENTENCE_END.search(text, max(0, len(text) - _LONGEST_END)) is not None


def body_size(pages: Iterable[PageRows]) -> float:
    """Return the font size, in points, that most characters are set in; 0 if nothing was printed."""
    sizes: Counter[float] = Counter()
    for page in pages:
        if not page.recognised:
            for row in page.rows:
                sizes[row.size] += len(row.text)
    rounded: Counter[float] = Counter()
    for size, characters in sizes.items():
        rounded[round(size * 2) / 2] += characters
    return max(rounded, key=rounded.__getitem__) if rounded else 0.0


def blocks_of(page: PageRows, body: float, vocabulary: frozenset[str]) -> list[DraftBlock]:
    """Return the blocks of a page in reading order, notes last, given the document's body size and words."""
    if not any(row.turned for row in page.rows):
        return _level_blocks(page, body, vocabulary)
    blocks: list[DraftBlock] = []
    for quarters, rows in groupby(page.rows, key=lambda row: row.turned):
        width, height = size_of(quarters, page.width, page.height)
        side = replace(page, rows=tuple(rows), width=width, height=height)
        found = _level_blocks(side, body, vocabulary)
        blocks += (
            [block_turned_back(block, quarters, page.width, page.height) for block in found] if quarters else found
        )
    return sorted(blocks, key=lambda block: block.kind == "note")


def _level_blocks(page: PageRows, body: float, vocabulary: frozenset[str]) -> list[DraftBlock]:
    texts, notes = _noted(_paragraphs(page.rows), page, body)
    drafts = [draft for rows in _joined(texts, page) for draft in _drafts(rows, page, body, vocabulary)]
    return drafts + [_draft(rows, "note", page, vocabulary) for rows in _joined(notes, page)]


def _drafts(rows: Sequence[TextRow], page: PageRows, body: float, vocabulary: frozenset[str]) -> Iterator[DraftBlock]:
    """Yield the notes in the margin beside a paragraph, and the paragraph with its number in the margin."""
    asides = [note for row in rows for note in row.notes]
    for _, grouped in groupby(asides, key=lambda row: row.block):
        note = list(grouped)
        yield replace(_draft(note, _kind(note, page, body), page, vocabulary), aside=True)
    number = " ".join(row.number for row in rows if row.number)
    draft = _draft(rows, _kind(rows, page, body), page, vocabulary)
    yield replace(draft, number=number) if number else draft


def _draft(rows: Sequence[TextRow], kind: BlockKind, page: PageRows, vocabulary: frozenset[str]) -> DraftBlock:
    size = None if page.recognised else round(max(rows, key=lambda row: len(row.text)).size, 1)
    if kind == "table":
        table = rows[0].table or aligned_table(rows, page.number)
        return table_block(table, page.number, size)
    joined = join_lines([(row.text.replace(" | ", " "), row.box) for row in rows], vocabulary)
    places = rows[0].places if len(rows) == 1 and rows[0].cells > 1 else ()
    return DraftBlock(page.number, kind, joined, size, places=places)


def _noted(
    paragraphs: Sequence[list[TextRow]], page: PageRows, body: float
) -> tuple[list[list[TextRow]], list[list[TextRow]]]:
    """Return the paragraphs of the text and the notes below it, each in reading order."""
    texts: list[list[TextRow]] = []
    notes: list[list[TextRow]] = []
    after_note = False
    for rows in paragraphs:
        after_note = not page.recognised and _is_note(rows, page, body, after_note)
        if not after_note:
            texts.append(rows)
            continue
        if not notes:
            # The rest of the notes of the page before, which has no mark of its own; cut from the end of the texts.
            while texts and _is_note(texts[-1], page, body, True) and not LABEL.match(texts[-1][0].text):
                notes.insert(0, texts.pop())
                if not notes[0][0].text[0].islower():
                    break
        notes += [[replace(row, cells=1)] for row in rows] if _is_table(rows) else [rows]
    return texts, notes


def _is_note(rows: Sequence[TextRow], page: PageRows, body: float, after_note: bool) -> bool:
    first = rows[0]
    largest = max(first.size, max(rows, key=lambda row: len(row.text)).size)
    if first.table is not None or largest > _MARKED_SIZE * body:
        return False
    is_marked, is_small = _RAISED_MARK.match(first.text) is not None, largest <= _NOTE_SIZE * body
    if first.box.y0 <= _UPPER * page.height:
        # Where a column ends early.
        return is_marked and is_small
    if is_marked or not is_small:
        return is_marked
    if _is_table(rows):
        # Short notes look like a table of two columns, whose first holds their numbers.
        return all(row.cells == 2 and row.text.partition(" | ")[0].isdecimal() for row in rows)
    return after_note or _NOTE_MARK.match(first.text) is not None


def _paragraphs(rows: Sequence[TextRow]) -> list[list[TextRow]]:
    """Rows cut where a paragraph ends inside a block, and at every block."""
    paragraphs: list[list[TextRow]] = []
    edges: dict[int, tuple[float, float]] = {}
    for row in rows:
        left, right = edges.get(row.block, (row.box.x0, row.box.x1))
        edges[row.block] = min(left, row.box.x0), max(right, row.box.x1)
    above: TextRow | None = None
    for row in rows:
        if above is not None and row.block == above.block and not _begins(row, above, *edges[row.block]):
            paragraphs[-1].append(row)
        else:
            paragraphs.append([row])
        above = row
    return paragraphs


def _begins(row: TextRow, above: TextRow, left_edge: float, right_edge: float) -> bool:
    if row.cells > 1 or above.cells > 1:
        # A wrapped cell of a table is alone on its row and still belongs to the table.
        return row.cells == 1 and _BULLET.match(row.text) is not None
    ended = ends_sentence(above.text)
    broken_off = not ended and row.text[0].islower()
    if abs(row.size - above.size) > 0.12 * above.size or (row.bold != above.bold and not broken_off):
        return True
    if row.box.y0 - above.box.y1 > 0.6 * above.size or _BULLET.match(row.text):
        return True
    if broken_off:
        return False
    ends_short = above.box.x1 < right_edge - 3 * above.size
    if ended:
        return (
            ends_short
            or row.number != ""
            or row.box.x0 > above.box.x0 + 0.8 * above.size
            or LABEL.match(row.text) is not None
        )
    # Lines of a list of contents, and a numbered heading set like the text above or below it.
    if ends_short and _NUMBERED.match(row.text):
        return True
    half = above.box.x1 < left_edge + 0.6 * (right_edge - left_edge)
    return half and above.box.x0 < left_edge + above.size and _NUMBERED.match(above.text) is not None


def _joined(paragraphs: Iterable[list[TextRow]], page: PageRows) -> list[list[TextRow]]:
    """Paragraphs that the library cut, because of wide leading or the end of a column, made whole again."""
    joined: list[list[TextRow]] = []
    tabular_before = False
    for rows in paragraphs:
        tabular = _tabular(rows)
        ruled = rows[0].table or (joined and joined[-1][-1].table)
        continues = (
            joined
            and not ruled
            and (tabular if tabular_before else not tabular and _continues(rows[0], joined[-1][-1], page))
        )
        if continues:
            joined[-1].extend(rows)
        else:
            joined.append(rows)
        tabular_before = tabular
    return joined


def _continues(row: TextRow, above: TextRow, page: PageRows) -> bool:
    if row.bold != above.bold or row.cells > 1 or above.cells > 1 or abs(row.size - above.size) > 0.05 * above.size:
        return False
    if ends_sentence(above.text) or LABEL.match(row.text):
        return False
    if row.box.y0 < above.box.y0:
        next_column = row.box.x0 > above.box.x1 - above.size
        return next_column and row.text[0].islower()
    near = row.box.y0 - above.box.y1 < 1.3 * above.size
    filled = above.box.x1 - above.box.x0 > 0.55 * page.width
    return near and abs(row.box.x0 - above.box.x0) < 4 * above.size and (filled or row.text[0].islower())


def _tabular(rows: Sequence[TextRow]) -> bool:
    if len(rows) == 1:
        return rows[0].cells > 1
    return 2 * sum(row.cells > 1 for row in rows) >= len(rows)


def _is_table(rows: Sequence[TextRow]) -> bool:
    if rows[0].table is not None:
        return True
    return _tabular(rows) and (rows[0].cells > 2 or sum(row.cells > 1 for row in rows) > 1)


def _kind(rows: Sequence[TextRow], page: PageRows, body: float) -> BlockKind:
    if _is_table(rows):
        return "table"
    if page.recognised:
        return "text"
    first = rows[0]
    size = first.size if len(rows) == 1 else max(rows, key=lambda row: len(row.text)).size
    bold = first.bold and size >= 0.9 * body
    if not bold and size < 1.12 * body:
        return "text"
    length = sum(len(row.text) for row in rows)
    lettered = any(character.isalpha() for character in first.text)
    if not lettered or first.text[0].islower():
        return "text"
    if size >= 1.12 * body and length <= 250:
        return "heading"
    return "heading" if bold and length <= 150 and rows[-1].text[-1] not in ",;" else "text"


@dataclass(slots=True)
class _Column:
    """The horizontal extent of a column."""

    x0: float
    x1: float


def aligned_table(rows: Sequence[TextRow], page: int) -> TableGrid:
    """Return the table of rows of a page, each cell in its column.

    The columns are those of the rows with the most usual number of cells; a cell over several columns is merged.
    """
    columns = _columns(rows)
    laid: list[list[GridCell]] = []
    for row in rows:
        cells = row.places or (GridCell(row.text, box=row.box, bold=row.bold),)
        places = [replace(cell, text=without_leader(cell.text), page=page) for cell in cells]
        if laid and len(places) == 1 and _continues_column(places[0], laid[-1], columns):
            laid[-1] = _continued(laid[-1], places[0], columns)
            continue
        placed = _placed(places, columns)
        if laid and _ends_label(laid[-1], placed):
            above = laid.pop()[0]
            label = replace(placed[0], text=f"{above.text} {placed[0].text}", box=_around(above.box, placed[0].box))
            placed = [label, *placed[1:]]
        laid.append(placed)
    return table_of(laid, aligned=True)


def _ends_label(above: Sequence[GridCell], row: Sequence[GridCell]) -> bool:
    """Return whether a row begins with the rest of a label that is alone in the row above."""
    alone = bool(above[0].text) and not any(cell.text for cell in above[1:])
    return alone and above[0].columns == row[0].columns == 1 and row[0].text[:1].islower()


def _columns(rows: Sequence[TextRow]) -> list[_Column]:
    counts = Counter(len(row.places) for row in rows if len(row.places) > 1)
    usual = max(counts, key=lambda count: (counts[count], count))
    columns: list[_Column] = []
    for row in rows:
        if len(row.places) != usual:
            continue
        boxes = [cell.box for cell in row.places if cell.box is not None]
        if not columns:
            columns = [_Column(box.x0, box.x1) for box in boxes]
            continue
        for column, box in zip(columns, boxes, strict=True):
            # Rows that are not aligned with the others do not widen a column over its neighbours.
            if box.x0 < column.x1 and column.x0 < box.x1:
                column.x0, column.x1 = min(column.x0, box.x0), max(column.x1, box.x1)
    return columns


def _placed(cells: Sequence[GridCell], columns: Sequence[_Column]) -> list[GridCell]:
    """Return the cells of a row with an empty cell in each column without one."""
    row: list[GridCell] = []
    at = 0
    for number, cell in enumerate(cells):
        first, beyond = _reach(cell, columns)
        # As many places as there are cells to come are left free.
        first = max(at, min(first, len(columns) - (len(cells) - number)))
        beyond = max(first + 1, min(beyond, len(columns) - (len(cells) - number - 1)))
        row += [GridCell("") for _ in range(first - at)]
        # A line of words over all columns is none of the table's names, unless it stands out.
        single = len(cells) == 1 and not cell.bold
        row.append(cell if single else replace(cell, columns=beyond - first))
        row += [GridCell("") for _ in range(beyond - first - 1)] if single else []
        at = beyond
    return row


def _reach(cell: GridCell, columns: Sequence[_Column]) -> tuple[int, int]:
    """Return the first column of a cell, and the column after its last.

    Else those of the nearest.
    """
    box = cell.box
    if box is None:
        return 0, 1
    inside = [at for at, column in enumerate(columns) if box.x0 < column.x1 - 1 and column.x0 + 1 < box.x1]
    if inside:
        return inside[0], inside[-1] + 1
    nearest = min(range(len(columns)), key=lambda at: abs(columns[at].x0 + columns[at].x1 - box.x0 - box.x1))
    return nearest, nearest + 1


def _continues_column(cell: GridCell, above: Sequence[GridCell], columns: Sequence[_Column]) -> bool:
    """Return whether a cell that is alone in its row is the rest of one in the row above."""
    first, beyond = _reach(cell, columns)
    upper = _at(above, first)
    return beyond == first + 1 and upper is not None and bool(upper.text) and cell.text[:1].islower()


def _continued(above: Sequence[GridCell], cell: GridCell, columns: Sequence[_Column]) -> list[GridCell]:
    upper = _at(above, _reach(cell, columns)[0])
    return [
        replace(one, text=f"{one.text} {cell.text}", box=_around(one.box, cell.box)) if one is upper else one
        for one in above
    ]


def _at(row: Sequence[GridCell], column: int) -> GridCell | None:
    reached = 0
    for cell in row:
        reached += cell.columns
        if column < reached:
            return cell
    return None


def _around(a: Box | None, b: Box | None) -> Box | None:
    if a is None or b is None:
        return a or b
    return around((a, b))
