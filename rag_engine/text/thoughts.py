"""Thoughts of a model that stand in its text, and are no part of its reply.

Servers leave thoughts in a model's text with the marks of its template, with their end alone if the template has begun
them, or with the names of channels in place of marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_engine.errors import BackendError

_TAGS = ("think", "thinking", "thought", "reasoning", "seed:think")
_PAIRS = (
    *((f"<{tag}>", f"</{tag}>") for tag in _TAGS),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
_FINAL = r"<\|channel\|>\s*final\s*<\|message\|>"
_BLOCKS = [
    *(rf"{re.escape(opened)}.*?(?:{re.escape(closed)}|\Z)" for opened, closed in _PAIRS),
    # Channels: analysis and comments, until the answer. A name that is not whole yet may be one of them.
    rf"<\|channel\|>\s*(?:analysis|commentary)\b.*?(?:(?={_FINAL})|\Z)",
    r"<\|(?:channel|start)\|>[^<]*(?:<(?:\|\w*\|?)?)?\Z",
    # The same without its marks, as "analysisThe user asks ...assistantfinalThe dykes ...".
    r"^\s*analysis(?=[A-Z]).*?assistantfinal",
]
_THOUGHT = re.compile("|".join(_BLOCKS), re.DOTALL | re.IGNORECASE)
_UNMARKED = re.compile(r"\s*analysis[A-Z]")
_CLOSED = re.compile("|".join(re.escape(closed) for _, closed in _PAIRS), re.IGNORECASE)
_MARK = re.compile(rf"{_FINAL}|<\|start\|>(?:assistant)?|<\|(?:end|return|message|channel)\|>")
_BEGINNING = re.compile(r"<\||◁|\[/?THINK|</?(?:think|thought|reason|seed:)", re.IGNORECASE)


def spoken(text: str) -> str:
    """Return a text without thoughts, of which it may be that only the end is marked.

    >>> spoken("<think>Dykes?</think>Dykes are high.")
    'Dykes are high.'
    >>> spoken("The user asks for dykes.</think>Dykes are high.")
    'Dykes are high.'
    """
    if not _BEGINNING.search(text) and not _UNMARKED.match(text):
        return text
    said = _THOUGHT.sub("", text)
    closed = [mark.end() for mark in _CLOSED.finditer(said)]
    said = _MARK.sub("", said[closed[-1] :] if closed else said)
    return said if said == text else said.lstrip()


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces of a reply without thoughts.

    If only the end of thoughts is marked, so much is yielded of it that `spoken` leaves out what was yielded before.
    """
    text, shown = "", ""
    failure: BackendError | None = None
    coming = iter(pieces)
    while True:
        try:
            piece = next(coming, None)
        except BackendError as error:
            # What is held back belongs to the answer that broke off.
            piece, failure = None, error
        text += piece or ""
        said = spoken(text) if piece is None or not _may_be_thought(text) else ""
        end = len(said) if piece is None else _settled(said)
        if not said.startswith(shown):
            yield _PAIRS[0][1]
            shown = ""
        if said[len(shown) : end].strip() or (shown and end > len(shown)):
            yield said[len(shown) : end]
            shown = said[:end]
        if failure:
            raise failure
        if piece is None:
            return


def _may_be_thought(text: str) -> bool:
    """Return whether a text may be one that begins with the bare name of a channel."""
    start = text.lstrip()
    return "analysis".startswith(start) or (bool(_UNMARKED.match(text)) and "assistantfinal" not in text)


def _settled(text: str) -> int:
    """Return up to where a text cannot end in the beginning of a mark."""
    opened = max(map(text.rfind, "<[◁"))
    ending = text[opened:].casefold() if opened >= 0 else ""
    marks = (mark for pair in _PAIRS for mark in pair)
    may_be = ending.startswith("<|") or any(mark.casefold().startswith(ending) for mark in marks if ending)
    return opened if may_be else len(text)
