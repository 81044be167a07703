"""Negations and exceptions of a request in plain language, in seven languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.patterns import load_words
from rag_engine.text.folding import fold_in_place

_WORDS = load_words("commands")
_EXCEPT, _NOT, _NOT_ANYWHERE, _AFTER, _BUT, _AND, _OR, _NOT_YET = (
    re.compile(rf"\b(?:{_WORDS[key]})(?!\w)")
    for key in ("except", "not", "not_anywhere", "after", "but", "and", "or", "not_yet")
)
_CLAUSE = re.compile(r"[,;:!?]|\.(?=\s|$)|\s-\s")
_SENTENCE = re.compile(r"[;!?]|\.(?=\s|$)")
_NEGATIVE_VERB = re.compile(rf"\b(?:{_WORDS['negative_verbs']})(?=\s*(?:[,;:!?.]|$))")


@dataclass(frozen=True, slots=True)
class RequestParts:
    """The words of a request that ask, that except something from all, and that forbid something."""

    asked: str
    excepted: str
    forbidden: str


def split_request(words: str) -> RequestParts:
    """Return the parts of a request; the codes in them are as they were written.

    >>> split_request("extract all except A1").excepted
    'except A1'
    """
    folded = fold_in_place(words)
    folded = _NOT_YET.sub(lambda match: " " * len(match[0]), folded)
    excepted = list(_apart(_excepted(folded)))
    forbidden = list(_apart(_forbidden(folded)))
    taken = bytearray(len(words))
    parts = []
    for spans in (excepted, forbidden):
        parts.append(" ; ".join(words[start:end] for start, end in spans))
        for start, end in spans:
            taken[start:end] = b"\x01" * (end - start)
    asked = "".join(" " if taken[place] else character for place, character in enumerate(words))
    return RequestParts(asked, *parts)


def _apart(found: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in their order, each without its overlap with the one before."""
    last = 0
    for start, end in sorted(found):
        if end > last:
            yield max(start, last), end
            last = end


def _excepted(folded: str) -> Iterator[tuple[int, int]]:
    for match in _EXCEPT.finditer(folded):
        # "all but the downloads": what is all is asked for.
        start = match.end() - 3 if match[0].endswith(" but") else match.start()
        yield start, _end(folded, match.end(), _SENTENCE)
    for match in _AFTER.finditer(folded):
        yield _start(folded, match.start(), with_and=False), match.end()


def _forbidden(folded: str) -> Iterator[tuple[int, int]]:
    for match in _NOT.finditer(folded):
        yield match.start(), _end_of_list(folded, match.end())
    for match in _NOT_ANYWHERE.finditer(folded):
        yield _start(folded, match.start(), with_and=True), _end_of_list(folded, match.end())
    for match in _NEGATIVE_VERB.finditer(folded):
        yield _start(folded, match.start(), with_and=True), match.end()


def _end(folded: str, start: int, boundary: re.Pattern[str]) -> int:
    """Return where the clause or sentence ends, or where something else begins in it."""
    ends = (found.start() for pattern in (boundary, _BUT) if (found := pattern.search(folded, start)))
    return min(ends, default=len(folded))


def _end_of_list(folded: str, start: int) -> int:
    """Return the end of the clause, behind the last member of a list: "do not download, extract or index"."""
    end = _end(folded, start, _CLAUSE)
    beyond = end
    while beyond < len(folded) and folded[beyond] == ",":
        following = _end(folded, beyond + 1, _CLAUSE)
        if _OR.search(folded, beyond + 1, following):
            return following
        beyond = following
    return end


def _start(folded: str, end: int, *, with_and: bool) -> int:
    """Return where the clause begins that ends there."""
    patterns = (_CLAUSE, _BUT, _AND) if with_and else (_CLAUSE, _BUT)
    return max((found.end() for pattern in patterns for found in pattern.finditer(folded, 0, end)), default=0)
