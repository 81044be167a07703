"""Runs of characters with their properties, and which of them stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rag_engine.messages import Message


class Run(NamedTuple):
    """Characters that a format writes alike: `struck` out, or `hidden` from the page."""

    text: str
    struck: bool = False
    hidden: bool = False


def standing(runs: Iterable[Run]) -> str:
    """Return the text of what is neither struck nor hidden.

    >>> standing([Run("every "), Run("five ", struck=True), Run("two years")])
    'every two years'
    """
    return "".join(run.text for run in runs if not run.struck and not run.hidden)


def left_out(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return the runs with words that do not stand."""
    return tuple(run for run in runs if (run.struck or run.hidden) and run.text.strip())


def told(runs: Iterable[Run]) -> tuple[Message, ...]:
    """Return warnings that count the words left out."""
    words = {True: 0, False: 0}
    for run in runs:
        words[run.struck] += len(run.text.split())
    warnings = [
        words[True] and Message("Struck words, left out because they are not in force: {count}.", count=words[True]),
        words[False] and Message("Hidden words, left out because no page shows them: {count}.", count=words[False]),
    ]
    return tuple(one for one in warnings if one)
