"""Levels of paragraphs: the depth of headings, and how far points are indented below paragraphs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_engine.viewer.pages import Paragraph

# Below the title of the page HTML has five levels of headings.
_DEEPEST_HEADING, _DEEPEST = 4, 5
# (1), 1., 1), (a), a), (i), A., – before the words of a paragraph, which may be a quotation.
_MARKER = re.compile(
    r"[“\"«„‘]?(?P<open>\(?)(?:(?P<number>\d{1,3}[a-z]?)|(?P<dash>[–—•-])|(?P<letters>[a-zα-ω]{1,4}|[A-ZΑ-Ω]{1,4}))"
    r"(?P<close>[.)]?)(?=\s)"
)
_ROMAN = re.compile(r"x{0,3}(?:i[xv]|v?i{0,3})", re.IGNORECASE)
# What a list that follows goes on with.
_LEADS = (":", "—", "–")


@dataclass(frozen=True, slots=True)
class _Point:
    """An item of a list: how its list is marked ("(a)", "1.", "(i)"), its own marker, its level."""

    form: str
    token: str
    level: int


def paragraph_levels(text: str, paragraphs: Sequence[Paragraph], depths: Mapping[int, int]) -> tuple[int, ...]:
    """Return the level of each paragraph: the depth of a heading from 0, or how far it is indented.

    `depths` has the depths of headings by the start of their text. A heading is at most one level below the one before.
    A paragraph is indented by the lists around it: "(a)" below "1.", "(i)" below "(a)".
    """
    return tuple(_levels(text, paragraphs, depths))


def _levels(text: str, paragraphs: Sequence[Paragraph], depths: Mapping[int, int]) -> Iterator[int]:
    heading = -1
    starts = sorted(depths)
    items: list[_Point] = []
    leads = False
    level = 0
    for paragraph in paragraphs:
        words = text[paragraph.start : paragraph.end]
        if paragraph.kind == "heading":
            within = starts[bisect_left(starts, paragraph.start) : bisect_left(starts, paragraph.end)]
            stated = depths[within[0]] if within else heading + 1
            heading = min(stated, heading + 1, _DEEPEST_HEADING)
            items, leads, level = [], False, 0
            yield heading
        elif paragraph.kind == "text":
            items = _with_item(items, words, leads=leads)
            leads, level = words.rstrip().endswith(_LEADS), items[-1].level if _MARKER.match(words) and items else 0
            yield level
        else:
            yield level


def _with_item(items: list[_Point], words: str, *, leads: bool) -> list[_Point]:
    """Return the items around a paragraph, its own last; the same where it is none."""
    found = _MARKER.match(words)
    form = _form(found, items) if found else ""
    if found is None or not form:
        return items
    token = found["number"] or found["letters"] or found["dash"]
    place = next((place for place, item in enumerate(items) if item.form == form), None)
    if place is not None:
        return [*items[:place], _Point(form, token, items[place].level)]
    level = min(items[-1].level + 1, _DEEPEST) if items else int(leads)
    return [*items, _Point(form, token, level)]


def _form(found: re.Match[str], items: Sequence[_Point]) -> str:
    """Return how the items of a list are marked; empty for words that only look like a marker."""
    around = f"{found['open']}{{}}{found['close']}"
    if found["dash"]:
        return around.format("-")
    if not found["close"]:
        return ""
    if found["number"]:
        return around.format("1")
    letters = found["letters"]
    lettered, roman = (around.format(form.upper() if letters.isupper() else form) for form in "ai")
    last = {item.form: item.token for item in items}
    goes_on = len(letters) == 1 and ord(letters) == ord(last.get(lettered, "\0")[-1]) + 1
    if _ROMAN.fullmatch(letters) and not goes_on and (roman in last or letters.lower() == "i"):
        return roman
    return lettered if len(set(letters)) == 1 or found["close"] == ")" else ""
