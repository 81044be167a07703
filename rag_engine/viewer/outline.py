"""Outline of a document: its headings and sections with their pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_engine.chunking.headings import shared_headings, titles
from rag_engine.storage.catalog import ParentRecord
from rag_engine.storage.indexer import page_at
from rag_engine.text.sentences import Span
from rag_engine.viewer.pages import PagedText

# Characters of a parent in which its headings are.
_BEGINNING = 600


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading with its page; `depth` counts the headings above it.

    It has the characters [start, end) of the document's text.
    """

    title: str
    depth: int
    start: int
    end: int
    page: int


def outline(parents: Sequence[ParentRecord], document: PagedText, title: str) -> tuple[OutlineEntry, ...]:
    """Return the headings of a document with this title and these parents, in reading order.

    They are the headings of the parents. A text that is a single parent, or was cut by its meaning, has more headings:
    then the titles of its layout are returned.
    """
    by_parents = _of_parents(parents)
    if len(parents) > 1 and by_parents:
        return by_parents
    by_layout = _of_layout(document, title)
    return by_layout if len(by_layout) >= len(by_parents) else by_parents


def _of_parents(parents: Iterable[ParentRecord]) -> tuple[OutlineEntry, ...]:
    """Return the headings of the parents, each once where its text begins.

    A section without a heading is called by its label: "Article 9". A heading that its text does not begin with as it
    is written is at the first line of it.
    """
    found: list[OutlineEntry] = []
    before: tuple[str, ...] = ()
    for parent in parents:
        path = _path(parent)
        for depth in range(len(shared_headings(before, path)), len(path)):
            start, end = _heading_span(parent, path[depth])
            found.append(OutlineEntry(path[depth], depth, start, end, parent.page))
        before = path
    return tuple(found)


def _of_layout(document: PagedText, title: str) -> tuple[OutlineEntry, ...]:
    """Return the titles that the layout shows.

    If the document's title is printed, later titles are below it.
    """
    found: list[OutlineEntry] = []
    above = 0
    for one in titles(document.text, document.blocks, document.lines, title):
        words = " ".join(document.text[one.start : one.end].split())
        depth = above + len(one.path) - 1 if one.path else 0
        above = above if one.path else 1
        found.append(OutlineEntry(words, depth, one.start, one.end, page_at(document.lines, one.start)))
    return tuple(found)


def outline_of_sheets(text: PagedText) -> tuple[OutlineEntry, ...]:
    """Return the sheets of a workbook: small ones are in one parent, which has no heading then."""
    named: dict[int, OutlineEntry] = {}
    for block in text.blocks:
        if block.kind == "heading" and block.page not in named:
            title = " ".join(text.text[block.start : block.end].split())
            named[block.page] = OutlineEntry(title, 0, block.start, block.end, block.page)
    return tuple(named.values())


def heading_at(entries: Sequence[OutlineEntry], offset: int) -> str:
    """Return the innermost heading above an offset of the document's text, "" in front of the first."""
    place = bisect_right(entries, offset, key=lambda entry: entry.start)
    return entries[place - 1].title if place else ""


def place_in(entries: Sequence[OutlineEntry], page: int, passage: Span | None) -> int | None:
    """Return the position of the entry that a reader is under, None in front of the first.

    That is the innermost above the passage, if one is shown, else the first that begins on the page or the last before.
    """
    if passage is not None:
        above = [number for number, entry in enumerate(entries) if entry.start <= passage[0]]
        if above:
            return above[-1]
    on_page = next((number for number, entry in enumerate(entries) if entry.page == page), None)
    before = [number for number, entry in enumerate(entries) if entry.page < page]
    return on_page if on_page is not None else before[-1] if before else None


def _heading_span(parent: ParentRecord, heading: str) -> Span:
    words = re.search(r"\s+".join(map(re.escape, heading.split())), parent.text[:_BEGINNING])
    line = re.search(r"\S.*", parent.text)
    found = words or line
    return (parent.start + found.start(), parent.start + found.end()) if found else (parent.start, parent.end)


def _path(parent: ParentRecord) -> tuple[str, ...]:
    headings = tuple(" ".join(heading.split()) for heading in parent.headings)
    label = " ".join(parent.section.split())
    if not label or any(heading.casefold().startswith(label.casefold()) for heading in headings):
        return headings
    return (*headings, label)
