"""Excerpts of a text around its quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rag_engine.text.sentences import Span

_MORE = " …"
# Characters of a word at most: a longer one, such as a line of Chinese, is cut anywhere.
_LONGEST_WORD = 64
_BLANK, _COMMA = re.compile(r"\s"), re.compile("[,;|/、，；。]")


def excerpt(text: str, quotes: Sequence[Span], around: int, length: int) -> list[tuple[str, bool]]:
    """Return pieces of about `length` characters of the text, each with whether it is quoted.

    They begin a little before the first quote; without a quote, at `around`. Cuts fall between words and show as an
    ellipsis. A quote is never cut.
    """
    pieces = told_apart(text, window(text, quotes, around, length), quotes)
    return [(piece, quoted) for piece, (quoted,) in pieces]


def beginning(text: str, length: int) -> str:
    """Return the first words of a text, about `length` characters, with an ellipsis for the rest."""
    end = word_end(text, length)
    return text if end == len(text) else f"{text[:end]}{_MORE}"


def shortened(text: str, length: int) -> str:
    """Return the first words of a text in at most `length` characters, with an ellipsis for the rest."""
    if len(text) <= length:
        return text
    most = length - len(_MORE)
    words = text[: word_start(text, most + 1)].rstrip()
    return f"{words[:most] or text[:most]}{_MORE}"


def window(text: str, quotes: Sequence[Span], around: int, length: int) -> Span:
    """Return the characters [start, end) of an excerpt."""
    inside = merged_spans((max(start, 0), min(end, len(text))) for start, end in quotes)
    first = inside[0][0] - length // 4 if inside else around
    start = word_start(text, max(0, min(first, len(text) - length)))
    # The first quote is whole, however long the word before it.
    reached = [*inside[:1], *(one for one in inside if one[0] < start + length)]
    stop = max([start + length, *(end for _, end in reached)])
    return start, word_end(text, stop)


def told_apart(text: str, shown: Span, *kinds: Sequence[Span]) -> list[tuple[str, tuple[bool, ...]]]:
    """Return the pieces of a text within `shown`, each with a flag for each kind of places.

    A flag says whether the piece is in a place of that kind. An ellipsis replaces text that is left out before and
    after.
    """
    start, end = shown
    merged = [merged_spans(places) for places in kinds]
    cuts = {start, end, *(cut for places in merged for place in places for cut in place if start < cut < end)}
    pieces = [
        (text[a:b], tuple(any(first <= a < last for first, last in places) for places in merged))
        for a, b in pairwise(sorted(cuts))
    ]
    nothing = (False,) * len(kinds)
    before = [("… ", nothing)] if start else []
    return [*before, *pieces, *([(_MORE, nothing)] if end < len(text) else [])]


def merged_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, overlapping or touching ones as one, without empty ones."""
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def word_start(text: str, position: int) -> int:
    """Return the start of the word that a position cuts, else the position.

    Far inside a long word it is the position itself. A list without blanks is parted at its commas.
    """
    first = max(0, position - _LONGEST_WORD)
    for signs in (_BLANK, _COMMA):
        ends = [found.end() for found in signs.finditer(text, first, position)]
        if ends or not first:
            return ends[-1] if ends else 0
    return position


def word_end(text: str, position: int) -> int:
    """Return the end of the word that a position cuts, else the position.

    Far inside a long word it is the position itself. A list without blanks is parted at its commas.
    """
    last = position + _LONGEST_WORD
    for signs in (_BLANK, _COMMA):
        found = signs.search(text, position, last)
        if found or last >= len(text):
            return found.start() if found else len(text)
    return position
