"""A text's marks laid out as sections that cover it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rag_engine.chunking.section_headings import Mark, Place
from rag_engine.chunking.section_reading import Opening, Reader
from rag_engine.chunking.section_rules import Rules


@dataclass(frozen=True, slots=True)
class Section:
    """Characters [start, end) of the text that are cited together; `section` is empty where nothing is cited.

    `numbered` tells a unit with a number from a preamble, annex or title page. `inner` are the starts of headings
    inside it, with those headings; `label_start` is where its own label begins, after the headings above it.
    """

    start: int
    end: int
    section: str = ""
    act: str = ""
    headings: tuple[str, ...] = ()
    numbered: bool = False
    inner: tuple[tuple[int, str], ...] = ()
    label_start: int = 0


def laid_out(
    text: str, places: Sequence[Place], marks: Sequence[Mark], rules: Rules, title: str, act: str
) -> list[Section]:
    """The sections in reading order; they cover the text from its first line without gaps.

    `title` is the document's, the outermost heading; `act` the name its units belong to.
    """
    reader = Reader(text, places, marks, rules, title, act)
    openings, first = reader.openings, places[0].start
    if not openings or openings[0].start > first:
        openings.insert(0, Opening(first, "", act, (title,) if title else (), numbered=False, label_start=first))
    openings = [one for place, one in enumerate(openings) if not place or not _continues(openings[place - 1], one)]
    ends = [one.start for one in openings[1:]] + [len(text)]
    inner = sorted(reader.inner)
    starts = [start for start, _ in inner]
    return [
        Section(
            one.start,
            end,
            one.section,
            one.act,
            one.headings,
            one.numbered,
            tuple(inner[bisect_right(starts, one.start) : bisect_left(starts, end)]),
            one.label_start,
        )
        for one, end in zip(openings, ends, strict=True)
    ]


def _continues(before: Opening, one: Opening) -> bool:
    """Whether the same section is printed again, in another wording."""
    return bool(one.section) and (before.section, before.act) == (one.section, one.act)
