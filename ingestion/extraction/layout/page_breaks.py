"""Paragraphs and tables that run over the end of a page, made whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingestion.extraction.assemble import DraftBlock, DraftLine
from ingestion.extraction.layout.hyphenation import HYPHENS, join_lines
from ingestion.extraction.layout.numerals import roman
from ingestion.extraction.layout.paragraphs import body_size, ends_sentence
from ingestion.extraction.layout.quarter_turns import size_of
from ingestion.extraction.layout.table_breaks import with_whole_tables
from ingestion.extraction.layout.text_rows import LABEL, PageRows, TextRow, is_upright
from ingestion.patterns import load_patterns
from rag_engine.text.raised import RAISED

# Lines of a column of three have some forty characters.
_FULL_LINE = 30
MARGIN = 0.12
# A number on its own may be further in: it is recognised by moving with the pages.
NUMBER_MARGIN = 0.2
MINIMUM_PAGES = 3
MINIMUM_SHARE = 0.4
# A margin and its text, one of its numbers given as its distance from the page's.
Key = tuple[str, str]
_LONGEST_NUMBER = 12
_NO_KEYS: frozenset[Key] = frozenset()
# No page has a longer number, and Python reads none of thousands of digits.
_NUMBER = re.compile(r"(?<!\d)\d{1,9}(?!\d)|(?<!\w)[ivxlc]+(?!\w)")
_ROMAN = {roman(number): number for number in range(1, 400)}
# A heading is so much larger than the text.
_LARGER = 1.12
_PATTERNS = load_patterns("running_heads")
# The mark of a note at its beginning: ¹, (¹), [1].
_MARK = re.compile(rf"[⁽(]?([{RAISED}]{{1,3}}|\[\d{{1,3}}\])")
# Nothing but numbers and what page numbers are parted or framed with: "- 12 -", "2-14", "3 / 5"; but not "§ 3", "3.".
_BARE = re.compile(r"[\d\s/|()\[\]<>–—-]+|[ivxlc]+")


def joined_over_pages(pages: Iterable[list[DraftBlock]], vocabulary: frozenset[str]) -> Iterator[DraftBlock]:
    """Yield the blocks of all pages in order, each behind the number in the margin beside it.

    A sentence that continues on the next page is interrupted by nothing, and neither is a table.

    The notes of a page come after the paragraphs with their marks, else at its end; and before its last paragraph when
    that continues: so no sentence is torn, and pages still follow each other.
    """
    return map(_behind_number, _joined_over_pages(pages, vocabulary))


def _behind_number(block: DraftBlock) -> DraftBlock:
    if not block.number:
        return block
    first, *others = block.lines
    return replace(block, lines=(replace(first, text=f"{block.number} {first.text}"), *others), number="")


def _joined_over_pages(pages: Iterable[list[DraftBlock]], vocabulary: frozenset[str]) -> Iterator[DraftBlock]:
    held: DraftBlock | None = None
    held_notes: list[DraftBlock] = []
    for blocks in with_whole_tables(pages, vocabulary):
        texts = _joined_over_columns([block for block in blocks if block.kind != "note"], vocabulary)
        notes = [block for block in blocks if block.kind == "note"]
        if held is not None:
            whole = _with_rest(held, texts, vocabulary)
            if whole is not None:
                texts = whole
                # One that began before the page of these notes is followed by them, or pages would go back.
                if held_notes and held.page < held_notes[0].page:
                    texts[1:1] = held_notes
                else:
                    yield from held_notes
            else:
                yield held
                yield from held_notes
            held, held_notes = None, []
        if texts and _is_open(texts[-1]):
            held = texts.pop()
        placed, unplaced = _with_notes(texts, notes)
        yield from placed
        if held is None:
            yield from unplaced
        else:
            held_notes = unplaced
    if held is not None:
        yield held
    yield from held_notes


def _joined_over_columns(texts: Sequence[DraftBlock], vocabulary: frozenset[str]) -> list[DraftBlock]:
    """Return the texts of a page, with the sentences whole that go on at the head of the next column."""
    joined: list[DraftBlock] = []
    for text in texts:
        before = joined[-1] if joined else None
        whole = None
        if before is not None and _is_next_column(before, text) and _is_open(before):
            whole = _with_rest(before, [text], vocabulary)
        joined[-1:] = [*joined[-1:], text] if whole is None else whole
    return joined


def _is_next_column(block: DraftBlock, following: DraftBlock) -> bool:
    """Return whether a block begins higher than another ends, on its right."""
    last, first = block.lines[-1].box, following.lines[0].box
    return last is not None and first is not None and first.y1 < last.y0 and first.x0 > last.x0


def _with_rest(held: DraftBlock, texts: Sequence[DraftBlock], vocabulary: frozenset[str]) -> list[DraftBlock] | None:
    """Return the texts of a page behind the paragraph that their first continues, else None.

    Notes in the margin beside its rest come after it, or pages would go back.
    """
    at = next((at for at, block in enumerate(texts) if not block.aside), None)
    if at is None or not _goes_on(held, texts[at]):
        return None
    rest = texts[at]
    last, first = held.lines[-1], rest.lines[0]
    cut = join_lines([(last.text, last.box), (first.text, first.box)], vocabulary)[0]
    moved = (replace(line, page=line.page or rest.page) for line in rest.lines)
    joined = DraftLine(cut.text, last.box, cut.joint, last.page)
    number = " ".join(filter(None, (held.number, rest.number)))
    whole = replace(held, lines=(*held.lines[:-1], joined, *moved), number=number)
    return [whole, *texts[:at], *texts[at + 1 :]]


def _with_notes(texts: Sequence[DraftBlock], notes: Sequence[DraftBlock]) -> tuple[list[DraftBlock], list[DraftBlock]]:
    """Return the texts of a page, each followed by its notes, and the notes whose mark none has."""
    below: dict[int, list[DraftBlock]] = {}
    rest = []
    for note in notes:
        mark = _MARK.match(note.lines[0].text)
        marked = mark and next((place for place, text in enumerate(texts) if _has_mark(text, mark[1])), None)
        if marked is None:
            rest.append(note)
            continue
        # Behind what is left of the page before, or pages would go back.
        while marked + 1 < len(texts) and texts[marked + 1].page < note.page:
            marked += 1
        below.setdefault(marked, []).append(note)
    return [one for place, text in enumerate(texts) for one in (text, *below.get(place, ()))], rest


def _has_mark(block: DraftBlock, mark: str) -> bool:
    text = "\n".join(line.text for line in block.lines)
    return re.search(rf"(?<![{RAISED}]){re.escape(mark)}(?![{RAISED}])", text) is not None


def _is_open(block: DraftBlock) -> bool:
    last = block.lines[-1].text
    return block.kind == "text" and not ends_sentence(last) and any(character.isalpha() for character in last)


def _goes_on(block: DraftBlock, following: DraftBlock) -> bool:
    """Return whether the first block of a page is the rest of the open last one of the page before."""
    if following.kind != "text" or not _alike(block.font_size, following.font_size):
        return False
    text = following.lines[0].text
    if LABEL.match(text):
        return False
    if text[0].islower() or block.lines[-1].text.endswith(HYPHENS):
        return True
    return text[0].isalnum() and len(block.lines) > 1 and _fills_its_line(block)


def _fills_its_line(block: DraftBlock) -> bool:
    """Return whether the last line is as wide as any.

    Then a text that begins with a capital may continue it.
    """
    if len(block.lines[-1].text) < _FULL_LINE:
        return False
    edges = [line.box.x1 for line in block.lines if line.box is not None]
    lefts = [line.box.x0 for line in block.lines if line.box is not None]
    return len(edges) == len(block.lines) and edges[-1] > max(edges) - 0.05 * (max(edges) - min(lefts))


def _alike(size: float | None, other: float | None) -> bool:
    return size == other or (size is not None and other is not None and abs(size - other) <= 0.05 * size)


def without_running_heads(pages: Sequence[PageRows]) -> list[PageRows]:
    """Return the pages without the rows that recur in their margins or upright beside the text.

    A row recurs if it is on at least three pages and on two fifths of them. Headers that alternate between left and
    right pages are thus found. One number in it may differ if it moves with the page's. "Page 3" and "Page 4" on the
    next page are one row; "Article 3" and "Article 9" are two. A number on its own recurs on three pages, since every
    chapter may have its own count. A heading that counts with the pages ("Measure 7") stays.
    """
    if len(pages) < MINIMUM_PAGES:
        return list(pages)
    keys = [[_keys(row, page) for row in page.rows] for page in pages]
    counts: Counter[Key] = Counter()
    for of_page in keys:
        counts.update(set().union(*of_page))
    enough = max(MINIMUM_PAGES, MINIMUM_SHARE * len(pages))

    body = body_size(pages)

    def runs(row: TextRow, of_row: frozenset[Key]) -> bool:
        if not of_row:
            return False
        least = MINIMUM_PAGES if _BARE.fullmatch(row.text.lower()) else enough
        often = [text for margin, text in of_row if counts[margin, text] >= least]
        return bool(often) and not (row.text.lower() not in often and _is_counted_heading(row, body))

    return [
        replace(page, rows=tuple(row for row, of_row in zip(page.rows, of_page, strict=True) if not runs(row, of_row)))
        for page, of_page in zip(pages, keys, strict=True)
    ]


def _is_counted_heading(row: TextRow, body: float) -> bool:
    """Return whether a row is set as a heading that counts what pages are about: "Measure 7", "Annex III".

    One that is merely bold has a single word before its number, since running heads are bold too.
    """
    found = _PATTERNS["counted_heading"].fullmatch(row.text)
    if found is None or row.cells > 1:
        return False
    return row.size >= _LARGER * body or (row.bold and row.size >= body and " " not in found["label"])


def _keys(row: TextRow, page: PageRows) -> frozenset[Key]:
    """Return the keys by which rows of pages are equal: the very text, or that with one number relative."""
    bare = len(row.text) <= _LONGEST_NUMBER and _BARE.fullmatch(row.text.lower()) is not None
    share = NUMBER_MARGIN if bare else MARGIN
    _, height = size_of(row.turned, page.width, page.height)
    if row.box.y1 < share * height:
        margin = "top"
    elif row.box.y0 > (1 - share) * height:
        margin = "bottom"
    elif len(row.text) > 3 and is_upright(row.box):
        margin = "side"
    else:
        return _NO_KEYS
    text = row.text.lower()
    # A number that is always the same, such as a year over a table, must stand where heads do.
    further_in = bare and MARGIN * height <= row.box.y1 and row.box.y0 <= (1 - MARGIN) * height
    keys = set() if further_in else {(margin, text)}
    for found in _NUMBER.finditer(text):
        number = int(found[0]) if found[0].isdecimal() else _ROMAN.get(found[0])
        if number is not None:
            keys.add((margin, f"{text[: found.start()]}{number - page.number:+d}#{text[found.end() :]}"))
    return frozenset(keys)
