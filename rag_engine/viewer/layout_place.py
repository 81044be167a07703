"""Places of a passage and of links of an office file in its layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_engine.answering.page_image import regions
from rag_engine.backends.drawing.passage_finder import SoughtPassage
from rag_engine.storage.cross_references import PlacedReference
from rag_engine.text.sentences import Span
from rag_engine.types.document import Box, Line
from rag_engine.viewer.pages import PagedText

# Characters of a passage that are looked for, and of the text on each side that tell which of several places is meant.
_LONGEST = 20_000
_AROUND = 50_000
# Share of a passage from which on it counts as found as a whole: a sign more or less is no loss.
_WHOLE = 0.9
# Characters by which the place of a slide is found that is not the page of its number.
_BEGINNING = 300


@dataclass(frozen=True, slots=True)
class PlaceInLayout:
    """Page of a layout where a passage begins, or of its slide or sheet; `boxes` by their page.

    `part` are the pages of its slide or sheet, or all; `pages` is the number of all pages. `share` is how much of the
    passage was found. `unread` is the number of pages that were not searched, since a long layout is not read to its
    end.
    """

    layout: Path
    page: int
    pages: int
    part: range
    boxes: Mapping[int, Sequence[Box]]
    share: float
    unread: int

    @property
    def is_there(self) -> bool:
        """Whether the layout has the slide or the sheet."""
        return self.page > 0

    @property
    def is_partial(self) -> bool:
        """Whether only a part of the passage was found."""
        return 0 < self.share < _WHOLE


def read_place(layout: Path, found: bytes) -> PlaceInLayout:
    """Return the place that `PageRenderer.find` found in a layout."""
    place = json.loads(found)
    boxes = {int(page): [Box(*box) for box in those] for page, those in place["boxes"].items()}
    part = range(place["first"], place["last"] + 1)
    return PlaceInLayout(layout, place["page"], place["pages"], part, boxes, place["share"], place["unread"])


def sought_passage(text: PagedText, page: int, passage: Span | None, *, is_workbook: bool) -> SoughtPassage:
    """Return the passage to search for, or the page (slide or sheet) without a passage."""
    start, end = text.page_span(page)
    headings = (block for block in text.blocks if block.page == page and block.kind == "heading")
    first = next(headings, None) if is_workbook else None
    sheet = text.text[first.start : first.end].strip() if first else ""
    # A reader may have turned the page.
    if passage is None or passage[0] >= end or passage[1] <= start:
        words = text.text[start : min(end, start + _BEGINNING)].strip()
        return SoughtPassage(words if text.pages > 1 else "", part=page, parts=text.pages, sheet=sheet, marked=False)
    begun = max(passage[0], start)
    ended = min(passage[1], end, begun + _LONGEST)
    return SoughtPassage(
        text.text[begun:ended].strip(),
        text.text[max(start, begun - _AROUND) : begun],
        text.text[ended : min(end, ended + _AROUND)],
        share=(begun - start) / max(end - start, 1),
        part=page,
        parts=text.pages,
        sheet=sheet,
        is_whole=begun - start <= _AROUND and end - ended <= _AROUND,
    )


def layout_links(
    lines: Iterable[tuple[str, Box]], text: str, references: Iterable[PlacedReference]
) -> Iterator[tuple[PlacedReference, Sequence[Box]]]:
    """Yield the references whose words are on a page of the layout, with their boxes there.

    Words that lead to several places, such as a "paragraph 2" of each section, are left out. The words alone do not
    tell which place is meant.
    """
    told: dict[str, list[PlacedReference]] = {}
    for reference in references:
        told.setdefault(" ".join(text[reference.start : reference.end].split()), []).append(reference)
    placed, page = _joined(lines)
    for words, those in told.items():
        if words and len({one.target_start for one in those}) == 1:
            for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", page):
                yield those[0], [region.box for region in regions(placed, *match.span())]


def _joined(lines: Iterable[tuple[str, Box]]) -> tuple[list[Line], str]:
    placed: list[Line] = []
    written: list[str] = []
    start = 0
    for words, box in lines:
        placed.append(Line(start, start + len(words), 1, box))
        written.append(words)
        start += len(words) + 1
    return placed, " ".join(written)
