from collections.abc import Sequence

import pytest

from rag_engine.errors import BackendError
from rag_engine.evaluation.cached_reranker import CachedReranker, cached_loader
from rag_engine.protocols import PassageReader, Reranker
from rag_engine.types.passage import PassageReading
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


class CountingReader(ByHand):
    """A PassageReader that finds each passage as relevant as it is long, and remembers what it was given."""

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        self.scored += passages
        return [PassageReading(float(len(one)), 0.0, (), (), ()) for one in passages]


def test_a_cached_reader_reads_a_passage_once_whether_it_is_to_score_it_or_to_find_an_answer() -> None:
    reader = CountingReader(len)
    cached = cached_loader(lambda _: reader)("de")
    assert isinstance(cached, PassageReader)
    assert cached.score("Wer?", ["a", "bbb"]).tolist() == [1.0, 3.0]
    assert [one.relevance for one in cached.read("Wer?", ["bbb", "cc"])] == [3.0, 2.0]
    assert reader.scored == ["a", "bbb", "cc"]
