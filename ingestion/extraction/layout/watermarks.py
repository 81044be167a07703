"""Words stamped across a page, such as DRAFT; pure geometry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rag_engine.types.document import Box

# How many times larger than the text a stamp is that is written over it.
_LARGER = 1.8
_FEWEST_LETTERS, _MOST_WORDS = 3, 8
# How often slanted words are repeated that tile a page.
_TILES = 4
# How many lines level words cross; one is enough for pale ones.
_CROSSED = 2


@dataclass(frozen=True, slots=True)
class StampedLine:
    """A printed line; `slanted` if it is neither level nor upright, `pale` if it is nearly white."""

    text: str
    box: Box
    size: float
    slanted: bool
    pale: bool


def watermarks(lines: Sequence[StampedLine]) -> list[int]:
    """Return the places of the lines that are stamped over others, or slanted and large or repeated."""
    if not lines:
        return []
    usual = median(line.size for line in lines if not line.slanted) if not all(line.slanted for line in lines) else 0.0
    repeated = Counter(line.text for line in lines if line.slanted)
    return [
        place
        for place, line in enumerate(lines)
        if sum(map(str.isalpha, line.text)) >= _FEWEST_LETTERS
        and len(line.text.split()) <= _MOST_WORDS
        and (_is_tile(line, usual, repeated) if line.slanted else _crosses(line, lines, usual))
    ]


def _is_tile(line: StampedLine, usual: float, repeated: Counter[str]) -> bool:
    return line.size > _LARGER * usual or repeated[line.text] >= _TILES


def _crosses(line: StampedLine, lines: Sequence[StampedLine], usual: float) -> bool:
    """Return whether a large line is written over others."""
    if line.size <= _LARGER * usual:
        return False
    quarter = (line.box.y1 - line.box.y0) / 4
    crossed = 0
    for other in lines:
        middle = (other.box.y0 + other.box.y1) / 2
        across = min(line.box.x1, other.box.x1) - max(line.box.x0, other.box.x0)
        narrower = min(line.box.x1 - line.box.x0, other.box.x1 - other.box.x0)
        within = line.box.y0 + quarter < middle < line.box.y1 - quarter and across > narrower / 2
        crossed += other is not line and other.size * _LARGER < line.size and within
    return crossed >= (1 if line.pale else _CROSSED)
