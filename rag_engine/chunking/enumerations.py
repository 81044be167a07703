"""The opening words of an enumeration ("Each plan shall contain:"), which its later items do not say again."""

from __future__ import annotations

import re

# A line that begins an item: a bullet, a dash, a number or one or two letters with a dot or bracket behind.
_ITEM = re.compile(r"\s*(?:[•▪●○■□◦‣·–—*-]\s|\(?(?:\d{1,3}|[a-zA-Z]{1,2}|[ivxIVX]{1,5})(?:[.)]|\.\))\s)")
_OPENING = re.compile(r"[:：]\s*$")
_SENTENCE = re.compile(r"(?:.*[.;!?]\s)?(.*)", re.DOTALL)
# How far back the opening words are looked for, and how short they may be to say something.
_FARTHEST = 4000
_SHORTEST = 12


def opening_of(text: str, start: int) -> str:
    """Return the sentence that opens the enumeration in which `start` is in an item, or "".

    Lines are walked back from the one that `start` is in, as long as they are items or go on in lower case, to one that
    ends in a colon.
    """
    begin = text.rfind("\n", 0, start) + 1
    if not _ITEM.match(text, begin):
        return ""
    lines = text[max(0, begin - _FARTHEST) : begin].splitlines()
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place].rstrip()
        if not line:
            continue
        if _ITEM.match(line):
            continue
        if _OPENING.search(line):
            found = _SENTENCE.match(line)
            said = " ".join((found[1] if found else line).split())
            return said if len(said) >= _SHORTEST else ""
        if not line.lstrip()[0].islower():
            return ""
    return ""
