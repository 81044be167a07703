"""A stretch of text cut where its marks and its links begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_engine.text.sentences import Span


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters [start, end) of a text that are marked or not, and the number of the link that they are, if any."""

    start: int
    end: int
    marked: bool = False
    link: int | None = None


@dataclass(frozen=True, slots=True)
class TextParagraph:
    """A paragraph to be shown as text: its kind, and its runs as words, the element around them and their link.

    The element is "mark", "ins" or "del" as in HTML, empty for none; the link is a number, None for none.
    """

    kind: str
    runs: tuple[tuple[str, str, int | None], ...]


def text_runs(span: Span, marks: Sequence[Span], links: Sequence[Span] = ()) -> tuple[TextRun, ...]:
    """Return the runs of a span of a text in which neither marks nor links change; of links that overlap, the first."""
    start, end = span
    edges = {start, end}
    edges |= {edge for one in (*marks, *links) for edge in one if start < edge < end}
    ordered = sorted(edges)
    return tuple(
        TextRun(first, last, _first_over(marks, first, last) is not None, _first_over(links, first, last))
        for first, last in pairwise(ordered)
    )


def _first_over(spans: Sequence[Span], start: int, end: int) -> int | None:
    """Return the position of the first of the spans that covers [start, end)."""
    return next((number for number, one in enumerate(spans) if one[0] <= start and end <= one[1]), None)
