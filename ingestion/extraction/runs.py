"""Runs of characters with their properties, and how those that stand are written."""

from __future__ import annotations

import re
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


class Run(NamedTuple):
    """Characters that a format writes alike."""

    text: str
    look: Look = Look.PLAIN

    @property
    def stands(self) -> bool:
        """Whether it is neither struck nor hidden."""
        return not self.look & _OUT


_OUT = Look.STRUCK | Look.HIDDEN
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
    parts: list[str] = []
    last = ""
    for text, look in _without_bare_numbers(list(runs)):
        if text and not look & _OUT:
            last = _shifted(text, look, last) if look else text
            parts.append(last)
    return "".join(parts)


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
    """Return the runs with words that do not stand."""
    return tuple(run for run in runs if not run.stands and run.text.strip())


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
