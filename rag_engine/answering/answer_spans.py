"""Answers that a reader finds in a passage: how sure it is of one between two places."""

from __future__ import annotations

import numpy as np

from rag_engine.types import PassageReading

# Tokens: what answers a question is seldom longer, and a row of a table is shorter.
_LONGEST = 60
# What a stretch without a token scores, well below any logit.
_NOTHING = -20.0


def answer_score(reading: PassageReading, start: int, end: int) -> float:
    """Return how much better an answer within characters [start, end) of the passage is than none, in logits."""
    inside = [at for at, (first, last) in enumerate(reading.tokens) if first >= start and last <= end]
    if not inside:
        return _NOTHING
    begun = np.array([reading.starts[at] for at in inside])
    ended = np.array([reading.ends[at] for at in inside])
    lengths = np.arange(len(inside))[None, :] - np.arange(len(inside))[:, None]
    scores = np.where((lengths >= 0) & (lengths < _LONGEST), begun[:, None] + ended[None, :], -np.inf)
    return float(scores.max()) - reading.absent
