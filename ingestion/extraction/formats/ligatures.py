"""Ligatures that a PDF names by their last letter alone: "deinition" for "definition", "hey" for "They".

Some fonts are embedded with a table that gives one character for a glyph of two or three. The glyph is still as wide as
its letters together, which tells it from the letter that it is called.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

# By the letter that is left, what the glyph may be.
_LIGATURES: Mapping[str, tuple[str, ...]] = {
    "i": ("fi", "ffi", "tti", "ti", "Ti"),
    "l": ("fl", "ffl"),
    "f": ("ff",),
    "h": ("Th", "fh"),
    "t": ("tt", "ft", "ct", "st"),
    "j": ("fj",),
}
_PARTS = frozenset("".join(_LIGATURES)).union(*(one for several in _LIGATURES.values() for one in several))
# Every language that has so many f has some of these pairs among them.
_MANY, _PAIRS = 20, re.compile("f[fil]")
_FEWEST_PAIRS = 1 / 30
_FEWEST = 3
_PAGES_WITHOUT = 2
# By chance a page of fewer f has few pairs, in a document that has enough.
_SURELY_MANY = 60
# How much wider than the letter the glyph is at least, and how near it comes to its letters together: set as one they
# stand a little closer.
_WIDER = 1.45
_CLOSER, _FARTHER = 0.86, 1.03

Spans = Sequence[dict[str, Any]]


class LigatureSearch:
    """Search for lost ligatures in the pages of one document, given up where several suspicious pages have none."""

    def __init__(self) -> None:
        self._left = _PAGES_WITHOUT
        self._many = self._pairs = 0

    def is_due(self, text: str) -> bool:
        """Return whether the glyphs of the document's next page, with this text, are to be looked at."""
        many, pairs = _counted(text)
        self._many += many
        self._pairs += pairs
        suspicious = _are_few(many, pairs) and (many >= _SURELY_MANY or _are_few(self._many, self._pairs))
        return self._left > 0 and suspicious

    def spell(self, spans: Spans) -> bool:
        """Spell the ligatures of a page's raw spans; return whether there were any."""
        lost = spell_ligatures(spans) > 0
        self._left = _PAGES_WITHOUT if lost else self._left - 1
        return lost


def _counted(text: str) -> tuple[int, int]:
    """Return how many f a text has, and how many of the pairs with f that language has."""
    return text.count("f"), len(_PAIRS.findall(text))


def _are_few(many: int, pairs: int) -> bool:
    return many >= _MANY and pairs < many * _FEWEST_PAIRS


def spell_ligatures(spans: Spans) -> int:
    """Give the raw spans of a page a text in which lost ligatures are spelled; return how many there were.

    A raw span has "chars", each with "c" and "bbox", and the "font" and "size" that they are set in.
    """
    widths: dict[str, dict[str, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    for span in spans:
        size, found = span["size"], widths[span["font"]]
        for char in span["chars"]:
            if char["c"] in _PARTS:
                found[char["c"]][_width(char, size)] += 1
    if not any(_is_wide(one) for found in widths.values() for letter, one in found.items() if letter in _LIGATURES):
        return 0
    usual = {font: {letter: _narrowest(found) for letter, found in letters.items()} for font, letters in widths.items()}
    spelled = [_spelled(span, usual[span["font"]]) for span in spans]
    lost = sum(count for _, count in spelled)
    # Fewer may be letters that were set wide.
    for span, (text, _) in zip(spans, spelled, strict=True):
        span["text"] = text if lost >= _FEWEST else "".join(char["c"] for char in span["chars"])
    return lost if lost >= _FEWEST else 0


def _is_wide(widths: Counter[float]) -> bool:
    return max(widths) >= _WIDER * _narrowest(widths)


def _narrowest(widths: Counter[float]) -> float:
    """Return the width of the letter itself: of a letter that is nearly always a ligature it is not the commonest."""
    found = [width for width, count in widths.items() if count > 1 and width > 0]
    return min(found, default=widths.most_common(1)[0][0])


def _spelled(span: Mapping[str, Any], usual: Mapping[str, float]) -> tuple[str, int]:
    """Return the text of a raw span and how many ligatures were spelled in it."""
    parts: list[str] = []
    lost = 0
    chars = span["chars"]
    for place, char in enumerate(chars):
        letter, before = char["c"], chars[place - 1]["c"] if place else " "
        following = _width(chars[place + 1], span["size"]) if place + 1 < len(chars) else 1.0
        # Where a glyph has its letters already, the first has all its width and the next none.
        meant = _meant(letter, _width(char, span["size"]), usual) if following > 0 else letter
        if meant[0].isupper() and letter.islower() and before.isalpha():
            meant = letter
        lost += meant != letter
        parts.append(meant)
    return "".join(parts), lost


def _meant(letter: str, width: float, usual: Mapping[str, float]) -> str:
    """Return the letters that a glyph of this width shows."""
    if letter not in _LIGATURES or width < _WIDER * usual[letter]:
        return letter
    # The first that fits is the commonest.
    known = (one for one in _LIGATURES[letter] if all(usual.get(part) for part in one))
    fitting = (one for one in known if _CLOSER <= width / sum(usual[part] for part in one) <= _FARTHER)
    return next(fitting, letter)


def _width(char: Mapping[str, Any], size: float) -> float:
    x0, _, x1, _ = char["bbox"]
    return round(float(x1 - x0) / (size or 1.0), 2)
