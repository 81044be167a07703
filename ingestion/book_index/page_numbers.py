"""Printed page numbers as pages of the file.

They come from the page labels of the file, else from the numbers printed on its pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.extraction.layout.page_numbers import Printed, value_of

_NUMBER = re.compile(r"(?<![\w.,/-])(?:\d{1,4}|[ivxlc]{1,8})(?![\w/]|[.,]\d)")
# A distance between printed and real numbers is believed when so many pages in a row show it.
_ENOUGH_PAGES = 3


@dataclass(frozen=True, slots=True)
class PageNumbers:
    """The page of the file that bears each printed number; `told_by` says how that is known.

    `pages` maps (is Roman, value) to a page from 1. Numbers that are on no page follow `shift`, the distance that
    most Arabic numbers have; 0 if nothing was known.
    """

    pages: Mapping[Printed, int]
    shift: int
    count: int
    told_by: str

    def page(self, printed: str) -> int | None:
        """Return the page of the file that bears a printed number; None if the file has no such page."""
        number = value_of(printed)
        if number is None:
            return None
        if number in self.pages:
            return self.pages[number]
        page = number[1] + self.shift
        return page if not number[0] and 1 <= page <= self.count else None


def page_numbers(labels: Sequence[str], margins: Mapping[int, Sequence[str]], count: int) -> PageNumbers:
    """Return the page numbers of a file of `count` pages.

    `labels` are its page labels, one a page, as they were believed or declared, empty if it has none; `margins` are the
    lines at the top and bottom of its pages. Labels that the printed numbers contradict are not believed: many programs
    number from 1 and ignore the print.

    >>> numbers = page_numbers(["i", "ii", "1", "2", "3"], {}, 5)
    >>> numbers.page("ii"), numbers.page("2"), numbers.page("9")
    (2, 4, None)
    """
    printed = _printed_numbers(margins)
    if labels:
        labelled = _from_labels(labels)
        seen = [(number, page) for number, page in printed.items() if number in labelled]
        agreeing = sum(labelled[number] == page for number, page in seen)
        if labelled and 2 * agreeing >= len(seen):
            return PageNumbers(labelled, _shift(labelled), count, "page labels")
    if printed:
        return PageNumbers(printed, _shift(printed), count, "printed page numbers")
    return PageNumbers({}, 0, count, "")


def _from_labels(labels: Sequence[str]) -> dict[Printed, int]:
    """Return the page of each number; a number that labels two pages belongs to the longer run of labels."""
    runs: list[list[tuple[Printed, int]]] = []
    for page, label in enumerate(labels, 1):
        number = value_of(label)
        if number is None:
            continue
        if runs and (last := runs[-1][-1])[1] == page - 1 and last[0] == (number[0], number[1] - 1):
            runs[-1].append((number, page))
        else:
            runs.append([(number, page)])
    found: dict[Printed, int] = {}
    for run in sorted(runs, key=len):
        found.update(run)
    return found


def _printed_numbers(margins: Mapping[int, Sequence[str]]) -> dict[Printed, int]:
    """Return the page of each number, from the numbers in the margins that go up with the pages.

    Each number of a margin votes for its distance from the page's place. A distance is believed if three pages in a row
    show it, or every other page of six. If two claim the same number, the one with the most votes wins.
    """
    pages_of: defaultdict[tuple[bool, int], list[int]] = defaultdict(list)
    for page in sorted(margins):
        written = (found for line in margins[page] for found in _NUMBER.findall(line.strip()))
        numbers = {number for found in written if (number := value_of(found)) is not None}
        for is_roman, value in numbers:
            pages_of[is_roman, page - value].append(page)
    found: dict[Printed, int] = {}
    for (is_roman, distance), pages in sorted(pages_of.items(), key=lambda one: len(one[1])):
        if _in_a_row(pages) >= _ENOUGH_PAGES:
            # The pages between those that show their number have one too: the first of a chapter often hides it.
            for page in range(pages[0], pages[-1] + 1):
                if page in pages or (is_roman, page - distance) not in found:
                    found[is_roman, page - distance] = page
    return {number: page for number, page in found.items() if number[1] > 0}


def _in_a_row(pages: Sequence[int]) -> int:
    """Return the most pages that follow each other, at most one being left out between two."""
    best = run = 1
    for before, page in pairwise(pages):
        run = run + 1 if page - before <= 2 else 1
        best = max(best, run)
    return best


def _shift(pages: Mapping[Printed, int]) -> int:
    shifts = Counter(page - value for (is_roman, value), page in pages.items() if not is_roman)
    return shifts.most_common(1)[0][0] if shifts else 0
