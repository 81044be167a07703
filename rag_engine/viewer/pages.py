"""Text of a document by its pages, cut where marks and links begin and end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile

from rag_engine.storage.catalog import Catalog
from rag_engine.text.sentences import Span
from rag_engine.types.document import Block, BlockKind, Box, DocumentRecord, Line, StruckText

# Characters of a page without geometry that are shown at a time.
_SHOWN = 300_000
_LONGEST_LINE = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class PagedText:
    """Text of a document with its lines and blocks, read once for all of its `pages`."""

    text: str
    lines: tuple[Line, ...]
    blocks: tuple[Block, ...]
    pages: int
    struck: tuple[StruckText, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """Whether the format has pages that can be drawn, with a box for their lines."""
        return any(line.box is not None for line in self.lines)

    def page_span(self, page: int) -> Span:
        """Return the characters from the first to the last of a page; an empty span without text."""
        own = self.page_lines(page)
        return (own[0].start, own[-1].end) if own else (0, 0)

    def page_lines(self, page: int) -> list[Line]:
        """Return the lines of a page.

        Lines of two pages may alternate, if a note is read with its sentence.
        """
        return [line for line in self.lines if line.page == page]

    def clamp_page(self, page: int) -> int:
        """Return the page nearest to a number that a person or an address gives."""
        return min(max(page, 1), max(self.pages, 1))


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A line of a page: its text, its box, and the position of its first character in the document's text."""

    text: str
    box: Box
    start: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of a document that has no page geometry: characters [start, end) of its text."""

    kind: BlockKind
    start: int
    end: int


def read_paged_text(catalog: Catalog, document: DocumentRecord) -> PagedText:
    """Return the text of a document as the catalog keeps it."""
    extracted = catalog.extracted(document)
    return PagedText(extracted.text, extracted.lines, extracted.blocks, document.pages, extracted.struck)


def text_layer(document: PagedText, page: int) -> tuple[PlacedText, ...]:
    """Return the lines of a drawn page, in reading order."""
    return tuple(
        PlacedText(document.text[line.start : line.end], line.box, line.start)
        for line in document.page_lines(page)
        if line.box is not None
    )


def page_paragraphs(document: PagedText, page: int) -> tuple[Paragraph, ...]:
    """Return the blocks of a page (a slide, a sheet, or the whole file) of a format without page geometry.

    They hold every character that is not white space: text outside of all blocks is a separate paragraph.
    """
    start, end = document.page_span(page)
    found: list[Paragraph] = []
    position = start
    for block in document.blocks:
        if block.end > start and block.start < end:
            found += _uncovered(document.text, position, block.start)
            found.append(Paragraph(block.kind, max(block.start, position), min(block.end, end)))
            position = found[-1].end
    return (*found, *_uncovered(document.text, position, end))


def fitting_paragraphs(text: str, paragraphs: Sequence[Paragraph], passage: Span | None) -> Sequence[Paragraph]:
    """Return as many paragraphs as a page can show, around the passage if there is one.

    A sheet of a million rows, which is one paragraph, would keep a browser busy for minutes.
    """
    if not paragraphs or paragraphs[-1].end - paragraphs[0].start <= _SHOWN:
        return paragraphs
    first = max(paragraphs[0].start, passage[0] - _SHOWN // 2 if passage else 0)
    # Whole lines, where there are any.
    before = text.rfind("\n", max(first - _LONGEST_LINE, 0), first)
    first = before + 1 if before >= 0 else first
    after = text.rfind("\n", first + _SHOWN - _LONGEST_LINE, first + _SHOWN)
    last = after if after >= 0 else first + _SHOWN
    return [
        replace(paragraph, start=max(paragraph.start, first), end=min(paragraph.end, last))
        for paragraph in paragraphs
        if paragraph.end > first and paragraph.start < last
    ]


def _uncovered(text: str, start: int, end: int) -> list[Paragraph]:
    return [Paragraph("text", start, end)] if text[start:end].strip() else []


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters [start, end) of a text that are marked or not.

    `link` is the number of their link, or None.
    """

    start: int
    end: int
    marked: bool = False
    link: int | None = None


@dataclass(frozen=True, slots=True)
class TextParagraph:
    """A paragraph to be shown as text: its kind, its runs, and its level.

    The level is the depth of a heading, or how far a paragraph is indented.

    A run has words, an element and a link. The element is "mark", "ins", "del" or "s" as in HTML, or empty. The link is
    a number or None.
    """

    kind: str
    runs: tuple[tuple[str, str, int | None], ...]
    level: int = 0


def shown_paragraph(
    document: PagedText, paragraph: Paragraph, marks: Sequence[Span], links: Sequence[Span]
) -> TextParagraph:
    """Return a paragraph as it is shown, with the words that are struck out of it."""
    struck: dict[int, list[StruckText]] = {}
    first = bisect_left(document.struck, paragraph.start, key=lambda one: one.start)
    for one in takewhile(lambda one: one.start <= paragraph.end, islice(document.struck, first, None)):
        struck.setdefault(one.start, []).append(one)
    runs: list[tuple[str, str, int | None]] = []
    # A mark without width cuts the runs at its place.
    for run in text_runs((paragraph.start, paragraph.end), [*marks, *((at, at) for at in struck)], links):
        words = document.text[run.start : run.end]
        for one in struck.pop(run.start, ()):
            runs += [(" ", "", None)] if runs else []
            runs += [(one.text, "s", None), *([] if words[:1].isspace() else [(" ", "", None)])]
        runs.append((words, "mark" if run.marked else "", run.link))
    for one in struck.get(paragraph.end, ()):
        runs += [(" ", "", None), (one.text, "s", None)]
    return TextParagraph(paragraph.kind, tuple(runs))


def text_runs(span: Span, marks: Sequence[Span], links: Sequence[Span] = ()) -> tuple[TextRun, ...]:
    """Return the runs of a text span; within a run neither marks nor links change.

    If links overlap, the first one counts.

    >>> [(run.start, run.end, run.marked) for run in text_runs((0, 10), [(2, 5)])]
    [(0, 2, False), (2, 5, True), (5, 10, False)]
    """
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
