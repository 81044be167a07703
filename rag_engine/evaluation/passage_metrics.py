"""Coverage of the ideal passages by the retrieved ones, token by token.

After the comparison of paragraph chunking. A token is a word of a document, known by its place; the same word elsewhere
is another token.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

_WORD = re.compile(r"\w+")
# A passage is the one that was looked for when it holds this share of an ideal passage.
_FOUND = 0.5

Words = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Passage:
    """Characters [start, end) of a document's text."""

    document: str
    start: int
    end: int


class PassageScore(NamedTuple):
    """Figures of one question; all but the last two are 0 to 1.

    `precision`: share of the retrieved tokens that are ideal. `recall`: share of the ideal tokens that were retrieved.
    `f1`: their harmonic mean. `ndcg`: the ideal tokens that each rank adds, discounted by log2(rank + 1); 1 when the
    first passage holds all. `mrr`: one over the rank of the first passage that holds half of an ideal passage, 0
    without one. `token_match`: number of ideal tokens retrieved; `tokens`: number of tokens retrieved.
    """

    precision: float
    recall: float
    f1: float
    ndcg: float
    mrr: float
    token_match: float
    tokens: float


METRICS = PassageScore._fields


def word_starts(text: str) -> list[int]:
    """Return the starts of the words of a text, in order.

    >>> word_starts("Flood risk map")
    [0, 6, 11]
    """
    return [found.start() for found in _WORD.finditer(text)]


def score_passages(
    retrieved: Sequence[Passage], alternatives: Sequence[Sequence[Passage]], words: Words
) -> PassageScore:
    """Return the figures of retrieved passages, best first, against ideal ones.

    Each alternative (a translation, a copy) is a complete answer: its passages belong together. The alternative that is
    covered best counts for recall and nDCG. Tokens of any alternative count as right for precision. `words` holds the
    word starts of every document named.
    """
    tokens = [_tokens(passage, words) for passage in retrieved]
    ideal = [[_tokens(passage, words) for passage in alternative] for alternative in alternatives]
    wholes = [set[tuple[str, int]]().union(*alternative) for alternative in ideal]
    read = set[tuple[str, int]]().union(*tokens)
    matched = read & set[tuple[str, int]]().union(*wholes)
    precision = len(matched) / len(read) if read else 0.0
    recall = max((len(read & whole) / len(whole) for whole in wholes if whole), default=0.0)
    answering = [passage for alternative in ideal for passage in alternative if passage]
    holding = (any(len(token & passage) >= _FOUND * len(passage) for passage in answering) for token in tokens)
    first = next((rank for rank, holds in enumerate(holding, start=1) if holds), None)
    return PassageScore(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if matched else 0.0,
        ndcg=max((_discounted_gain(tokens, whole) for whole in wholes if whole), default=0.0),
        mrr=1 / first if first else 0.0,
        token_match=float(len(matched)),
        tokens=float(len(read)),
    )


def _tokens(passage: Passage, words: Words) -> set[tuple[str, int]]:
    starts = words[passage.document]
    first, beyond = bisect_left(starts, passage.start), bisect_left(starts, passage.end)
    return {(passage.document, place) for place in range(first, beyond)}


def _discounted_gain(ranked: Sequence[set[tuple[str, int]]], whole: set[tuple[str, int]]) -> float:
    """Return the shares of new ideal tokens at each rank, over log2(rank + 1), summed."""
    left, gain = set(whole), 0.0
    for rank, tokens in enumerate(ranked, start=1):
        gain += len(left & tokens) / len(whole) / log2(rank + 1)
        left -= tokens
    return gain
