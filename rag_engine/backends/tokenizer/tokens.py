"""Tokens of a text or of a pair of texts, and the tokenizer that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_engine.text.sentences import Span


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The ids and types of what is read, special tokens included, and of each the characters that it stands for.

    `own` are the places of the last text's own tokens: no special ones, and of a pair not the first text's.
    """

    ids: Sequence[int]
    types: Sequence[int]
    spans: Sequence[Span]
    own: Sequence[int]


class Tokenizer(Protocol):
    """Texts to tokens; safe to call from several threads."""

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, special ones included."""
        ...

    def read(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """Return the tokens of each text, at most `limit`."""
        ...

    def read_pairs(self, pairs: Sequence[tuple[str, str]], limit: int) -> list[TokenizedText]:
        """Return the tokens of each pair, at most `limit`: more is left out of the longer text (`room_for`)."""
        ...


def room_for(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens of each of two texts are read: of the longer one less, so that no text is pushed out."""
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    return (room - shorter, shorter) if first > second else (shorter, room - shorter)


def parts_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return each text of the pairs once: the pairs of a question all hold the question."""
    return list(dict.fromkeys(part for pair in pairs for part in pair))
