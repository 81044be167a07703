"""Reading of the best passages with the question.

A reader reads the part of a passage around its nearest sentence. Its reading orders the passages, unless a
cross-encoder that a user names does, and says later what is quoted and whether that answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_engine.protocols import PassageReader, Reranker
from rag_engine.retrieval.diversity import Floats, scaled
from rag_engine.retrieval.tuning import READ, WINDOW
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Hit, NearSentence, PassageReading


def rerank(scores: Floats, read: Floats, weight: float) -> Floats:
    """Return (1 - weight) x scores + weight x read, on the range of the scores.

    So they can be compared with others. The smallest and largest value of an array give its scale.

    >>> rerank(np.array([0.9, 0.8, 0.5]), np.array([-2.0, 3.0, 0.5]), 0.5).round(2).tolist()
    [0.7, 0.85, 0.6]
    """
    mixed: Floats = scores.min() + np.ptp(scores) * ((1 - weight) * scaled(scores) + weight * scaled(read))
    return mixed


def read_window(text: str, begin: int, sentences: Sequence[NearSentence]) -> tuple[int, int]:
    """Return the characters of a passage that are read.

    They are all of a short one, else those around its nearest sentence, between words. The passage begins at `begin` of
    its document.
    """
    if len(text) <= WINDOW or not sentences:
        return 0, min(len(text), WINDOW)
    nearest = max(sentences, key=lambda sentence: sentence.nearness)
    middle = (nearest.start + nearest.end) // 2 - begin
    start = min(max(middle - WINDOW // 2, 0), len(text) - WINDOW)
    start = text.find(" ", start, start + WINDOW // 4) + 1 or start if start else 0
    end = start + WINDOW
    if end >= len(text):
        return start, len(text)
    space = text.rfind(" ", end - WINDOW // 4, end)
    return start, end if space < 0 else space


def read_windows(
    question: str,
    passages: Sequence[tuple[int, str, Sequence[NearSentence]]],
    reader: PassageReader,
    *,
    whole: bool = False,
) -> list[PassageReading]:
    """Return the readings of passages, each at the places of its document.

    A passage is where it begins in its document, its text and its sentences. All of it is read if `whole`, else what is
    around its nearest sentence.
    """
    windows = []
    for begin, text, sentences in passages:
        start, end = (0, len(text)) if whole else read_window(text, begin, sentences)
        windows.append((begin + start, text[start:end]))
    readings = reader.read(question, [text for _, text in windows])
    return [reading.moved(begin) for reading, (begin, _) in zip(readings, windows, strict=True)]


def read_passages(evidence: Evidence, reader: PassageReader) -> Evidence:
    """Return the evidence with the best of its unread passages read.

    These are passages that no search has read: gathered ones, those of an index, those of a published recipe.
    BackendError if the reader breaks off.
    """
    unread = {hit.child_id: (hit, source) for source in evidence.sources for hit in source.hits if hit.reading is None}
    # The best of each source first.
    best = {hit.child_id for hit in evidence.hits}
    order = sorted(unread, key=lambda child: child not in best)[:READ]
    texts = []
    for hit, source in map(unread.__getitem__, order):
        sentences = [one for one in source.sentences if hit.start <= one.start and one.end <= hit.end]
        texts.append((hit.start, hit.text, sentences))
    readings = dict(zip(order, read_windows(evidence.plan.question, texts, reader), strict=True))
    return replace(
        evidence,
        hits=tuple(_with_reading(hit, readings) for hit in evidence.hits),
        sources=tuple(
            replace(source, hits=tuple(_with_reading(hit, readings) for hit in source.hits))
            for source in evidence.sources
        ),
        read=evidence.read + len(readings),
    )


def _with_reading(hit: Hit, readings: dict[str, PassageReading]) -> Hit:
    return replace(hit, reading=hit.reading or readings.get(hit.child_id))


def read_scores(question: str, texts: Sequence[str], reranker: Reranker) -> NDArray[np.float64]:
    """Return the reranker's raw scores in the order of the texts.

    RuntimeError describes a wrong reply.
    """
    scores = np.asarray(reranker.score(question, texts), dtype=np.float64)
    if scores.shape != (len(texts),) or not np.isfinite(scores).all():
        raise RuntimeError(f"{reranker.name} did not give one number for each passage.")
    return scores
