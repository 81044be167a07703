from dataclasses import replace

import pytest

from rag_engine.errors import BackendError
from rag_engine.evaluation.cached_reader import cached
from rag_engine.protocols import PassageReader
from rag_engine.retrieval.search import Retrievers
from tests.rag_engine.small_collection import ReadingByHand


def nothing(*_: object) -> None:
    raise AssertionError("Only the reader is cached.")


def retrievers(reader: PassageReader | None) -> Retrievers:
    return Retrievers(
        nothing,  # type: ignore[arg-type]
        nothing,  # type: ignore[arg-type]
        nothing,  # type: ignore[arg-type]
        nothing,  # type: ignore[arg-type]
        nothing,
        reader=lambda: reader,
    )


def test_a_model_that_cannot_be_loaded_is_said_each_time() -> None:
    def load() -> PassageReader:
        raise BackendError("It is nowhere.")

    once = cached(replace(retrievers(None), reader=load))
    for _ in range(2):
        with pytest.raises(BackendError, match="nowhere"):
            once.reader()


def test_no_model_stays_none() -> None:
    assert cached(retrievers(None)).reader() is None


def test_a_passage_is_read_once_for_a_question() -> None:
    reader = ReadingByHand(len)
    once = cached(retrievers(reader))
    reading = once.reader()
    assert reading is not None
    assert reading is once.reader()
    assert (reading.name, reading.execution) == (reader.name, reader.execution)
    assert [one.relevance for one in reading.read("Wer?", ["a", "bbb", "a"])] == [1.0, 3.0, 1.0]
    assert [one.relevance for one in reading.read("Wer?", ["bbb", "cc"])] == [3.0, 2.0]
    assert reader.scored == ["a", "bbb", "cc"]
    assert [one.relevance for one in reading.read("Wann?", ["a"])] == [1.0]
    assert reader.scored[3:] == ["a"]
