"""Vectors that are computed once."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rag_engine.evaluation.vector_cache import CachedEmbedder
from tests.rag_engine.conftest import CountingEmbedder

TEXTS = ["a flood plan", "a heat plan", "a flood plan"]


class Prefixed(CountingEmbedder):
    """An encoder whose questions and passages differ."""

    prefixes = ("query: ", "passage: ")


def test_the_vectors_are_those_of_the_encoder_in_the_order_of_the_texts(tmp_path: Path) -> None:
    bare = CountingEmbedder()
    assert_allclose(CachedEmbedder(bare, tmp_path).encode_passages(TEXTS), bare.encode_passages(TEXTS))


def test_a_text_is_encoded_once_also_by_the_next_run(tmp_path: Path) -> None:
    bare = CountingEmbedder()
    CachedEmbedder(bare, tmp_path).encode_passages(TEXTS)
    assert bare.encoded == 2
    again = CachedEmbedder(bare, tmp_path)
    again.encode_passages([*TEXTS, "a new text"])
    assert bare.encoded == 3
    assert again.encoded == 1


def test_a_question_and_a_passage_of_the_same_words_are_two_texts(tmp_path: Path) -> None:
    bare = Prefixed()
    cached = CachedEmbedder(bare, tmp_path)
    cached.encode_passages(["flood"])
    cached.encode_queries(["flood"])
    assert bare.encoded == 2


def test_questions_are_encoded_again_for_another_map_and_passages_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = CountingEmbedder()
    CachedEmbedder(bare, tmp_path).encode_queries(["flood"])
    CachedEmbedder(bare, tmp_path).encode_passages(["heat"])
    other = tmp_path / "query_map.npy"
    other.write_bytes(b"another map")
    monkeypatch.setattr("rag_engine.evaluation.vector_cache.QUERY_MAP_FILE", other)
    again = CachedEmbedder(bare, tmp_path)
    again.encode_passages(["heat"])
    assert again.encoded == 0
    again.encode_queries(["flood"])
    assert again.encoded == 1


def test_two_runs_at_once_see_each_others_vectors(tmp_path: Path) -> None:
    bare = CountingEmbedder()
    one, other = CachedEmbedder(bare, tmp_path), CachedEmbedder(bare, tmp_path)
    one.encode_passages(["a"])
    other.encode_passages(["b"])
    assert_allclose(one.encode_passages(["b", "a"]), bare.encode_passages(["b", "a"]))
    assert one.encoded == 1


def test_a_record_that_a_crash_left_unfinished_is_forgotten(tmp_path: Path) -> None:
    bare = CountingEmbedder()
    CachedEmbedder(bare, tmp_path).encode_passages(["a", "b"])
    path = CachedEmbedder(bare, tmp_path).path
    path.write_bytes(path.read_bytes()[:-100])
    cached = CachedEmbedder(bare, tmp_path)
    assert_allclose(cached.encode_passages(["a", "b", "c"]), bare.encode_passages(["a", "b", "c"]))
    assert cached.encoded == 2
    assert path.stat().st_size % 3 == 0


def test_what_is_no_unit_vector_is_given_but_not_trusted_again(tmp_path: Path) -> None:
    bare = CountingEmbedder()
    assert not CachedEmbedder(bare, tmp_path).encode_passages(["?!"]).any()
    again = CachedEmbedder(bare, tmp_path)
    again.encode_passages(["?!"])
    assert again.encoded == 1


def test_nothing_to_encode_is_no_vector(tmp_path: Path) -> None:
    vectors = CachedEmbedder(CountingEmbedder(), tmp_path).encode_passages([])
    assert vectors.shape == (0, 256)
    assert vectors.dtype == np.float32


def test_another_runtime_has_a_file_of_its_own(tmp_path: Path) -> None:
    class Other(CountingEmbedder):
        execution = "another"

    CachedEmbedder(CountingEmbedder(), tmp_path).encode_passages(["a"])
    cached = CachedEmbedder(Other(), tmp_path)
    cached.encode_passages(["a"])
    assert cached.encoded == 1
