"""Parts of a question: its sentences, what it says without its marks, its first letter."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Signs around a question that say nothing of what it asks.
MARKS = " \t\n¿¡?!.…,;:\"'«»“”„"
_ENDING = " \t\n?!.…"


def sentences_of(question: str) -> Iterator[str]:
    """Yield the sentences of a question."""
    yield from (one for one in re.split(r"(?<=[?!.…])\s+(?=[^\W\d_]|[¿¡])", question.strip()) if one.strip(MARKS))


def with_complement_added(before: str, phrase: str, language: str) -> str:
    """Return a question with one more complement: at its end, in Turkish at its start."""
    if language == "tr":
        return f"{capitalised(phrase)} {uncapitalised(before)}"
    return f"{body_of(before)} {phrase}{ending_of(before)}"


def replaced(text: str, start: int, end: int, new: str) -> str:
    """Return a text with other words in the place of the characters [start, end)."""
    return text[:start] + as_in(text[:start], new) + text[end:]


def as_in(head: str, new: str) -> str:
    """Return words with the capital that their place in a sentence asks for; a name keeps its own."""
    return new if head.strip(MARKS) else capitalised(new)


def body_of(question: str) -> str:
    """Return a question without the marks that end it."""
    return question.rstrip(_ENDING)


def ending_of(question: str) -> str:
    """Return the marks that end a question, with the blank that French puts before them."""
    return question[len(body_of(question)) :].rstrip()


def capitalised(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def uncapitalised(text: str) -> str:
    """Return a text with a small first letter, unless it begins with an abbreviation."""
    if sum(letter.isupper() for letter in text.split(maxsplit=1)[0]) > 1:
        return text
    return ("i" if text[0] == "İ" else text[:1].lower()) + text[1:]
