"""Runs of characters with their properties, and how those that stand are written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from enum import Flag, auto
from typing import NamedTuple

from rag_engine.messages import Message
from rag_engine.text.raised import TO_RAISED


class Look(Flag):
    """How a format shows characters: struck out, hidden from the page, above the line or below it.

    A number is one that the format writes before a paragraph by itself.
    """

    PLAIN = 0
    STRUCK = auto()
    HIDDEN = auto()
    RAISED = auto()
    LOWERED = auto()
    NUMBER = auto()

    def __or__(self, other: Look) -> Look:
        """Return the looks of both; the usual one, where one is plain, at once."""
        return self if other is PLAIN else other if self is PLAIN else super().__or__(other)


# Most runs are plain: told by identity, since operators of flags take ten times as long.
PLAIN = Look.PLAIN


class Run(NamedTuple):
    """Characters that a format writes alike.

    `after` counts the letters of its block that stand before one that is left out.
    """

    text: str
    look: Look = PLAIN
    after: int = 0

    @property
    def stands(self) -> bool:
        """Whether it is neither struck nor hidden."""
        return self.look is PLAIN or not self.look & _OUT


_OUT = Look.STRUCK | Look.HIDDEN
# Letters before what is left out of a cell: all of its table.
AT_END = sys.maxsize
_HIGH = TO_RAISED | str.maketrans("+-−=()", "⁺⁻⁻⁼⁽⁾")
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# Digits with the signs of a power and of note marks; words are raised for their look alone.
_FIGURE = re.compile(r"[\s(),*+−–-]{0,4}\d[\d\s(),*+=−–-]{0,11}")
_NUMERO = re.compile(r"(?:\d\.?|\b[Nn])$")


def standing(runs: Iterable[Run]) -> str:
    """Return the text of what is neither struck nor hidden; raised figures are no digits of others.

    >>> standing([Run("every "), Run("five ", Look.STRUCK), Run("two years")])
    'every two years'
    >>> standing([Run("Art. 21"), Run("1", Look.RAISED), Run(" on CO"), Run("2", Look.LOWERED)])
    'Art. 21¹ on CO2'
    """
    listed = list(runs)
    if _are_plain(listed):
        return "".join([run.text for run in listed])
    parts: list[str] = []
    last = ""
    for text, look, _ in _without_bare_numbers(listed):
        if text and not look & _OUT:
            last = _shifted(text, look, last)
            parts.append(last)
    return "".join(parts)


def _are_plain(runs: Sequence[Run]) -> bool:
    return all(run.look is PLAIN for run in runs)


def _without_bare_numbers(runs: Sequence[Run]) -> Sequence[Run]:
    """Return the runs without numbers of paragraphs of which nothing stands."""
    if not any(run.look & Look.NUMBER for run in runs):
        return runs
    kept: list[Run] = []
    says = False
    for run in reversed(runs):
        if run.look & Look.NUMBER:
            kept += [run] if says else []
            says = False
        else:
            kept.append(run)
            says = says or (run.stands and bool(run.text.strip()))
    return kept[::-1]


def _shifted(text: str, look: Look, before: str) -> str:
    """Return raised or lowered characters as plain text writes them, after the text before them."""
    if look & Look.RAISED and _FIGURE.fullmatch(text):
        return text.translate(_HIGH)
    if look & Look.RAISED and text == "o" and _NUMERO.search(before):
        return "º"
    # CO2 is typed with a plain digit; after a digit it would be another number.
    return text.translate(_LOW) if look & Look.LOWERED and before[-1:].isdigit() else text


def note_mark(number: str) -> Run:
    """Return the mark of a note, in its sentence and before the note: a raised figure, else in brackets."""
    return Run(number, Look.RAISED) if number.isdecimal() else Run(f"[{number}]")


def left_out(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return the runs with words that do not stand, each with the number of letters that stand before it.

    Those between the same letters are one if they look alike.
    """
    listed = list(runs)
    if _are_plain(listed):
        return ()
    found: list[Run] = []
    after = 0
    for run in _without_bare_numbers(listed):
        if run.stands:
            after += letters(run.text)
        elif found and (found[-1].look, found[-1].after) == (run.look, after):
            found[-1] = run._replace(text=f"{found[-1].text}{run.text}", after=after)
        else:
            found.append(run._replace(after=after))
    return tuple(run for run in found if run.text.strip())


def letters(text: str) -> int:
    """Return the number of characters that are no blanks, which lines and tables leave as they are."""
    return sum(map(len, text.split()))


def offset_after(text: str, count: int) -> int:
    """Return the offset in a text after a number of characters that are no blanks.

    >>> offset_after("every two years", 5)
    5
    """
    for match in re.finditer(r"\S+", text):
        if count <= len(match[0]):
            return match.start() + count if count else 0
        count -= len(match[0])
    return len(text)


def told(runs: Iterable[Run]) -> tuple[Message, ...]:
    """Return warnings that count the words left out."""
    words = {True: 0, False: 0}
    for run in runs:
        words[bool(run.look & Look.STRUCK)] += len(run.text.split())
    warnings = [
        words[True] and Message("Struck words, left out because they are not in force: {count}.", count=words[True]),
        words[False] and Message("Hidden words, left out because no page shows them: {count}.", count=words[False]),
    ]
    return tuple(one for one in warnings if one)
