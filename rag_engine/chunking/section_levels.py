"""What stands above a section: levels and other headings, each in its rank."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from rag_engine.chunking.section_headings import (
    LONGEST_HEADING,
    Mark,
    Place,
    is_marginal_title,
    is_title_line,
)
from rag_engine.chunking.section_rules import Rules

_LETTERED = re.compile(r"[A-ZÇĞİÖŞÜ][).]\s")
# Below the levels with a noun come headings without a number, then A), I., 1.
LOOSE_RANK, _LETTER_RANK, _NUMERAL_RANK, _NUMBER_RANK = 50, 60, 61, 62

Stack = list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """How headings without a noun are ranked: by their size against that of the units' own, `size`.

    `by_size` gives the rank of the levels of a size, which a greater heading of that size shares.
    """

    level_ranks: Mapping[str, int]
    size: float | None
    by_size: Mapping[float | None, int]

    def is_greater(self, mark: Mark) -> bool:
        """Whether the heading is printed larger than the units' own."""
        return self.size is not None and (mark.font_size or 0) > self.size + 0.5

    def rank(self, mark: Mark) -> int:
        """The rank of a heading, 0 the outermost."""
        if mark.kind == "level":
            return self.level_ranks.get(mark.kind_of_noun, 0)
        if mark.kind == "numeral":
            return _NUMERAL_RANK
        if mark.kind == "numbered":
            return _NUMBER_RANK + mark.number.count(".")
        if _LETTERED.match(mark.title):
            return _LETTER_RANK
        return self.by_size.get(mark.font_size, 0) if self.is_greater(mark) else LOOSE_RANK


def ranking_of(marks: Sequence[Mark], rules: Rules) -> Ranking:
    """The ranking of a text's headings."""
    sizes = [mark.font_size for mark in marks if mark.kind in ("unit", "decision") and mark.font_size]
    by_size = {
        mark.font_size: rules.level_ranks.get(mark.kind_of_noun, 0) for mark in reversed(marks) if mark.kind == "level"
    }
    return Ranking(rules.level_ranks, median(sizes) if sizes else None, by_size)


def put_on(stack: Stack, run: Sequence[Mark], ranking: Ranking) -> None:
    """Nothing; puts headings on the stack of those above, each in place of those of its rank and below."""
    place = 0
    while place < len(run):
        mark = run[place]
        place += 1
        rank, heading = ranking.rank(mark), heading_of(mark)
        # "II." and "CAPÍTULO I" have their title on the next line.
        while place < len(run) and _is_continued(mark, run[place], ranking):
            heading = f"{heading} {run[place].title}"
            mark, place = replace(run[place], kind=mark.kind), place + 1
        while stack and stack[-1][0] >= rank:
            stack.pop()
        stack.append((rank, heading))


def heading_of(mark: Mark) -> str:
    """The heading as it is printed, label and title."""
    return " ".join(part for part in (mark.label, mark.title) if part)


def title_below(text: str, places: Sequence[Place], marks: Sequence[Mark], index: int) -> str:
    """The title on the line below a bare label; empty where there is none."""
    mark = marks[index]
    following = mark.place + 1
    if mark.title or mark.runs_on or following >= len(places):
        return ""
    taken = next((one for one in islice(marks, index + 1, None) if one.place >= following), None)
    if taken and taken.place == following and taken.kind != "loose":
        return ""
    place = places[following]
    return " ".join(text[place.start : place.end].split()) if is_title_line(text, place) else ""


def goes_with_heading(text: str, place: Place, mark: Mark) -> bool:
    """Whether the line after a heading is a note on it in brackets, or its title."""
    line = text[place.start : place.end]
    bracketed = line.startswith("(") and line.endswith(")") and len(line) < LONGEST_HEADING and not line[1:2].isdigit()
    titles = (not mark.title or line.isupper()) and is_title_line(text, place)
    return mark.kind == "level" and (bracketed or titles)


def with_marginal_title(text: str, place: Place, start: int, rules: Rules) -> int:
    """The start of a unit inside a line, or that of the line where all before it is the unit's own title."""
    return place.start if rules.dashed and is_marginal_title(text[place.start : start].strip()) else start


def _is_continued(mark: Mark, below: Mark, ranking: Ranking) -> bool:
    """Whether the heading below is the title of a bare level, or goes on with a heading of the same large size."""
    if below.kind != "loose" or below.place != mark.place + 1 or _LETTERED.match(below.title):
        return False
    bare = mark.kind in ("level", "numeral") and not mark.title
    return bare or (mark.kind == "level" and ranking.is_greater(mark) and mark.font_size == below.font_size)
