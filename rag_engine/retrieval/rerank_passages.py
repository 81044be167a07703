"""Reranking of the best passages by a cross-encoder, as many as the machine reads in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine.errors import InputError, SextantError
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.protocols import Reranker
from rag_engine.retrieval.diversity import scaled
from rag_engine.retrieval.tuning import LEAST_RERANKED, RERANK_DEPTH, RERANK_SECONDS

_PROBE_QUESTION = "Who keeps the dykes in repair, and who pays for it?"
# As long as a passage becomes.
_PROBE = "The owners of the land behind a dyke keep it in repair and share what it costs each year. " * 13
_BATCH = _PROBES = 4
# The fastest run shows the machine's speed without other work.
_RUNS = 4


@dataclass(frozen=True, slots=True)
class Reranked:
    """A ranking after the reranker has read its best.

    `scores` has one score a text in the order in which they were given, on the scale of the scores given. `read` has
    the reranker's own scores, None for a text that it was not asked about. `warning` is the reason if nothing was
    reranked, else empty.
    """

    scores: tuple[float, ...]
    read: tuple[float | None, ...]
    warning: Message = NO_MESSAGE


def affordable_depth(reranker: Reranker, clock: Callable[[], float] = time.process_time) -> int:
    """Return how many passages a reranker reads in three seconds on this machine, at most 20.

    Below five it is 0. It is measured once and kept, so that the same question gives the same order under any load. The
    measure is processor time, which waiting for other processes does not lengthen.
    """
    fastest = float("inf")
    for _ in range(_RUNS):
        started = clock()
        reranker.score(_PROBE_QUESTION, [_PROBE] * _PROBES)
        fastest = min(fastest, (clock() - started) / _PROBES)
        if fastest * RERANK_DEPTH <= RERANK_SECONDS:
            return RERANK_DEPTH  # a faster run would read no more
    depth = int(RERANK_SECONDS / fastest)
    return depth if depth >= LEAST_RERANKED else 0


def rerank(
    question: str,
    texts: Sequence[str],
    scores: Sequence[float],
    reranker: Reranker,
    *,
    weight: float,
    depth: int = RERANK_DEPTH,
    readable: Sequence[bool] | None = None,
) -> Reranked:
    """Order texts, given best first with their scores, by (1 - weight) x score + weight x reranker's.

    Of the first `depth`, both scores are brought to 0..1 by their smallest and largest, and mixed. The result is
    brought back to the range of the scores, so that it can be compared with the rest. `readable` says which texts are
    in a language of the reranker (None: all); the others keep their scores. If the reranker breaks off or gives
    anything but one number a text, the ranking stays as it was and `warning` says why. InputError for a weight outside
    0..1.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"The reranker's weight is {weight}.", help="Use a weight from 0 to 1.")
    given = np.asarray(scores, dtype=np.float64)
    rows = [row for row in range(min(depth, len(texts))) if readable is None or readable[row]]
    if len(rows) < 2 or weight == 0:
        return _unread(given)
    try:
        read = read_scores(question, [texts[row] for row in rows], reranker)
    except (SextantError, RuntimeError) as error:
        return _unread(given, Message("Not reranked: {error}", error=error))
    final = given.copy()
    final[rows] = given[rows].min() + np.ptp(given[rows]) * interpolate(given[rows], read, weight)
    own: list[float | None] = [None] * len(texts)
    for row, score in zip(rows, read.tolist(), strict=True):
        own[row] = score
    return Reranked(tuple(final.tolist()), tuple(own))


def interpolate(scores: NDArray[np.float64], read: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Return (1 - weight) x scores + weight x read, each first scaled to 0..1.

    The smallest and largest value of an array give its scale.
    """
    return (1 - weight) * scaled(scores) + weight * scaled(read)


def read_scores(question: str, texts: Sequence[str], reranker: Reranker) -> NDArray[np.float64]:
    """Return the reranker's raw scores in the order of the texts.

    RuntimeError describes a wrong reply.
    """
    # Texts of one length lose no time to padding.
    by_length = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
    scores = np.empty(len(texts))
    for first in range(0, len(texts), _BATCH):
        batch = by_length[first : first + _BATCH]
        found = np.asarray(reranker.score(question, [texts[row] for row in batch]), dtype=np.float64)
        if found.shape != (len(batch),) or not np.isfinite(found).all():
            raise RuntimeError(f"{reranker.name} did not give one number for each of {len(batch)} passages.")
        scores[batch] = found
    return scores


def _unread(scores: NDArray[np.float64], warning: Message = NO_MESSAGE) -> Reranked:
    """Return the ranking as it was."""
    return Reranked(tuple(scores.tolist()), (None,) * len(scores), warning)
