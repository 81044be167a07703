"""Sentence chunks are those of the definition, and none but a single long sentence exceeds the bound."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_engine.chunking.chunk import sentence_chunks, sentence_ranges
from rag_engine.chunking.parents import solid
from rag_engine.config import ChunkSizes
from rag_engine.errors import InputError
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.passage import Parent
from tests.rag_engine.chunking.covering import CONFIGS, DEFAULT, TEXTS, check

COUNTS = st.lists(st.integers(1, 25), max_size=60)
BOUNDS = st.tuples(st.integers(1, 30), st.integers(1, 30), st.integers(1, 40)).map(
    lambda bounds: (max(bounds[:2]), min(bounds[:2]), bounds[2])
)


def definition(words: Sequence[int], maximum: int, minimum: int, overlap: int) -> list[list[int]]:
    """Return the chunks as lists of sentence numbers, word for word as the rule is written."""
    chunks: list[list[int]] = []
    buffer: list[int] = []

    def weight(held: list[int]) -> int:
        return sum(words[number] for number in held)

    for number, count in enumerate(words):
        if buffer and weight(buffer) + count > maximum:
            chunks.append(buffer)
            seed: list[int] = []
            if weight(buffer) >= minimum and overlap > 0:
                suffixes = [buffer[-length:] for length in range(1, len(buffer) + 1)]
                seed = next((suffix for suffix in suffixes if weight(suffix) >= overlap), buffer)
            while seed and weight(seed) + count > maximum:
                seed = seed[1:]
            buffer = seed
        if count > maximum:
            if buffer:
                chunks.append(buffer)
            chunks.append([number])
            buffer = []
        else:
            buffer = [*buffer, number]
    if buffer:
        chunks.append(buffer)
    return chunks


def ranges(words: Sequence[int], maximum: int, minimum: int, overlap: int) -> list[tuple[int, int]]:
    return list(sentence_ranges(words, maximum, minimum, overlap))


def chunks(text: str, config: ChunkSizes = DEFAULT) -> list[Parent]:
    return sentence_chunks(text, "en", config=config)


@given(COUNTS, BOUNDS)
@example([5, 5, 5, 9], (12, 4, 8))
@example([3, 40, 3], (12, 1, 2))
def test_chunks_are_those_of_the_definition(words: list[int], bounds: tuple[int, int, int]) -> None:
    assert [list(range(first, beyond)) for first, beyond in ranges(words, *bounds)] == definition(words, *bounds)


@given(COUNTS, BOUNDS)
def test_only_a_single_sentence_exceeds_the_maximum(words: list[int], bounds: tuple[int, int, int]) -> None:
    for first, beyond in ranges(words, *bounds):
        assert sum(words[first:beyond]) <= bounds[0] or beyond - first == 1


@given(COUNTS, BOUNDS)
def test_every_chunk_brings_a_new_sentence_and_none_is_left_out(words: list[int], bounds: tuple[int, int, int]) -> None:
    reached = 0
    for first, beyond in ranges(words, *bounds):
        assert first <= reached < beyond
        reached = beyond
    assert reached == len(words)


@given(TEXTS, CONFIGS)
@example("a" + " ." * 12 + "\xa0" * 21 + "a", replace(DEFAULT, maximum_words=12, minimum_words=6, overlap_words=4))
def test_chunks_of_any_text_cover_it(text: str, config: ChunkSizes) -> None:
    parents = chunks(text, config)
    check(text, parents, config)
    # Sentences are those of each piece between wide gaps.
    pieces = [text[start:end] for start, end in solid(text, [(0, len(text))], config)]
    longest = max((len(piece[a:b].split()) for piece in pieces for a, b in sentence_spans(piece, "en")), default=0)
    assert all(len(parent.text.split()) <= max(config.maximum_words, longest) for parent in parents)


@pytest.mark.parametrize(
    ("words", "bounds", "chunks"),
    [
        ([4, 4, 4, 4, 4], (12, 6, 5), [(0, 3), (1, 4), (2, 5)]),
        ([4, 4, 4, 4, 4], (12, 6, 4), [(0, 3), (2, 5)]),
        ([4, 1, 11], (12, 6, 1), [(0, 2), (2, 3)]),
        ([2, 2, 2, 2, 5], (8, 4, 6), [(0, 4), (3, 5)]),
        ([4, 4, 20, 4, 4], (12, 4, 4), [(0, 2), (2, 3), (3, 5)]),
    ],
    ids=[
        "it takes the fewest sentences that make the overlap",
        "it takes one sentence where that makes the overlap",
        "a chunk below the minimum gives none",
        "it is shortened from its front where the next sentence has no room",
        "a sentence longer than the maximum stands alone and is not repeated",
    ],
)
def test_the_next_chunk_begins_with_an_overlap(
    words: list[int], bounds: tuple[int, int, int], chunks: list[tuple[int, int]]
) -> None:
    assert ranges(words, *bounds) == chunks


def test_a_chunk_is_one_parent_with_one_child() -> None:
    text = " ".join(f"The gauge at post {n} is read every hour by the night watch." for n in range(60))
    parents = chunks(text)
    assert len(parents) > 4
    assert all(len(parent.children) == 1 for parent in parents)


@pytest.mark.parametrize("bounds", [(0, 1, 1), (10, 0, 1), (10, 11, 1), (10, 5, 0)])
def test_bounds_that_cannot_hold_are_refused_with_their_cure(bounds: tuple[int, int, int]) -> None:
    maximum, minimum, overlap = bounds
    config = replace(DEFAULT, maximum_words=maximum, minimum_words=minimum, overlap_words=overlap)
    with pytest.raises(InputError, match=f"maximum_words={maximum}.*at least 1"):
        chunks("Text.", config)
