"""Headers, footers and page numbers that repeat from page to page, left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingestion.extraction.layout import PageRows, Row, is_upright

MARGIN = 0.12
MINIMUM_PAGES = 3
MINIMUM_SHARE = 0.4

_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)


def without_running_heads(pages: Sequence[PageRows]) -> list[PageRows]:
    """The pages without the rows of their top and bottom margins, or set upright beside the text, that recur.

    A row recurs when, digits aside, it stands on at least three pages and on two fifths of them, so that headers which
    alternate between left and right pages are found.
    """
    if len(pages) < MINIMUM_PAGES:
        return list(pages)
    counts: Counter[tuple[str, str]] = Counter()
    for page in pages:
        counts.update({key for row in page.rows if (key := _key(row, page))})
    enough = max(MINIMUM_PAGES, MINIMUM_SHARE * len(pages))
    running = {key for key, count in counts.items() if count >= enough}
    return [replace(page, rows=tuple(row for row in page.rows if _key(row, page) not in running)) for page in pages]


def _key(row: Row, page: PageRows) -> tuple[str, str] | None:
    if row.box.y1 < MARGIN * page.height:
        margin = "top"
    elif row.box.y0 > (1 - MARGIN) * page.height:
        margin = "bottom"
    elif len(row.text) > 3 and is_upright(row.box):
        margin = "side"
    else:
        return None
    masked = "#" if _ROMAN.fullmatch(row.text) else _DIGITS.sub("#", row.text.lower())
    return margin, masked
