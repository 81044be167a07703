"""Headers, footers and page numbers that repeat from page to page, left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingestion.extraction.layout.numerals import roman
from ingestion.extraction.layout.text_rows import PageRows, TextRow, is_upright

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
# Nothing but numbers and what page numbers are parted or framed with: "- 12 -", "2-14", "3 / 5"; but not "§ 3", "3.".
_BARE = re.compile(r"[\d\s/|()\[\]<>–—-]+|[ivxlc]+")


def without_running_heads(pages: Sequence[PageRows]) -> list[PageRows]:
    """Return the pages without the rows of their top and bottom margins, or set upright beside the text, that recur.

    A row recurs when it is on at least three pages and on two fifths of them, so that headers which alternate
    between left and right pages are found. One number in it may differ if it moves with the page's: "Page 3" and
    "Page 4" on the next page are one row, "Article 3" and "Article 9" are two. A number on its own recurs on three
    pages, since every chapter may have its own count.
    """
    if len(pages) < MINIMUM_PAGES:
        return list(pages)
    keys = [[_keys(row, page) for row in page.rows] for page in pages]
    counts: Counter[Key] = Counter()
    for of_page in keys:
        counts.update(set().union(*of_page))
    enough = max(MINIMUM_PAGES, MINIMUM_SHARE * len(pages))

    def runs(row: TextRow, of_row: frozenset[Key]) -> bool:
        if not of_row:
            return False
        least = MINIMUM_PAGES if _BARE.fullmatch(row.text.lower()) else enough
        return any(counts[key] >= least for key in of_row)

    return [
        replace(page, rows=tuple(row for row, of_row in zip(page.rows, of_page, strict=True) if not runs(row, of_row)))
        for page, of_page in zip(pages, keys, strict=True)
    ]


def _keys(row: TextRow, page: PageRows) -> frozenset[Key]:
    """Return the keys by which rows of pages are equal: the very text, or that with one number relative."""
    bare = len(row.text) <= _LONGEST_NUMBER and _BARE.fullmatch(row.text.lower()) is not None
    share = NUMBER_MARGIN if bare else MARGIN
    if row.box.y1 < share * page.height:
        margin = "top"
    elif row.box.y0 > (1 - share) * page.height:
        margin = "bottom"
    elif len(row.text) > 3 and is_upright(row.box):
        margin = "side"
    else:
        return _NO_KEYS
    text = row.text.lower()
    # A number that is always the same, such as a year over a table, must stand where heads do.
    further_in = bare and MARGIN * page.height <= row.box.y1 and row.box.y0 <= (1 - MARGIN) * page.height
    keys = set() if further_in else {(margin, text)}
    for found in _NUMBER.finditer(text):
        number = int(found[0]) if found[0].isdecimal() else _ROMAN.get(found[0])
        if number is not None:
            keys.add((margin, f"{text[: found.start()]}{number - page.number:+d}#{text[found.end() :]}"))
    return frozenset(keys)
