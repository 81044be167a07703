"""Words of a PDF through which a line is drawn, and where they stood in its text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingestion.extraction.runs import letters, offset_after
from rag_engine.types.document import Box, Line, StruckText

# As MuPDF tells: a block that is drawn and not written, a span through which a line is drawn.
VECTOR = 3
_STRIKEOUT = 1
# Points: what is thicker strikes nothing.
_THIN = 2.5


@dataclass(frozen=True, slots=True)
class StruckSpan:
    """Words that are struck on a page, and the letters of their line that stand before them."""

    text: str
    box: Box
    after: int


def struck_texts(
    pages: Iterable[tuple[int, Sequence[StruckSpan]]], text: str, lines: Sequence[Line]
) -> tuple[StruckText, ...]:
    """Return the struck words of pages with their places; those between the same words are one."""
    struck = [(page, spans) for page, spans in pages if spans]
    on_page: dict[int, list[Line]] = {page: [] for page, _ in struck}
    for line in lines if struck else ():
        if line.box and line.page in on_page:
            on_page[line.page].append(line)
    found: list[StruckText] = []
    for page, spans in struck:
        for one in _placed(page, spans, text, on_page[page]):
            before = found[-1] if found else None
            follows = before is not None and before.page == page and before.start <= one.start
            if before and follows and not text[before.start : one.start].strip():
                found[-1] = replace(before, text=f"{before.text} {one.text}")
            else:
                found.append(one)
    return tuple(sorted(found, key=lambda one: one.start))


def _placed(page: int, spans: Sequence[StruckSpan], text: str, lines: Sequence[Line]) -> Iterator[StruckText]:
    start = lines[0].start if lines else 0
    for span in spans:
        height = (span.box.y0 + span.box.y1) / 2
        beside = [line for line in lines if line.box and line.box.y0 <= height <= line.box.y1]
        above = [line for line in lines if line.box and line.box.y1 < height]
        if beside:
            line = min(beside, key=lambda one: _distance(one, span.box))
            start = line.start + offset_after(text[line.start : line.end], span.after)
        elif above:
            start = max(above, key=lambda line: line.box.y1 if line.box else 0).end
        yield StruckText(start, page, span.text)


def _distance(line: Line, box: Box) -> float:
    """Return how far a line ends from words beside it or within it."""
    return max(line.box.x0 - box.x1, box.x0 - line.box.x1, 0.0) if line.box else 0.0


def struck_of(spans: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the spans of a line that are struck, each with the number of letters that stand before it.

    A line across a part of a word is a mark beside it.
    """
    struck = [bool(span["char_flags"] & _STRIKEOUT) for span in spans]
    texts = ["", *(" " if out else span["text"] for span, out in zip(spans, struck, strict=True)), ""]
    standing = 0
    for at, span in enumerate(spans):
        text, before, after = span["text"], texts[at][-1:], texts[at + 2][:1]
        cut = (before.isalnum() and text[:1].isalnum()) or (after.isalnum() and text[-1:].isalnum())
        if struck[at] and text.strip() and not cut:
            yield {**span, "after": standing}
        else:
            standing += letters(text)


def may_be_struck(blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a thin level line is drawn through the middle of a printed one."""
    drawn = (block["bbox"] for block in blocks if block["type"] == VECTOR)
    found = [bbox for bbox in drawn if bbox[3] - bbox[1] < min(_THIN, bbox[2] - bbox[0])]
    # By height, since a map has a hundred thousand.
    thin = np.array(sorted(found, key=lambda bbox: bbox[1] + bbox[3])).reshape(-1, 4)
    # Few lines of text have any: bisecting a list takes a tenth of the time of searching an array.
    heights = ((thin[:, 1] + thin[:, 3]) / 2).tolist()
    for line in (line for block in blocks for line in block.get("lines", ()) if len(thin)):
        x0, y0, x1, y1 = line["bbox"]
        first, beyond = (bisect_left(heights, y) for y in (y0 + (y1 - y0) / 4, y1 - (y1 - y0) / 4))
        if first >= beyond:
            continue
        inside = thin[first:beyond]
        if ((inside[:, 0] < x1) & (inside[:, 2] > x0)).any() and any(
            not one["text"].isspace() for one in line["spans"]
        ):
            return True
    return False
