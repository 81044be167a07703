"""Words set or typed with space between their letters, made whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

# Letters that stand alone, one after another. Two spaces or more part words.
SPACED = re.compile(r"(?<!\S)[^\W\d_](?:[^\S\n]{1,3}[^\W\d_]){3,}(?:[^\S\n]{1,3}[^\W\d_]|[^\S\n][,.;:–-])*(?!\S)")
# What every such run has inside, and few texts have: it is found in a fifth of the time.
_TWO_ALONE = re.compile(r"\s[^\W\d_]\s{1,3}[^\W\d_]\s")
_GAP = re.compile(r"(\s{2,})")
_VOWEL = re.compile(r"[aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýαεηιουωаеиоуыэюяіїєıöü]", re.IGNORECASE)
# By how much a gap between words is wider than that between letters, in gaps and in sizes of the type.
_WIDER, _SIZES = 1.5, 0.1


def has_spaced_letters(text: str) -> bool:
    """Return whether letters of a text stand alone, one after another."""
    return bool(_TWO_ALONE.search(text) and SPACED.search(text))


def with_joined_letters(text: str) -> str:
    """Return the text with spaced letters joined to words; letters in alphabetical order are a list.

    >>> with_joined_letters("T H E   W A T E R   A C T"), with_joined_letters("Annexes A B C D")
    ('THE WATER ACT', 'Annexes A B C D')
    """
    return SPACED.sub(_joined, text)


def with_word_gaps(letters: Sequence[tuple[str, float, float]], size: float) -> str:
    """Return the text of a line of characters with their edges, two spaces between spaced words."""
    text = "".join(letter for letter, _, _ in letters)
    parts, beyond = [], 0
    for run in SPACED.finditer(text):
        shown = [one for one in letters[run.start() : run.end()] if not one[0].isspace()]
        gaps = [right[1] - left[2] for left, right in pairwise(shown)]
        widest = _WIDER * median(gaps) + _SIZES * size
        parts.append(text[beyond : run.start()] + shown[0][0])
        parts += [("  " if gap > widest else " ") + one[0] for gap, one in zip(gaps, shown[1:], strict=True)]
        beyond = run.end()
    return "".join([*parts, text[beyond:]])


def _joined(run: re.Match[str]) -> str:
    letters = run[0].split()
    listed = all(ord(after) - ord(before) == 1 for before, after in pairwise(letters))
    if listed or not _VOWEL.search(run[0]):
        return run[0]
    return "".join(gap[:1] if gap.isspace() else "".join(gap.split()) for gap in _GAP.split(run[0]))
