"""Fixed, newline and recursive chunks keep to their sizes and leave nothing out."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.chunking.chunk import fixed_chunks, newline_chunks, recursive_chunks
from rag_engine.config import ChunkSizes
from rag_engine.errors import InputError
from rag_engine.types.passage import Parent
from tests.rag_engine.chunking.covering import CONFIGS, DEFAULT, TEXTS, check

BASELINES = [fixed_chunks, newline_chunks, recursive_chunks]


@pytest.mark.parametrize("cut", BASELINES)
@given(TEXTS, CONFIGS)
def test_chunks_of_any_text_cover_it(cut: Callable[..., list[Parent]], text: str, config: ChunkSizes) -> None:
    check(text, cut(text, "en", config=config), config)


@given(st.integers(1, 400), st.integers(2, 60), st.integers(0, 59))
def test_fixed_chunks_have_their_size_and_repeat_their_overlap(count: int, size: int, overlap: int) -> None:
    words = [f"w{n}" for n in range(count)]
    config = replace(DEFAULT, fixed_words=size, fixed_overlap=min(overlap, size - 1))
    cut = [parent.text.split() for parent in fixed_chunks(" ".join(words), "en", config=config)]
    assert all(len(part) == size for part in cut[:-1])
    assert len(cut[-1]) <= size
    for before, after in pairwise(cut):
        repeated = config.fixed_overlap
        assert before[len(before) - repeated :] == after[:repeated]
        assert len(after) > repeated


def test_fixed_chunks_of_a_text_without_spaces_count_its_letters() -> None:
    assert [len(parent.text) for parent in fixed_chunks("洪" * 2_000, "zh", config=DEFAULT)] == [800, 800, 500]


def test_an_overlap_as_large_as_the_chunk_is_refused_with_its_cure() -> None:
    with pytest.raises(InputError, match="fixed_overlap=800 does not fit into fixed_words=800"):
        fixed_chunks("Text.", "en", config=replace(DEFAULT, fixed_overlap=800))


def test_newline_chunks_are_the_lines() -> None:
    parents = newline_chunks("Scope\n\nThe plan holds.\n \nGauge | 4.5\nLevel | 2", "en", config=DEFAULT)
    assert [parent.text for parent in parents] == ["Scope", "The plan holds.", "Gauge | 4.5", "Level | 2"]


@given(TEXTS, CONFIGS)
def test_recursive_chunks_are_no_longer_than_a_parent(text: str, config: ChunkSizes) -> None:
    assert all(len(parent.text) <= config.parent_size for parent in recursive_chunks(text, "en", config=config))


def test_recursive_chunks_are_cut_at_the_coarsest_end_that_fits() -> None:
    config = replace(DEFAULT, parent_size=40, child_size=600)
    text = "One short.\n\nTwo short.\n\nThree is a line\nwith a second line that is so long.\n\nFour."
    assert [parent.text for parent in recursive_chunks(text, "en", config=config)] == [
        "One short.\n\nTwo short.",
        "Three is a line",
        "with a second line that is so long.",
        "Four.",
    ]


def test_recursive_chunks_cut_a_word_only_when_it_is_longer_than_a_parent() -> None:
    config = replace(DEFAULT, parent_size=10)
    assert [parent.text for parent in recursive_chunks("aaaa bbbb " + "c" * 25, "en", config=config)] == [
        "aaaa bbbb",
        "c" * 10,
        "c" * 10,
        "c" * 5,
    ]
