"""Rows of a page to paragraphs, headings, tables and notes; pure geometry, no PDF library."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingestion.extraction.assemble import DraftBlock
from ingestion.extraction.layout.columns import aligned_table
from ingestion.extraction.layout.hyphenation import join_lines
from ingestion.extraction.layout.text_rows import LABEL, PageRows, TextRow
from ingestion.extraction.table_text import table_block
from rag_engine.types import BlockKind

# No sentence ends in more quotation marks, brackets and note numbers than this.
_LONGEST_END = 12
_BULLET = re.compile(r"[•▪●○■□◦‣]\s")
_SENTENCE_END = re.compile(r"[.:;!?…][\"'”’»)\]]*\d{0,3}$")
_NOTE_MARK = re.compile(r"(?:\d{1,3}|[*†‡§]|[a-z](?=\s))")
# "2.1 Scope", "§ 3", "Art. 4": what lists of contents and statutes number their lines with.
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})*\s+[^\W\d_]|§+\s*\d|Art(?:icle|icolo|igo|ículo|ikel|\.)?\s*\d")


def ends_sentence(text: str) -> bool:
    """Return whether a text ends as sentences do: with their sign, and the quotes and note numbers after it."""
    return _SENTENCE_END.search(text, max(0, len(text) - _LONGEST_END)) is not None


def body_size(pages: Iterable[PageRows]) -> float:
    """Return the font size, in points, that most characters are set in; 0 when nothing was printed."""
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
    texts, notes = _noted(_paragraphs(page.rows), page, body)
    drafts = [_draft(rows, _kind(rows, page, body), page, vocabulary) for rows in _joined(texts, page)]
    return drafts + [_draft(rows, "note", page, vocabulary) for rows in _joined(notes, page)]


def _draft(rows: Sequence[TextRow], kind: BlockKind, page: PageRows, vocabulary: frozenset[str]) -> DraftBlock:
    size = None if page.recognised else round(max(rows, key=lambda row: len(row.text)).size, 1)
    if kind == "table":
        table = rows[0].table or aligned_table(rows, page.number)
        return table_block(table, page.number, size)
    joined = join_lines([(row.text.replace(" | ", " "), row.box) for row in rows], vocabulary)
    return DraftBlock(page.number, kind, joined, size)


def _noted(
    paragraphs: Sequence[list[TextRow]], page: PageRows, body: float
) -> tuple[list[list[TextRow]], list[list[TextRow]]]:
    """Return the paragraphs of the text and those of the notes below it, each in reading order."""
    texts: list[list[TextRow]] = []
    notes: list[list[TextRow]] = []
    after_note = False
    for rows in paragraphs:
        after_note = not page.recognised and _is_note(rows, page, body, after_note)
        if not after_note:
            texts.append(rows)
            continue
        if not notes:
            notes = _unmarked(texts, page, body)
        notes += [[replace(row, cells=1)] for row in rows] if _is_table(rows) else [rows]
    return texts, notes


def _unmarked(texts: list[list[TextRow]], page: PageRows, body: float) -> list[list[TextRow]]:
    """Return the rest of the notes of the page before, which has no mark of its own; cut from the end of the texts."""
    unmarked: list[list[TextRow]] = []
    while texts and _is_note(texts[-1], page, body, True) and not LABEL.match(texts[-1][0].text):
        unmarked.insert(0, texts.pop())
        if not unmarked[0][0].text[0].islower():
            break
    return unmarked


def _is_note(rows: Sequence[TextRow], page: PageRows, body: float, after_note: bool) -> bool:
    first = rows[0]
    if first.table is not None or first.size > 0.87 * body or first.box.y0 <= 0.4 * page.height:
        return False
    if max(rows, key=lambda row: len(row.text)).size > 0.87 * body:
        return False
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
        return ends_short or row.box.x0 > above.box.x0 + 0.8 * above.size or LABEL.match(row.text) is not None
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
