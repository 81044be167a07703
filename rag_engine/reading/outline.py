"""Outline of a document: its headings and sections with their pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_engine.storage.catalog import ParentRecord


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading: where what is under it begins in the document's text, its page, and how many headings it is under."""

    title: str
    depth: int
    start: int
    page: int


def outline(parents: Iterable[ParentRecord]) -> tuple[OutlineEntry, ...]:
    """Return the headings of a document's parents (in reading order), each once where its text begins.

    A section without a heading is called by its label: "Article 9".
    """
    found: list[OutlineEntry] = []
    before: tuple[str, ...] = ()
    for parent in parents:
        path = _path(parent)
        shared = _shared(before, path)
        for depth in range(shared, len(path)):
            found.append(OutlineEntry(path[depth], depth, parent.start, parent.page))
        before = path
    return tuple(found)


def heading_at(entries: Sequence[OutlineEntry], offset: int) -> str:
    """Return the innermost heading above an offset of the document's text, "" in front of the first."""
    place = bisect_right(entries, offset, key=lambda entry: entry.start)
    return entries[place - 1].title if place else ""


def _path(parent: ParentRecord) -> tuple[str, ...]:
    headings = tuple(" ".join(one.split()) for one in parent.headings)
    label = " ".join(parent.section.split())
    if not label or any(one.casefold().startswith(label.casefold()) for one in headings):
        return headings
    return (*headings, label)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many headings two paths begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
