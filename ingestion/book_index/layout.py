"""Printed lines of index pages to whole entries: columns, indentation and broken lines; pure geometry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import median

from ingestion.book_index.entries import (
    COLUMNS,
    ENDS_IN_SEE,
    SEE,
    IndexEntry,
    PageLookup,
    folded,
    has_locators,
    is_index_title,
    is_locators,
    printed_pages,
)
from ingestion.book_index.find_pages import goes_up, initial_of, is_alphabetical
from ingestion.extraction.layout.page_numbers import value_of
from ingestion.file_reading import PlacedLine
from rag_engine.book_index.anchors import IndexRecord

# The edge of a page in which running heads and page numbers are.
_MARGIN = 0.15
# The share of lines, such as titles, that may cross the space between two columns.
_CROSSING = 0.04
_NARROWEST_GUTTER = 5.0
# How much further a level is indented than the one above it, in type sizes; signs may hang out by less.
_LEVEL = 0.8
_LEVEL_SHARE = 0.03
_COMPLETE_SHARE = 0.4
_SMALLEST_COLUMN = 0.12
_LATEST_HEADER = 10
_LEAST_SHARE = 0.7
_FEWEST_ROWS = 2
_FEWEST_TERMS = 4
_LONGEST_SUFFIX = 5
# Column numbers by what they hold: "term", "page", "file", ...
Roles = dict[str, int]


@dataclass(frozen=True, slots=True)
class _ColumnLine:
    """A line of a column: its beginning from the column's edge, and whether more would have fitted."""

    text: str
    indent: float
    room: float
    size: float


def entries_of(lines: Sequence[PlacedLine], height: float) -> list[IndexEntry]:
    """Return the entries on the lines of index pages, in reading order; `height` is that of a page.

    Columns are found by the empty space between them, sub-entries by their indentation. A line continues the line above
    if that ends in a sign that asks for more. It also does if the first word of the line would not have fitted above.
    """
    entries: list[IndexEntry] = []
    above: _ColumnLine | None = None
    column_lines = _column_lines(without_heads(lines, height))
    under = _levels_of_entries(column_lines)
    for line in column_lines:
        if above is not None and _goes_on(above, line, line.indent in under):
            text = _joined(above.text, line.text)
            above = replace(above, text=text, room=line.room)
            entries[-1] = IndexEntry(text, above.indent)
        else:
            entries.append(IndexEntry(line.text, line.indent))
            above = line
    return entries


def without_heads(lines: Sequence[PlacedLine], height: float) -> list[PlacedLine]:
    """Return the lines without page numbers, running heads and the title of the index."""
    pages = len({line.page for line in lines})
    recurring: Counter[str] = Counter()
    for text, _ in {(folded(line.text), line.page) for line in lines if _in_margin(line, height)}:
        recurring[text] += 1

    def is_head(line: PlacedLine) -> bool:
        words = folded(line.text)
        titled = is_index_title(line.text) and not has_locators(line.text)
        return titled or value_of(line.text) is not None or (pages > 3 and recurring[words] > pages / 3)

    heads: set[int] = set()
    for page in {line.page for line in lines}:
        margin = [line for line in lines if line.page == page and _in_margin(line, height)]
        # A page number may be beside the words of its running head, and a number beside a term is none.
        heads.update(id(line) for row in rows_at_one_height(margin) if all(map(is_head, row)) for line in row)
    return [
        line for line in lines if id(line) not in heads and (has_locators(line.text) or not is_index_title(line.text))
    ]


def gutters(lines: Sequence[PlacedLine]) -> list[float]:
    """Return the middles of the empty spaces between columns of lines, from left to right, in points."""
    if not lines:
        return []
    left, right = min(line.box.x0 for line in lines), max(line.box.x1 for line in lines)
    covered = [0] * (int(right) + 2)
    for line in lines:
        for x in range(max(0, int(line.box.x0)), int(line.box.x1) + 1):
            covered[x] += 1
    few = max(0.0, _CROSSING * len(lines))
    found: list[float] = []
    for is_empty, group in groupby(range(int(left), int(right) + 1), key=lambda x: covered[x] <= few):
        start, *rest = group
        if is_empty and len(rest) + 1 >= _NARROWEST_GUTTER and start > left:
            found.append(start + (len(rest) + 1) / 2)
    return found


def columns_of(lines: Sequence[PlacedLine], edges: Sequence[float]) -> list[list[PlacedLine]]:
    """Return the lines of each column between the given gutters."""
    columns: list[list[PlacedLine]] = [[] for _ in range(len(edges) + 1)]
    for line in lines:
        # By its beginning: a title that crosses a gutter belongs to the left.
        columns[sum(line.box.x0 > edge for edge in edges)].append(line)
    return columns


def rows_at_one_height(lines: Iterable[PlacedLine]) -> list[list[PlacedLine]]:
    """Return lines that are side by side, from top to bottom and from left to right."""
    rows: list[list[PlacedLine]] = []
    for line in sorted(lines, key=lambda line: line.box.y0 + line.box.y1):
        middle = (line.box.y0 + line.box.y1) / 2
        if rows and rows[-1][0].box.y0 < middle < rows[-1][0].box.y1:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box.x0) for row in rows]


def _in_margin(line: PlacedLine, height: float) -> bool:
    return line.box.y1 < _MARGIN * height or line.box.y0 > (1 - _MARGIN) * height


def _column_lines(lines: Sequence[PlacedLine]) -> list[_ColumnLine]:
    """Return the lines of all columns in reading order. Left and right pages may have different edges."""
    sides: defaultdict[int, list[PlacedLine]] = defaultdict(list)
    for line in lines:
        sides[line.page % 2].append(line)
    found: list[tuple[tuple[int, int], list[_ColumnLine]]] = []
    for side in sides.values():
        edges = _text_gutters(side)
        for number, column in enumerate(columns_of(side, edges)):
            found += [((page, number), rows) for page, rows in _pages_of_column(column)]
    return [line for _, rows in sorted(found, key=lambda one: one[0]) for line in rows]


def _text_gutters(lines: Sequence[PlacedLine]) -> list[float]:
    """Return the gutters between columns of entries.

    Page numbers that are far behind their terms are no column.
    """
    edges = gutters(lines)
    columns = columns_of(lines, edges)
    kept = []
    for edge, column in zip(edges, columns[1:], strict=True):
        numbers = sum(is_locators(line.text) for line in column)
        if 2 * numbers < len(column) and len(column) >= _SMALLEST_COLUMN * len(lines) / len(columns):
            kept.append(edge)
    return kept


def _pages_of_column(column: Sequence[PlacedLine]) -> list[tuple[int, list[_ColumnLine]]]:
    if not column:
        return []
    size = median(line.size for line in column)
    starts = sorted(line.box.x0 for line in column)
    # One line may stick out by a sign that hangs in the margin.
    left = starts[min(1, len(starts) - 1)]
    right = max(line.box.x1 for line in column)
    indents = _levels([line.box.x0 - left for line in column], _LEVEL * size)
    pages: defaultdict[int, list[PlacedLine]] = defaultdict(list)
    for line in column:
        pages[line.page].append(line)
    found = []
    for page, lines in pages.items():
        rows = []
        for row in rows_at_one_height(lines):
            indent = indents[row[0].box.x0 - left]
            text = row[0].text
            for part in row[1:]:
                apart = is_locators(part.text) and not text.endswith((",", "."))
                text += f", {part.text}" if apart else f" {part.text}"
            rows.append(_ColumnLine(text, indent, right - row[-1].box.x1, size))
        found.append((page, rows))
    return found


def _levels(offsets: Sequence[float], step: float) -> dict[float, float]:
    """Return for each distance from the edge that of its level.

    Distances closer than `step` to the next are one.

    Only places where many lines begin make levels: the odd sign that hangs out or in would join two of them.
    """
    counts = Counter(map(round, offsets))
    often = sorted(place for place, count in counts.items() if count >= max(2, _LEVEL_SHARE * len(offsets)))
    near = {place for place in counts if any(abs(place - core) <= step for core in often)}
    starts = [*_linked(often, step), *_linked(sorted(set(counts) - near), step)]
    level_of = {place: cluster[0] for cluster in starts for place in cluster}
    for place in near - set(often):
        level_of[place] = level_of[min(often, key=lambda core: abs(core - place))]
    return {offset: float(level_of[round(offset)]) for offset in offsets}


def _linked(places: Sequence[int], step: float) -> list[list[int]]:
    """Return sorted places in groups, each no further than `step` from the one before it."""
    groups: list[list[int]] = []
    for place in places:
        if groups and place - groups[-1][-1] <= step:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _levels_of_entries(lines: Sequence[_ColumnLine]) -> set[float]:
    """Return the indentations at which entries begin.

    Many of their lines are below an entry that is complete.
    """
    after_complete: Counter[float] = Counter()
    all_lines: Counter[float] = Counter()
    for above, line in pairwise(lines):
        all_lines[line.indent] += 1
        after_complete[line.indent] += has_locators(above.text.rstrip())
    return {indent for indent, count in all_lines.items() if after_complete[indent] >= _COMPLETE_SHARE * count}


def _goes_on(above: _ColumnLine, line: _ColumnLine, begins_entries: bool) -> bool:
    """Return whether a line is the rest of the entry above it.

    `begins_entries` where others so indented are none.
    """
    text = above.text.rstrip()
    complete = has_locators(text) or SEE.search(text) is not None
    open_end = text.endswith((",", ";", "–", "-", "(", "/")) or ENDS_IN_SEE.search(text) is not None
    deeper = line.indent > above.indent
    if is_locators(line.text):
        return open_end or not complete or deeper
    # A sub-entry below a head without pages looks like its rest, unless there was clearly no room for a word more.
    broken = above.room < _width_of_first_word(line) * (0.5 if begins_entries else 1.0)
    if open_end and not has_locators(text.rstrip(" ,;")):
        return broken or ENDS_IN_SEE.search(text) is not None
    if open_end:
        return broken and deeper
    if has_locators(text):
        return False
    return broken and (deeper or line.text[:1].islower())


def _width_of_first_word(line: _ColumnLine) -> float:
    """Return the room in points that the first word of a line needed at the end of the one above."""
    return 0.5 * line.size * (len(line.text.split(maxsplit=1)[0]) + 1) if line.text.strip() else 0.0


def _joined(above: str, text: str) -> str:
    above = above.rstrip()
    if above[-1:] in "-\u00ad" and above[-2:-1].isalpha() and text[:1].islower():
        return above[:-1] + text
    return above + ("" if above[-1:] in "–-/" else " ") + text


def records_of_rows(rows: Sequence[Sequence[str]], page_of: PageLookup, *, guess: bool = True) -> list[IndexRecord]:
    """Return the records of a table, one a row; empty if its columns are not those of a table of terms.

    Columns without names are recognised by what is in them, if `guess`.

    A row without a term continues with the one above it. Page numbers are mapped by `page_of`, unless the table has
    columns for both printed pages and pages of the file.

    >>> records = records_of_rows([("Begriff", "Seite"), ("Deich", "12-14"), ("", "20")], int)
    >>> [(record.term, record.pages) for record in records]
    [('Deich', (12, 13, 14)), ('Deich', (20,))]
    """
    roles, header, listed = _named_columns(rows)
    roles = roles or (_guessed_columns(rows) if guess else {})
    if not roles:
        return []
    records: list[IndexRecord] = []
    for row in listed:
        cells = {role: " ".join(row[at].split()) if at < len(row) else "" for role, at in roles.items()}
        term = cells["term"] or (records[-1].term if records and any(cells.values()) else "")
        # A long table names its columns once more, as on the next page.
        if not term or [cell.strip() for cell in row] == header:
            continue
        printed = printed_pages(cells.get("printed") or cells.get("page", ""))
        numbers = printed_pages(cells.get("page", ""))
        both = "printed" in roles and "page" in roles
        found = (int(number) if both and number.isdecimal() else page_of(number) for number in numbers or printed)
        subterm = cells.get("subterm", "")
        records.append(
            IndexRecord(
                term=term,
                # A column of sub-entries may hold a running number or the term itself.
                subterm="" if subterm.isdecimal() or subterm == term else subterm,
                pages=tuple(dict.fromkeys(page for page in found if page is not None)),
                printed=printed,
                see=tuple(part.strip() for part in cells.get("see", "").split(";") if part.strip()),
                file=cells.get("file", ""),
                definition=cells.get("definition", ""),
            )
        )
    return records


def cells_of(lines: Sequence[PlacedLine], height: float) -> list[list[str]]:
    """Return the rows of a table that is printed without rules: its columns are parted by empty space.

    A row begins at a page number or a file, since a long term continues below. Without such a column, it begins at
    every line of the first column.
    """
    kept = without_heads(lines, height)
    edges = gutters(kept)
    if not edges:
        return []
    grid = [
        [" ".join(line.text for line in column) for column in columns_of(side_by_side, edges)]
        for page in sorted({line.page for line in kept})
        for side_by_side in rows_at_one_height([line for line in kept if line.page == page])
    ]
    width = len(edges) + 1
    shares = [_share(grid, at, is_locators) + _share(grid, at, _is_file) for at in range(width)]
    key = max(range(width), key=shares.__getitem__)
    key = key if shares[key] >= _LEAST_SHARE else 0
    rows: list[list[str]] = []
    for row in grid:
        if rows and not row[key]:
            rows[-1] = [f"{above} {text}".strip() for above, text in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    return rows


def _named_columns(
    rows: Sequence[Sequence[str]],
) -> tuple[Roles, list[str], Sequence[Sequence[str]]]:
    """Return the columns that a row near the top names, that row, and the rows below it.

    All rows where none does.
    """
    for number, row in enumerate(rows[:_LATEST_HEADER], start=1):
        roles = _roles(row)
        if "term" in roles and len(roles) > 1:
            return roles, [cell.strip() for cell in row], rows[number:]
    return {}, [], rows


def _roles(row: Sequence[str]) -> Roles:
    """Return what the names in a row say their columns hold.

    A name that fits as a whole goes before one in part.
    """
    names = [folded(cell.replace("_", " ")) for cell in row]
    roles: Roles = {}
    for fits in (_is_name, _has_name):
        for at, name in enumerate(names):
            for role, known in COLUMNS.items():
                if name and role not in roles and at not in roles.values() and fits(name, known):
                    roles[role] = at
    return roles


def _is_name(name: str, known: frozenset[str]) -> bool:
    return name in known or name.replace(" ", "_") in known


def _has_name(name: str, known: frozenset[str]) -> bool:
    return len(name.split()) <= 4 and any(word in known for word in name.split() if len(word) > 1)


def _guessed_columns(rows: Sequence[Sequence[str]]) -> Roles:
    """Return the columns of a table without names.

    Page numbers, files, and the first other column as the term.
    """
    if len(rows) < _FEWEST_ROWS:
        return {}
    width = max(map(len, rows))
    roles: Roles = {}
    for role, fits in (("page", is_locators), ("file", _is_file)):
        best = max(range(width), key=lambda at: _share(rows, at, fits))
        if best not in roles.values() and _share(rows, best, fits) >= _LEAST_SHARE:
            roles[role] = best
    others = [at for at in range(width) if at not in roles.values() and _share(rows, at, bool) > 0.5]
    if not others or "page" not in roles:
        return {}
    # Any table may end in numbers; those of an index have a file beside them, or their terms in order.
    terms = [(row[others[0]], row[roles["page"]]) for row in rows if len(row) == width]
    return {"term": others[0], **roles} if "file" in roles or _is_ordered(terms) else {}


def _is_ordered(terms: Sequence[tuple[str, str]]) -> bool:
    """Return whether terms are in the order of the alphabet, and their first pages not in the document's."""
    initials = [initial for term, _ in terms if (initial := initial_of(term))]
    numbers = [int(first) for _, pages in terms for first in printed_pages(pages)[:1] if first.isdecimal()]
    return len(initials) >= _FEWEST_TERMS and is_alphabetical(initials) and not goes_up(numbers)


def _share(rows: Sequence[Sequence[str]], at: int, fits: Callable[[str], bool]) -> float:
    """Return the share of the texts in a column that are of a kind; 0 for a column with next to no text."""
    texts = [text for row in rows if at < len(row) and (text := row[at].strip())]
    return sum(map(fits, texts)) / len(texts) if 3 * len(texts) > len(rows) else 0.0


def _is_file(text: str) -> bool:
    stem, dot, suffix = text.strip().rpartition(".")
    return bool(stem and dot and suffix.isalnum() and not suffix.isdecimal() and len(suffix) <= _LONGEST_SUFFIX)
