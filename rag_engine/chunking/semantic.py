"""Semantic parent-child chunks: parents follow the topics of a document, children are searched.

After Buriasco 2026, section 5.1. The paper joins slices of words. Here they are spans of the original text, so a child
can always be shown in its place.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag_engine.config import ChunkSizes
from rag_engine.protocols import Vectors
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.text.url_masking import masked
from rag_engine.types.passage import Child, Parent

# Number of places for which vectors are gathered and summed in double precision at a time.
_PLACES_AT_ONCE = 8192

_WORD = re.compile(r"\S+")
_WORD_START = re.compile(r"(?<!\S)\S")


def semantic_chunks(
    text: str, language: str, *, encode: Callable[[Sequence[str]], Vectors], config: ChunkSizes
) -> list[Parent]:
    """Return parents in reading order, each with its children.

    `parent.text == text[parent.start:parent.end]` and `child.text == parent.text[child.start:child.end]`; every
    character but white space is in a parent and, within it, in a child. No child is longer than
    `child_size + child_minimum`, and none shorter than `child_minimum` unless its parent has no other. No parent
    is longer than `parent_split * parent_size + parent_overlap`, as long as a sentence fits into a parent.

    `encode` gives a vector for each text; it is called at most once, with the document's distinct sentences.
    """
    sentences = sentence_spans(text, language)
    if not sentences:
        return []
    # White space as wide as a child's minimum would leave children with next to nothing in them.
    gaps = {
        place
        for place in range(1, len(sentences))
        if sentences[place][0] - sentences[place - 1][1] > config.child_minimum
    }
    turns = sorted({0, *gaps, *_topic_turns(text, sentences, encode, config)})
    topics = [
        part
        for topic in _merged([*turns, len(sentences)], gaps, sentences, config)
        for part in _split(topic, sentences, config)
    ]
    starts = [start for start, _ in sentences]
    parents = []
    for index, (first, beyond) in enumerate(topics):
        start, end = starts[first], sentences[beyond - 1][1]
        if index and first not in gaps:
            lowest = max(start - config.parent_overlap, starts[topics[index - 1][0]] + 1)
            word = _WORD_START.search(text, lowest, start)
            start = _first(starts, lowest, start) or (word.start() if word else start)
        inside = sentences[bisect_right(starts, start) - 1 : beyond]
        parent_text = text[start:end]
        children = cut_children(parent_text, [(max(0, a - start), b - start) for a, b in inside], config)
        parents.append(Parent(index, start, end, parent_text, children))
    return parents


def cut_children(text: str, sentences: Sequence[Span], config: ChunkSizes) -> tuple[Child, ...]:
    """Return overlapping children of a parent's text, in order.

    `sentences` are spans that cover the same text. A child ends at the last sentence end within `child_overlap` of its
    full size, else at the last word end. Only a word that is longer than a child is cut. The next child begins up to
    `child_overlap` before that, with a sentence if one begins there, else with a word. A tail shorter than
    `child_minimum` stays with its child.
    """
    pieces = [found.span() for found in _WORD.finditer(text)]
    if not pieces:
        return ()
    start, last = pieces[0][0], pieces[-1][1]
    sentence_starts, sentence_ends = [first for first, _ in sentences], [end for _, end in sentences]
    # Scripts that put no space between sentences can still be cut there.
    starts = sorted({first for first, _ in pieces}.union(sentence_starts))
    ends = sorted({end for _, end in pieces}.union(sentence_ends))
    spans: list[Span] = []
    while last - start > config.child_size + config.child_minimum:
        lowest = start + max(config.child_minimum, config.child_overlap + 1)
        highest = start + config.child_size
        # The end before the last start that still leaves the minimum to the next child.
        place = bisect_right(starts, last - config.child_minimum) - 1
        highest_end = min(highest, ends[place - 1]) if place else start
        cut = (
            _last(sentence_ends, highest - config.child_overlap, highest_end)
            or _last(ends, lowest, highest_end)
            or min(start + len(text[start : highest + 1].rstrip()), highest)
        )
        spans.append((start, cut))
        # Behind a blank that is longer than a child nothing is left to repeat.
        lowest = max(cut - config.child_overlap, start + 1)
        whole = text[cut].isspace()
        start = (
            _first(sentence_starts, lowest, cut)
            or _first(starts, lowest, cut)
            or (starts[bisect_left(starts, cut)] if whole else lowest)
        )
    spans.append((start, last))
    return tuple(Child(index, first, end, text[first:end]) for index, (first, end) in enumerate(spans))


def _topic_turns(
    text: str, sentences: Sequence[Span], encode: Callable[[Sequence[str]], Vectors], config: ChunkSizes
) -> list[int]:
    """Return indexes of the sentences with which a new topic begins.

    A topic begins where the similarity falls below the document's own percentile. Turns are `minimum_gap` sentences
    apart from each other and from the document's ends. If too few sentences fill the windows, a topic begins every
    `fallback_stride` sentences.
    """
    if len(sentences) < 2 * config.window:
        return list(range(config.fallback_stride, len(sentences), config.fallback_stride))
    rows: dict[str, int] = {}
    row_of_sentence = np.fromiter(
        (rows.setdefault(" ".join(masked(text[start:end]).split()), len(rows)) for start, end in sentences),
        dtype=np.int64,
        count=len(sentences),
    )
    similarities = window_similarities(encode(list(rows)), row_of_sentence, config.window)
    below = np.flatnonzero(similarities < np.percentile(similarities, config.percentile))
    # Deepest first, or the slope that leads to a turn would take its place.
    taken = np.zeros(len(sentences) + 1, dtype=bool)
    taken[[0, -1]] = True
    for place in below[np.argsort(similarities[below], kind="stable")] + config.window:
        if not taken[max(0, place - config.minimum_gap + 1) : place + config.minimum_gap].any():
            taken[place] = True
    return [int(place) for place in np.flatnonzero(taken[:-1])]


def window_similarities(vectors: Vectors, rows: NDArray[np.int64], window: int) -> NDArray[np.float64]:
    """Return cosines of the mean vectors of the `window` sentences before and after each place.

    A place is between two sentences. Sentence i has the vector `vectors[rows[i]]`. The first cosine belongs to the
    place before sentence `window`, the last to the one before sentence len(rows) - window. Zero vectors have the cosine
    0.
    """
    places = len(rows) - 2 * window + 1
    cosines = np.empty(places)
    for first in range(0, places, _PLACES_AT_ONCE):
        beyond = min(first + _PLACES_AT_ONCE, places)
        block = vectors[rows[first : beyond + 2 * window - 1]].astype(np.float64)
        running = np.cumsum(np.concatenate([np.zeros((1, block.shape[1])), block]), axis=0)
        sums = running[window:] - running[:-window]
        before, after = sums[:-window], sums[window:]
        lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        cosines[first:beyond] = np.einsum("ij,ij->i", before, after) / np.maximum(lengths, np.finfo(np.float64).tiny)
    # Repeated sentences must not part at the noise of the last digits.
    return cosines.round(6)


def _merged(turns: list[int], gaps: set[int], sentences: Sequence[Span], config: ChunkSizes) -> list[Span]:
    """Return topics as sentence ranges; a topic shorter than a child's minimum joins a neighbour."""
    topics: list[Span] = []
    for topic in pairwise(turns):
        joins = topics and topic[0] not in gaps
        if joins and min(_characters(sentences, part) for part in (topics[-1], topic)) < config.child_minimum:
            topics[-1] = (topics[-1][0], topic[1])
        else:
            topics.append(topic)
    return topics


def _split(topic: Span, sentences: Sequence[Span], config: ChunkSizes) -> list[Span]:
    """Return the topic, or its parts if it is much longer than a parent."""
    if _characters(sentences, topic) <= config.parent_split * config.parent_size:
        return [topic]
    first, beyond = topic
    parts: list[Span] = []
    for place in range(first + 1, beyond):
        if sentences[place][1] - sentences[first][0] > config.parent_size:
            parts.append((first, place))
            first = place
    if parts and _characters(sentences, (first, beyond)) < config.child_minimum:
        first = parts.pop()[0]
    return [*parts, (first, beyond)]


def _characters(sentences: Sequence[Span], topic: Span) -> int:
    return sentences[topic[1] - 1][1] - sentences[topic[0]][0]


def _first(values: list[int], lowest: int, beyond: int) -> int | None:
    """Return the first of the sorted values in [lowest, beyond)."""
    place = bisect_left(values, lowest)
    return values[place] if place < len(values) and values[place] < beyond else None


def _last(values: list[int], lowest: int, highest: int) -> int | None:
    """Return the last of the sorted values in [lowest, highest]."""
    place = bisect_right(values, highest) - 1
    return values[place] if place >= 0 and values[place] >= lowest else None
