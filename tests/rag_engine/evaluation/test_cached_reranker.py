from __future__ import annotations

import pytest

from rag_engine.errors import BackendError
from rag_engine.evaluation.cached_reranker import CachedReranker, cached_loader
from rag_engine.protocols import Reranker
from tests.rag_engine.small_collection import ByHand


def test_a_passage_is_read_once_for_a_question_and_scored_as_by_the_reranker() -> None:
    reader = ByHand(len)
    cached = CachedReranker(reader)
    assert cached.score("Who?", ["a", "bbb", "a"]).tolist() == [1.0, 3.0, 1.0]
    assert cached.score("Who?", ["cc", "bbb"]).tolist() == [2.0, 3.0]
    assert reader.scored == ["a", "bbb", "cc"]
    assert cached.score("When?", ["a"]).tolist() == [1.0]
    assert reader.scored[3:] == ["a"]
    assert (cached.name, cached.languages) == (reader.name, reader.languages)


def test_a_reranker_that_cannot_be_loaded_is_said_each_time() -> None:
    def load(_: str) -> Reranker:
        raise BackendError("It is nowhere.")

    cached = cached_loader(load)
    for _ in range(2):
        with pytest.raises(BackendError, match="nowhere"):
            cached("en")
