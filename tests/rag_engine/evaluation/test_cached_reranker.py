from dataclasses import replace

import pytest

from rag_engine.errors import BackendError
from rag_engine.evaluation.cached_reranker import cached
from rag_engine.protocols import PassageReader, Reranker
from rag_engine.retrieval.search import Retrievers
from tests.rag_engine.small_collection import ByHand, ReadingByHand


def nothing(*_: object) -> None:
    raise AssertionError("Only reader and reranker are cached.")


def retrievers(reranker: Reranker | None, reader: PassageReader | None) -> Retrievers:
    return Retrievers(
        nothing,  # type: ignore[arg-type]
        nothing,  # type: ignore[arg-type]
        nothing,  # type: ignore[arg-type]
        nothing,  # type: ignore[arg-type]
        reranker=lambda: reranker,
        reader=lambda: reader,
        rerank_depth=lambda _: 20,
    )


def test_a_passage_is_read_once_for_a_question_and_scored_as_by_the_reranker() -> None:
    reranker = ByHand(len)
    once = cached(retrievers(reranker, None)).reranker()
    assert once is not None
    assert not isinstance(once, PassageReader)
    assert once.score("Who?", ["a", "bbb", "a"]).tolist() == [1.0, 3.0, 1.0]
    assert once.score("Who?", ["cc", "bbb"]).tolist() == [2.0, 3.0]
    assert reranker.scored == ["a", "bbb", "cc"]
    assert once.score("When?", ["a"]).tolist() == [1.0]
    assert reranker.scored[3:] == ["a"]
    assert (once.name, once.execution) == (reranker.name, reranker.execution)


def test_a_model_that_cannot_be_loaded_is_said_each_time() -> None:
    def load() -> PassageReader:
        raise BackendError("It is nowhere.")

    once = cached(replace(retrievers(None, None), reranker=load, reader=load))
    for model in (once.reranker, once.reader) * 2:
        with pytest.raises(BackendError, match="nowhere"):
            model()


def test_no_model_stays_none() -> None:
    once = cached(retrievers(None, None))
    assert (once.reranker(), once.reader()) == (None, None)


def test_a_cached_reader_reads_a_passage_once_whether_it_is_to_score_it_or_to_find_an_answer() -> None:
    reader = ReadingByHand(len)
    once = cached(retrievers(reader, reader))
    reranker, reading = once.reranker(), once.reader()
    assert reranker is reading is once.reader()
    assert isinstance(reading, PassageReader)
    assert reading.score("Wer?", ["a", "bbb"]).tolist() == [1.0, 3.0]
    assert [one.relevance for one in reading.read("Wer?", ["bbb", "cc"])] == [3.0, 2.0]
    assert reader.scored == ["a", "bbb", "cc"]
