"""Headers, footers and page numbers that repeat from page to page, left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingestion.extraction.layout import PageRows, Row, is_upright
from ingestion.extraction.numerals import roman

MARGIN = 0.12
MINIMUM_PAGES = 3
MINIMUM_SHARE = 0.4

# A margin and what stands there, one of its numbers told by its distance from the page's.
Key = tuple[str, str]

_NUMBER = re.compile(r"\d+|(?<!\w)[ivxlc]+(?!\w)")
_ROMAN = {roman(number): number for number in range(1, 400)}
# Nothing but numbers and what page numbers are parted or framed with: "- 12 -", "2-14", "3 / 5"; but not "§ 3", "3.".
_BARE = re.compile(r"[\d\s/|()\[\]<>–—-]+|[ivxlc]+")


def without_running_heads(pages: Sequence[PageRows]) -> list[PageRows]:
    """The pages without the rows of their top and bottom margins, or set upright beside the text, that recur.

    A row recurs when it stands on at least three pages and on two fifths of them, so that headers which alternate
    between left and right pages are found. One number in it may differ if it moves with the page's: "Page 3" and
    "Page 4" on the next page are one row, "Article 3" and "Article 9" are two. A number on its own recurs on three
    pages, since every chapter may have its own count.
    """
    if len(pages) < MINIMUM_PAGES:
        return list(pages)
    counts: Counter[Key] = Counter()
    for page in pages:
        counts.update({key for row in page.rows for key in _keys(row, page)})
    enough = max(MINIMUM_PAGES, MINIMUM_SHARE * len(pages))

    def runs(row: Row, page: PageRows) -> bool:
        least = MINIMUM_PAGES if _BARE.fullmatch(row.text.lower()) else enough
        return any(counts[key] >= least for key in _keys(row, page))

    return [replace(page, rows=tuple(row for row in page.rows if not runs(row, page))) for page in pages]


def _keys(row: Row, page: PageRows) -> set[Key]:
    """What would make the row the same as one of another page: its very text, or that with one number relative."""
    if row.box.y1 < MARGIN * page.height:
        margin = "top"
    elif row.box.y0 > (1 - MARGIN) * page.height:
        margin = "bottom"
    elif len(row.text) > 3 and is_upright(row.box):
        margin = "side"
    else:
        return set()
    text = row.text.lower()
    keys = {(margin, text)}
    for found in _NUMBER.finditer(text):
        number = int(found[0]) if found[0].isdecimal() else _ROMAN.get(found[0])
        if number is not None:
            keys.add((margin, f"{text[: found.start()]}{number - page.number:+d}#{text[found.end() :]}"))
    return keys
