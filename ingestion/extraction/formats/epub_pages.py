"""Pages of a printed book in its EPUB: where they begin, by marks in the text and by lists of pages."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from lxml import html

from ingestion.extraction.assemble import DraftBlock, DraftLine, Joint, paragraph
from ingestion.extraction.layout.page_numbers import declared_label, tells_apart
from ingestion.extraction.table_grid import TableGrid
from ingestion.web.html import parse, text_of

# A part of the package and the identity of an element in it, "" for the beginning.
BreakPlace = tuple[str, str]

# Signs that no text uses, around the number of a break.
_BREAK = re.compile("(\\s*)\uf8f4(\\d{1,9})\uf8f5(\\s*)")
# What has more words than a number is more than the mark of a break.
_LONGEST_MARK = 30


class PageBreaks:
    """The breaks between the printed pages of a book, as its chapters are read one after another.

    `listed` has the labels of the places that its lists of pages name.
    """

    def __init__(self, listed: Mapping[BreakPlace, str]) -> None:
        self._listed = listed
        self._labels: list[str] = []

    def mark(self, root: html.HtmlElement, chapter: str) -> range:
        """Write a sign into the text of a chapter where a page begins, and return the numbers of its breaks."""
        first = len(self._labels) + 1
        if (chapter, "") in self._listed:
            root.insert(0, html.Element("p"))
            self._replace(root[0], self._listed[chapter, ""])
        for element in list(root.iter("*")):
            listed = self._listed.get((chapter, element.get("id") or element.get("name") or "#"), "")
            if listed or _is_break(element):
                self._replace(element, listed)
        return range(first, len(self._labels) + 1)

    def kept(self, given: Iterable[DraftBlock], breaks: range) -> list[DraftBlock]:
        """Return the blocks of a chapter with these breaks, and with signs of those above its content."""
        blocks = list(given)
        found = sorted(int(one[2]) for block in blocks for line in block.lines for one in _BREAK.finditer(line.text))
        lost = set(breaks).difference(found)
        leading = [number for number in lost if not found or number < found[0]]
        if leading:
            # Above the content, as in a header.
            blocks.insert(0, paragraph(_sign(max(leading))))
        for number in lost.difference(leading):
            # Where the page after it begins is not known.
            self._labels[found[bisect(found, number) - 1] - 1] = ""
        return blocks

    def _replace(self, element: html.HtmlElement, listed: str) -> None:
        words = text_of(element, _LONGEST_MARK + 1)
        named = (listed, element.get("title", ""), element.get("aria-label", ""), words)
        label = next(filter(None, map(declared_label, named)), "")
        self._labels.append(label)
        sign = _sign(len(self._labels))
        if element.getparent() is not None and (not words or declared_label(words) == label):
            element.tail = sign + (element.tail or "")
            element.drop_tree()
        else:
            element.text = sign + (element.text or "")

    def paged(self, blocks: Iterable[DraftBlock], most: int) -> tuple[list[DraftBlock], tuple[str, ...]]:
        """Return the blocks of the chapters without signs, on their printed pages, and the labels of these.

        The chapters stay the pages where nothing or nothing useful is known, or there are more than `most`.
        """
        page, placed = 0, list[tuple[DraftBlock, DraftBlock]]()
        for block in blocks:
            on_page, page = _on_page(block, page)
            if on_page.lines or on_page.picture:
                placed.append((block, on_page))
        if len(self._labels) >= most or not tells_apart(self._labels):
            return [_moved(on_page, {}, block.page) for block, on_page in placed], ()
        # What is in front of the first break is on a page by itself.
        front = int(any(on_page.page == 0 for _, on_page in placed))
        pages = {number: number + front for number in range(len(self._labels) + 1)}
        return [_moved(on_page, pages, 0) for _, on_page in placed], (*([""] * front), *self._labels)


def _sign(number: int) -> str:
    return f"\uf8f4{number}\uf8f5"


def _is_break(element: html.HtmlElement) -> bool:
    return "pagebreak" in element.get("epub:type", "").split() or element.get("role") == "doc-pagebreak"


def _on_page(block: DraftBlock, page: int) -> tuple[DraftBlock, int]:
    """Return a block without signs, its lines on the pages of their breaks, and the page at its end."""
    parts: list[tuple[DraftLine, int]] = []
    for line in block.lines:
        # A row of a table is on the page of the break within it.
        found = list(_parts(line, page)) if block.grid is None else [_row(line, page)]
        page = found[-1][1]
        # A break at the end of a line is none within it.
        shown = [part for part in found if part[0].text]
        parts += [*shown[:-1], *((replace(last, joint=line.joint), number) for last, number in shown[-1:])]
    lines = tuple(replace(line, page=number) for line, number in parts)
    grid = _without_signs(block.grid) if block.grid is not None else None
    return replace(block, page=parts[0][1] if parts else page, lines=lines, grid=grid), page


def _parts(line: DraftLine, page: int) -> Iterator[tuple[DraftLine, int]]:
    """Yield the parts of a line between breaks, each with its page."""
    begin = 0
    for found in _BREAK.finditer(line.text):
        joint: Joint = " " if found[1] or found[3] else ""
        yield DraftLine(line.text[begin : found.start()], line.box, joint), page
        page, begin = max(page, int(found[2])), found.end()
    yield DraftLine(line.text[begin:], line.box, line.joint), page


def _row(line: DraftLine, page: int) -> tuple[DraftLine, int]:
    breaks = (int(found[2]) for found in _BREAK.finditer(line.text))
    return replace(line, text=_without_breaks(line.text)), max(page, *breaks, 0)


def _without_breaks(text: str) -> str:
    return _BREAK.sub(lambda found: " " if found[1] or found[3] else "", text).strip()


def _without_signs(grid: TableGrid) -> TableGrid:
    rows = (tuple(replace(cell, text=_without_breaks(cell.text)) for cell in row) for row in grid.grid)
    return replace(grid, grid=tuple(rows))


def _moved(block: DraftBlock, pages: Mapping[int, int], otherwise: int) -> DraftBlock:
    lines = tuple(replace(line, page=pages.get(line.page, otherwise)) for line in block.lines)
    return replace(block, page=pages.get(block.page, otherwise), lines=lines)


def listed_pages(parts: Iterable[tuple[str, bytes]]) -> dict[BreakPlace, str]:
    """Return the labels of the places that the lists of pages in these parts name."""
    found: dict[BreakPlace, str] = {}
    for name, content in parts:
        root = parse(content)
        for href, label in _entries(root) if root is not None else ():
            place = urlsplit(href)
            part = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(place.path)))
            if shown := declared_label(label):
                found.setdefault((part, unquote(place.fragment)), shown)
    return found


def _entries(root: html.HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield address and label of each page in a navigation document or an NCX, in small names."""
    for listing in root.iter("nav"):
        if "page-list" in listing.get("epub:type", "").split() or listing.get("role") == "doc-pagelist":
            yield from ((link.get("href", ""), text_of(link)) for link in listing.iter("a"))
    for target in root.iter("pagetarget"):
        label, content = target.find("navlabel"), target.find("content")
        if content is not None:
            shown = text_of(label) if label is not None else ""
            yield content.get("src", ""), shown or target.get("value", "")
