"""Answers that a reader finds in a passage: where the best one is, and how sure it is of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rag_engine.types import PassageReading

# Tokens: what answers a question is seldom longer, and a row of a table is shorter.
_LONGEST = 60
# What a stretch without a token scores, well below any logit.
NOTHING = -20.0


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Characters [start, end) of a text that answer, and by how many logits better than that there is no answer."""

    start: int
    end: int
    score: float

    def moved(self, by: int) -> AnswerSpan:
        """Return it in a text that the passage begins `by` characters into."""
        return replace(self, start=self.start + by, end=self.end + by)


def best_span(reading: PassageReading, start: int, end: int) -> AnswerSpan | None:
    """Return the best answer within characters [start, end) of the passage; None where no token is inside."""
    inside = [at for at, (first, last) in enumerate(reading.tokens) if first >= start and last <= end]
    if not inside:
        return None
    begun = np.array([reading.starts[at] for at in inside])
    ended = np.array([reading.ends[at] for at in inside])
    lengths = np.arange(len(inside))[None, :] - np.arange(len(inside))[:, None]
    scores = np.where((lengths >= 0) & (lengths < _LONGEST), begun[:, None] + ended[None, :], -np.inf)
    first, last = np.unravel_index(int(scores.argmax()), scores.shape)
    places = reading.tokens[inside[int(first)]][0], reading.tokens[inside[int(last)]][1]
    return AnswerSpan(*places, float(scores.max()) - reading.absent)


def answer_score(reading: PassageReading, start: int, end: int) -> float:
    """Return how much better an answer within characters [start, end) of the passage is than none, in logits."""
    found = best_span(reading, start, end)
    return NOTHING if found is None else found.score
