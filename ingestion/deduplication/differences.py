"""Differences between two texts that are nearly alike: what only one of them says."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

# Words beyond these are not compared; aligning so many takes about a second.
_MOST_WORDS = 60_000
# Likeness (0-100) of the letters from which a replaced passage is the same one, misread, hyphenated or spaced.
_SAME_LETTERS = 75
# So many equal words between two differences are chance, and a passage of so many elsewhere was moved.
_CHANCE = 2
_MOVED = 4
# A subject is another's when so many of its mentions are replaced, of so many words at most and letters at least.
_OFTEN = 3
_LONGEST_NAME = 3
_NAME_LETTERS = 3

_WORD = re.compile(r"\w+")
_HYPHEN = re.compile("(?<=\\w)[-\u2010]\\s*\n\\s*(?=\\w)|\u00ad")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Differences:
    """Words that each of two texts has where the other has none or others.

    `contradict` tells texts that both have words of their own from those of which one holds the other, as a copy with
    a cover page does. `inside` tells whether anything differs between their first and last common words. `renamed`:
    a word stands throughout where the other text has another, as in plans of two towns made after one template.
    """

    one: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    contradict: bool = False
    inside: bool = False
    renamed: bool = False

    def latest_years(self, today: int) -> tuple[int, int]:
        """Return the latest year up to today's that only the one and only the other text names; 0 for none."""
        return _latest(self.one, today), _latest(self.other, today)


def find_differences(one: str, other: str) -> Differences:
    """Return how two texts differ, apart from misread letters and from what was moved."""
    left, right = _words(one), _words(other)
    moved = frozenset(_runs(left)) & frozenset(_runs(right))
    own_left, own_right = list[str](), list[str]()
    inside = False
    replaced: Counter[tuple[str, str]] = Counter()
    for start, end, from_, to in _spans(left, right):
        ours, theirs = _own(left[start:end], moved), _own(right[from_:to], moved)
        common = Counter(ours) & Counter(theirs)
        ours, theirs = _without(ours, common), _without(theirs, common)
        if _same_letters(ours, theirs):
            continue
        own_left += ours
        own_right += theirs
        if max(len(ours), len(theirs)) <= _LONGEST_NAME:
            replaced[" ".join(ours), " ".join(theirs)] += 1
        at_edge = (start == 0 and from_ == 0) or (end == len(left) and to == len(right))
        inside = inside or not at_edge or bool(ours and theirs)
    return Differences(
        tuple(own_left),
        tuple(own_right),
        contradict=bool(own_left and own_right),
        inside=inside,
        renamed=any(count >= _OFTEN and _are_names(*pair) for pair, count in replaced.items()),
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", _HYPHEN.sub("", text)).casefold())[:_MOST_WORDS]


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_MOVED)), strict=False)


def _spans(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield [start, end) in both texts of the differing passages; a few equal words between two are chance."""
    open_span: tuple[int, int, int, int] | None = None
    for step in Indel.opcodes(left, right):
        if step.tag == "equal":
            if open_span and step.src_end - step.src_start > _CHANCE:
                yield open_span
                open_span = None
        elif open_span:
            open_span = open_span[0], step.src_end, open_span[2], step.dest_end
        else:
            open_span = step.src_start, step.src_end, step.dest_start, step.dest_end
    if open_span:
        yield open_span


def _own(words: Sequence[str], moved: frozenset[tuple[str, ...]]) -> list[str]:
    """Return the words of a passage that are in no run of words which stands elsewhere in the other text."""
    elsewhere = set[int]()
    for start, run in enumerate(_runs(words)):
        if run in moved:
            elsewhere.update(range(start, start + _MOVED))
    return [word for place, word in enumerate(words) if place not in elsewhere]


def _without(words: Sequence[str], common: Counter[str]) -> list[str]:
    left = Counter(common)
    kept = []
    for word in words:
        if left[word] > 0:
            left[word] -= 1
        else:
            kept.append(word)
    return kept


def _same_letters(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two passages are one, misread or otherwise spaced; figures must be the same."""
    one, other = "".join(ours), "".join(theirs)
    figures = [re.sub(r"\D", "", text) for text in (one, other)]
    return figures[0] == figures[1] and fuzz.ratio(one, other) >= _SAME_LETTERS


def _are_names(one: str, other: str) -> bool:
    return all(text.replace(" ", "").isalpha() and len(text) >= _NAME_LETTERS for text in (one, other))


def _latest(words: Sequence[str], today: int) -> int:
    return max((int(word) for word in words if _YEAR.fullmatch(word) and int(word) <= today), default=0)
