"""Ruled lines of a page: the drawn pieces of table frames, joined to whole lines; pure geometry."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_engine.types.document import Box

# Points: a line is drawn as a thin rectangle; what is larger is a filled cell, whose edges count as lines.
_THICK = 3.0
_THICK_STROKED = 12.0
_SHORTEST = 6.0
# Between the rows of a table that has horizontal lines alone.
_NEAR = 40.0
# Lines that miss each other by less are one, or meet.
SNAP = 3.0
_MOST_OF_PAGE = 0.9
_MOST_RULES = 4_000
_FEWEST_LEVELS = 3
_FEWEST_RULES = 5


@dataclass(frozen=True, slots=True)
class RuledLine:
    """A straight line: at `at` across its direction, from `start` to `end` along it."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Frame:
    """Lines of a page that touch each other: the horizontal and the vertical ones.

    `spanners` are shorter lines between the first two of a frame that has horizontal lines alone: each is drawn below
    what several columns are under.
    """

    across: tuple[RuledLine, ...]
    down: tuple[RuledLine, ...]
    spanners: tuple[RuledLine, ...] = ()

    @property
    def box(self) -> Box:
        """The rectangle around all lines."""
        xs = [edge for rule in self.across for edge in (rule.start, rule.end)] + [rule.at for rule in self.down]
        ys = [rule.at for rule in self.across] + [edge for rule in self.down for edge in (rule.start, rule.end)]
        return Box(min(xs), min(ys), max(xs), max(ys))

    @property
    def is_grid(self) -> bool:
        """Whether vertical lines part its columns."""
        return len(self.down) > 2


@dataclass(frozen=True, slots=True)
class Shape:
    """A straight shape on a page; the box of a stroked one is as much larger as its corners might be."""

    box: Box
    stroked: bool


def frames_of(drawn: Sequence[Shape], width: float, height: float) -> list[Frame]:
    """Return the frames among the shapes of a page, those with vertical lines first.

    None for too many shapes.
    """
    if not 2 <= len(drawn) <= _MOST_RULES:
        return []
    shapes = [
        shape
        for shape in drawn
        if shape.box.x1 - shape.box.x0 < _MOST_OF_PAGE * width or shape.box.y1 - shape.box.y0 < _MOST_OF_PAGE * height
    ]
    filled = [shape.box for shape in shapes if not _is_thin(shape)]
    across, down = _lines_of(filter(_is_thin, shapes))
    framed = [frame.box for frame in _touching(_whole(across), _whole(down)) if frame.is_grid] if filled else []
    for box in filled:
        # Within a frame of lines the colour of a cell or of a paragraph in it parts nothing.
        if not any(_is_within(box, frame) for frame in framed):
            across += (RuledLine(box.y0, box.x0, box.x1), RuledLine(box.y1, box.x0, box.x1))
            down += (RuledLine(box.x0, box.y0, box.y1), RuledLine(box.x1, box.y0, box.y1))
    levels = _whole(across)
    return [_with_spanners(frame, levels) for frame in _touching(levels, _whole(down))]


def _with_spanners(frame: Frame, levels: Sequence[RuledLine]) -> Frame:
    """Return the frame with the lines below its names, where it has horizontal lines alone."""
    if frame.down:
        return frame
    first, second, *_ = sorted(frame.across, key=lambda rule: rule.at)
    width = first.end - first.start
    return replace(
        frame,
        spanners=tuple(
            rule
            for rule in levels
            if first.at + SNAP < rule.at < second.at - SNAP
            and first.start - SNAP <= rule.start
            and rule.end <= first.end + SNAP
            and rule.end - rule.start < _MOST_OF_PAGE * width
        ),
    )


def _is_thin(shape: Shape) -> bool:
    thinner = min(shape.box.x1 - shape.box.x0, shape.box.y1 - shape.box.y0)
    return thinner <= (_THICK_STROKED if shape.stroked else _THICK)


def _is_within(inner: Box, outer: Box) -> bool:
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return outer.x0 <= x <= outer.x1 and outer.y0 <= y <= outer.y1


def _lines_of(shapes: Iterable[Shape]) -> tuple[list[RuledLine], list[RuledLine]]:
    """Return the horizontal and the vertical lines that thin shapes are."""
    across: list[RuledLine] = []
    down: list[RuledLine] = []
    for shape in shapes:
        box = shape.box
        wide, high = box.x1 - box.x0, box.y1 - box.y0
        half = min(wide, high) / 2 if shape.stroked else 0.0
        if wide > high:
            across.append(RuledLine((box.y0 + box.y1) / 2, box.x0 + half, box.x1 - half))
        else:
            down.append(RuledLine((box.x0 + box.x1) / 2, box.y0 + half, box.y1 - half))
    return across, down


def _whole(rules: Iterable[RuledLine]) -> list[RuledLine]:
    """Return the lines that the pieces make which lie on one line and touch."""
    levels: list[list[RuledLine]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if levels and rule.at - levels[-1][0].at <= SNAP:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    joined: list[RuledLine] = []
    for level in levels:
        at = sum(rule.at for rule in level) / len(level)
        start = end = None
        for rule in sorted(level, key=lambda rule: rule.start):
            if start is None or end is None or rule.start > end + SNAP:
                if start is not None and end is not None:
                    joined.append(RuledLine(at, start, end))
                start, end = rule.start, rule.end
            else:
                end = max(end, rule.end)
        if start is not None and end is not None:
            joined.append(RuledLine(at, start, end))
    return [rule for rule in joined if rule.end - rule.start >= _SHORTEST]


def _touching(across: Sequence[RuledLine], down: Sequence[RuledLine]) -> list[Frame]:
    """Return the groups of lines that meet, and of horizontal lines of one width above each other."""
    groups = _Groups(len(across) + len(down))
    down = sorted(down, key=lambda rule: rule.at)
    places = [rule.at for rule in down]
    for i, level in enumerate(across):
        for j in range(bisect_left(places, level.start - SNAP), bisect_right(places, level.end + SNAP)):
            if down[j].start - SNAP <= level.at <= down[j].end + SNAP:
                groups.join(i, len(across) + j)
    crossed = {groups.root(at) for at in range(len(across), len(across) + len(down))}
    for i, level in enumerate(across):
        for j in range(i - 1, -1, -1):
            above = across[j]
            if abs(above.start - level.start) <= SNAP and abs(above.end - level.end) <= SNAP:
                # Two tables of one width are two; one whose header alone is in a frame goes on below it.
                ruled = (groups.root(i) in crossed) + (groups.root(j) in crossed)
                if not ruled or (ruled == 1 and level.at - above.at <= _NEAR):
                    joined = groups.join(j, i)
                    crossed |= {joined} if ruled else set()
                    break
    members: defaultdict[int, tuple[list[RuledLine], list[RuledLine]]] = defaultdict(lambda: ([], []))
    for at, rule in enumerate((*across, *down)):
        members[groups.root(at)][at >= len(across)].append(rule)
    # One line below the head of a page and one above its foot are no table, nor is a single box.
    frames = [
        Frame(tuple(levels), tuple(uprights))
        for levels, uprights in members.values()
        if len(levels) > 1 and len(levels) + len(uprights) >= (_FEWEST_RULES if uprights else _FEWEST_LEVELS)
    ]
    return sorted(frames, key=lambda frame: (not frame.down, frame.box.y0))


class _Groups:
    """Numbers in groups that can be joined."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def root(self, at: int) -> int:
        """Return the number that stands for the group of this one."""
        while self._above[at] != at:
            self._above[at] = self._above[self._above[at]]
            at = self._above[at]
        return at

    def join(self, kept: int, other: int) -> int:
        """Join the groups of two numbers, and return the number of the joined group."""
        root = self.root(kept)
        self._above[self.root(other)] = root
        return root
