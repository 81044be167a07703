"""Tables of terms to records, by what their columns are called or, without names, by what is in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingestion.book_index.entries import PageLookup, is_locators, printed_pages
from ingestion.book_index.find_pages import goes_up, initial_of, is_alphabetical
from ingestion.book_index.layout import columns_of, gutters, rows_at_one_height, without_heads
from ingestion.book_index.vocabulary import COLUMNS, folded
from ingestion.types import PlacedLine
from rag_engine.book_index.anchors import IndexRecord

_LATEST_HEADER = 10
_LEAST_SHARE = 0.7
_FEWEST_ROWS = 2
_FEWEST_TERMS = 4
_LONGEST_SUFFIX = 5

# Column numbers by what they hold: "term", "page", "file", ...
Roles = dict[str, int]


def records_of_rows(rows: Sequence[Sequence[str]], page_of: PageLookup, *, guess: bool = True) -> list[IndexRecord]:
    """Return the records of a table, one a row; empty when its columns are not those of a table of terms.

    Columns without names are recognised by what is in them, if `guess`.

    A row without a term continues with the one above it. Page numbers are taken through `page_of`, except where the
    table has columns for both the printed pages and those of the file.
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

    A row begins where there is a page number or a file, since a long term continues below; without such a column at
    every line that the first column has.
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
    """Return the columns that a row near the top names, that row, and the rows below it; all rows where none does."""
    for number, row in enumerate(rows[:_LATEST_HEADER], start=1):
        roles = _roles(row)
        if "term" in roles and len(roles) > 1:
            return roles, [cell.strip() for cell in row], rows[number:]
    return {}, [], rows


def _roles(row: Sequence[str]) -> Roles:
    """Return what the names in a row say their columns hold; a name that fits as a whole goes before one in part."""
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
    """Return the columns of a table without names: page numbers, files, and the first other column as the term."""
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
    """Return whether terms are in the order of the alphabet, and their first pages are not in that of the document."""
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
