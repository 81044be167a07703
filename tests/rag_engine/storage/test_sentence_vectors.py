import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.protocols import Vectors
from rag_engine.storage.sentence_vectors import best_cosines, pack_sentences, sentence_texts


def unit(seed: int, count: int, dimension: int = 64) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_nearest_sentence_counts_as_in_full_precision(seed: int, counts: list[int], asked: int) -> None:
    sentences = [unit(seed % 1000 + place, count) for place, count in enumerate(counts)]
    queries, cosines = unit(seed + 1, asked), np.full((len(counts), asked), 0.25, np.float32)
    best = best_cosines([pack_sentences(some) for some in sentences], queries, cosines)
    for place, some in enumerate(sentences):
        expected = (some @ queries.T).max(axis=0) if len(some) else cosines[place]
        assert best[place] == pytest.approx(expected, abs=0.01)


def test_a_passage_of_one_sentence_has_no_other_vector_than_its_own() -> None:
    assert sentence_texts("The fund pays for losses that adaptation cannot prevent.", "en") == []


def test_addresses_are_masked_and_rests_of_lines_left_out() -> None:
    text = "Write to desk@example.org for the complete report.\n\n12\n\nThe second sentence stands on its own here."
    assert sentence_texts(text, "en") == [
        "Write to [email] for the complete report.",
        "The second sentence stands on its own here.",
    ]
