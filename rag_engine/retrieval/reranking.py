"""Reranking of the best passages by a cross-encoder, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine.errors import InputError, SextantError
from rag_engine.protocols import Reranker
from rag_engine.retrieval.diversity import scaled

# How many of the best are reranked: beyond it a cross-encoder lifts what only looks like an answer.
DEPTH = 20
# Passages between two looks at the clock; a batch of the longest takes about a quarter of a second.
_BATCH = 4


@dataclass(frozen=True, slots=True)
class Reranked:
    """A ranking after the reranker has read its best.

    `order` holds the places of the texts, best first, and `scores` one score a text in the order in which they were
    given, on the scale of the scores given; `read` what the reranker itself gave each, None for a text that it was
    not asked about. `warning` is why nothing was reranked; empty when it was.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    read: tuple[float | None, ...]
    warning: str = ""


def rerank(
    question: str,
    texts: Sequence[str],
    scores: Sequence[float],
    reranker: Reranker,
    *,
    weight: float,
    seconds: float,
    readable: Sequence[bool] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Reranked:
    """Order texts, given best first with their scores, by (1 - weight) x score + weight x reranker's.

    Of the first 20, both scores are brought to 0..1 by their smallest and largest, mixed, and brought back to the
    range that the scores had, so that they can be compared with what follows. `readable` says which of the texts are
    in a language of the reranker (None: all); the others keep their scores. The ranking stays as it was, and `warning`
    says why, when the reranker breaks off, gives anything but one number a text, or would not be done within
    `seconds`. Raises InputError for a weight outside 0..1.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"The reranker's weight is {weight}.", help="Use a weight from 0 to 1.")
    given = np.asarray(scores, dtype=np.float64)
    rows = [row for row in range(min(DEPTH, len(texts))) if readable is None or readable[row]]
    if len(rows) < 2 or weight == 0:
        return _unread(given)
    try:
        read = _read(question, [texts[row] for row in rows], reranker, seconds, clock)
    except (SextantError, RuntimeError) as error:
        return _unread(given, f"Quick search used, detailed ranking skipped: {error}")
    mixed = interpolate(given[rows], read, weight)
    final = given.copy()
    final[rows] = given[rows].min() + np.ptp(given[rows]) * mixed
    # Where all scores were the same their range holds nothing, and the mix decides alone.
    tie_break = np.zeros_like(given)
    tie_break[rows] = mixed
    own: list[float | None] = [None] * len(texts)
    for row, score in zip(rows, read.tolist(), strict=True):
        own[row] = score
    order = np.lexsort((-tie_break, -final))
    return Reranked(tuple(order.tolist()), tuple(final.tolist()), tuple(own))


def interpolate(scores: NDArray[np.float64], read: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Return (1 - weight) x scores + weight x read in 0..1, each brought there by its own smallest and largest."""
    return (1 - weight) * scaled(scores) + weight * scaled(read)


def _read(
    question: str, texts: Sequence[str], reranker: Reranker, seconds: float, clock: Callable[[], float]
) -> NDArray[np.float64]:
    """Return the reranker's scores in the order of the texts; RuntimeError says what was wrong with them."""
    by_length = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
    scores = np.empty(len(texts))
    started = before = clock()
    for first in range(0, len(texts), _BATCH):
        batch = by_length[first : first + _BATCH]
        found = np.asarray(reranker.score(question, [texts[row] for row in batch]), dtype=np.float64)
        if found.shape != (len(batch),) or not np.isfinite(found).all():
            raise RuntimeError(f"{reranker.name} did not give one number for each of {len(batch)} passages.")
        scores[batch] = found
        now = clock()
        # A batch takes no longer than the longer one before it, and what cannot be finished need not be begun.
        expected = now - before if first + _BATCH < len(texts) else 0.0
        if now - started + expected > seconds:
            raise RuntimeError(f"{reranker.name} would have taken longer than {seconds:g} s.")
        before = now
    return scores


def _unread(scores: NDArray[np.float64], warning: str = "") -> Reranked:
    """Return the ranking as it was."""
    order = np.argsort(-scores, kind="stable")
    return Reranked(tuple(order.tolist()), tuple(scores.tolist()), (None,) * len(scores), warning)
