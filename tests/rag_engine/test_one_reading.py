"""A question's passages are read once, and a reader that fails is named."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from rag_engine import models
from rag_engine.answering.quotations.extractive import Quoting
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.retrieval.tuning import READ
from rag_engine.types.answer import QUOTED, Answer
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import PassageReading
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import ReadingByHand, indexed

SANDBAGS = "Where do volunteers stack the sandbags?"
PARTS = "Where do volunteers stack the sandbags, and who repairs the lighthouses of Atlantis?"
FREEBOARD = "Who opens the gate by hand when the lake eats the freeboard?"


class CountingReader(ReadingByHand):
    """A reader that remembers which questions and passages it read, apart from what it scored."""

    def __init__(self, of: Callable[[str], float]) -> None:
        super().__init__(of)
        self.given: list[tuple[str, str]] = []

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        self.given += [(question, passage) for passage in passages]
        return super().read(question, passages)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = indexed(tmp_path_factory.mktemp("reading") / "workspace", CountingEmbedder(), reads=True)
    yield engine
    engine.close()


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> CountingReader:
    """Let the reader of every workspace be one that finds what speaks of sandbags."""
    made = CountingReader(lambda text: 6.0 if "sandbags" in text else -6.0)
    monkeypatch.setattr(models, "_shared_reader", lambda name, execution: made)
    return made


def asked(engine: Engine, question: str, **changes: object) -> tuple[Evidence, Answer]:
    parts = list(engine.ask(question, None, engine.retrieval(**changes)))
    [evidence] = [part for part in parts if isinstance(part, Evidence)]
    answer = parts[-1]
    assert isinstance(answer, Answer)
    return evidence, answer


@pytest.mark.parametrize(
    ("question", "changes"),
    [
        *((question, {}) for question in (SANDBAGS, FREEBOARD, PARTS)),
        *((question, {"rerank": False}) for question in (SANDBAGS, FREEBOARD, PARTS)),
        *((question, {"profile": profile}) for question in (SANDBAGS, FREEBOARD) for profile in ("paper", "rrf")),
    ],
)
def test_no_passage_is_read_twice_for_search_judgement_and_answer(
    engine: Engine, reader: CountingReader, question: str, changes: dict[str, object]
) -> None:
    evidence, answer = asked(engine, question, similarity_floor=0.0, **changes)
    assert reader.given
    assert len(set(reader.given[: evidence.read])) == evidence.read
    # Then each likely quotation is read by itself.
    units = len(reader.given) - evidence.read
    assert 0 < units <= sum(Quoting().read) * max(1, len(evidence.sides))
    # Each part of a question is read for as a question of its own.
    assert {one for one, _ in reader.given} == {question, *(side.query for side in evidence.sides)}
    assert answer.evidence.read == evidence.read
    assert not [one for one in evidence.warnings if "not read closely" in one or "Not reranked" in one]


def test_the_order_the_chances_and_the_quotations_are_of_the_same_reading(
    engine: Engine, reader: CountingReader
) -> None:
    evidence, answer = asked(engine, SANDBAGS, rerank_weight=0.9)
    assert (answer.status, answer.generator, evidence.ground) == ("answered", QUOTED, "enough")
    best = evidence.hits[0]
    assert best.reading is not None
    assert best.reranked == best.reading.relevance == 6.0
    assert "**" in answer.text
    assert answer.citations[0].document_id == best.document.document_id


def test_a_document_that_is_asked_by_itself_is_read_to_its_end(engine: Engine, reader: CountingReader) -> None:
    for document in engine.collection.documents():
        reader.given.clear()
        settings = engine.retrieval(similarity_floor=0.0)
        evidence = engine.search(SANDBAGS, {"document": (document.document_id,)}, settings)
        texts = [child.text for child in engine.catalog.document_children(document.key)]
        assert evidence.read == document.children == len(texts)
        assert sorted(passage for _, passage in reader.given) == sorted(texts)


def test_several_documents_are_read_by_their_best_passages(engine: Engine, reader: CountingReader) -> None:
    assert len(engine.collection.snapshot()) > READ
    assert engine.search(SANDBAGS).read == READ


def broken(name: str, execution: str) -> CountingReader:
    def breaks_off(text: str) -> float:
        raise BackendError("The reader broke off.", help="Restart it.")

    return CountingReader(breaks_off)


def missing(name: str, execution: str) -> CountingReader:
    raise BackendError("The reader broke off.", help="Restart it.")


@pytest.mark.parametrize("load", [broken, missing])
@pytest.mark.parametrize("rerank", [True, False])
def test_a_reader_that_fails_is_said_once_and_quotations_are_chosen_by_likeness(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, load: Callable[[str, str], CountingReader], rerank: bool
) -> None:
    monkeypatch.setattr(models, "_shared_reader", load)
    evidence, answer = asked(engine, SANDBAGS, rerank=rerank)
    said = [one for one in evidence.warnings if "not read closely" in one]
    assert said == ["The passages were not read closely: The reader broke off. Restart it."]
    assert answer.evidence.warnings == evidence.warnings
    assert (evidence.read, answer.status, answer.generator) == (0, "answered", QUOTED)
    assert answer.citations
    assert "sandbags" in answer.citations[0].quote
    assert "**" not in answer.text


def test_where_the_reader_fails_hits_and_chances_are_those_without_one(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_shared_reader", missing)
    failed, _ = asked(engine, SANDBAGS)
    monkeypatch.setattr(engine.models, "reader", lambda: None)
    alone, _ = asked(engine, SANDBAGS)
    assert alone.warnings == ()
    assert [hit.child_id for hit in failed.hits] == [hit.child_id for hit in alone.hits]
    assert [hit.chance for hit in failed.hits] == [hit.chance for hit in alone.hits]
