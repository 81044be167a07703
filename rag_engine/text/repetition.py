"""The end of a text that repeats itself, as a small model writes until its limit of tokens."""

from __future__ import annotations

import re

# Characters at the end of a text in which a repetition is looked for.
_WINDOW = 4000
# The least length of a repetition, and the least number of times that it has its piece.
_LEAST_CHARACTERS = 200
_LEAST_TIMES = 3
# Characters after which it is worth while to look again at a text that grows.
CHECKED_EVERY = 100
_END = re.compile(r"[.!?\n](?=\s|$)")
_NUMBER_OF_ITEM = re.compile(r"^[ \t]*\d+", re.MULTILINE)


def repetition_start(text: str, *, worded: bool = True) -> int | None:
    """Return the place from which a text only repeats itself, None without a repetition.

    The first of the repeated pieces is before that place. The numbers of a list make no difference. A piece without a
    letter, such as a line of a table, is no repetition unless `worded` is False.
    """
    tail = _NUMBER_OF_ITEM.sub(lambda match: "#" * len(match.group()), text[-_WINDOW:])
    found = None
    for length, border in enumerate(_borders(tail[::-1]), start=1):
        period = length - border
        if length >= max(_LEAST_CHARACTERS, _LEAST_TIMES * period):
            found = length, period
    if found is None:
        return None
    length, period = found
    if worded and not any(character.isalpha() for character in tail[-period:]):
        return None
    return _sentence_end(text, len(text) - length + period, period)


def _sentence_end(text: str, place: int, period: int) -> int:
    """Return the end of the sentence at a place.

    A round may begin within the full stop and mark before it.
    """
    before = text[:place].rstrip()
    if not before or _END.search(before, len(before) - 1):
        return place
    end = _END.search(text, place, place + period)
    return end.end() if end else place


def _borders(text: str) -> list[int]:
    """Return for each beginning of a text the length of its longest border (Knuth, Morris and Pratt 1977)."""
    borders = [0] * len(text)
    border = 0
    for place in range(1, len(text)):
        while border and text[place] != text[border]:
            border = borders[border - 1]
        border += text[place] == text[border]
        borders[place] = border
    return borders
