"""Words of a PDF through which a line is drawn, and where they stood in its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingestion.extraction.runs import offset_after
from rag_engine.types.document import Box, Line, StruckText


@dataclass(frozen=True, slots=True)
class StruckSpan:
    """Words that are struck on a page, `after` so many letters of what stands in their line."""

    text: str
    box: Box
    after: int


def struck_texts(
    pages: Iterable[tuple[int, Sequence[StruckSpan]]], text: str, lines: Sequence[Line]
) -> tuple[StruckText, ...]:
    """Return the struck words of pages with their places in the text; those between the same words are one."""
    found: list[StruckText] = []
    for page, spans in pages:
        own = [line for line in lines if line.page == page and line.box] if spans else []
        for one in _placed(page, spans, text, own):
            before = found[-1] if found else None
            if before and before.page == page and not text[before.start : one.start].strip():
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
