"""Questions of several documents or parts: each of these is quoted, or said not to answer."""

from collections.abc import Iterator

import pytest

from rag_engine import models
from rag_engine.engine import Engine
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import ControllerStep
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import ReadingByHand, indexed, statute

RIVERS = statute("River Act", {
    "Article 1\nWatch": "Wardens walk along the river after a storm and write down every crack that they see. ",
    "Article 2\nFine": "Whoever damages a river wall pays a fine of five hundred euros to the district court. ",
})  # fmt: skip
HARBOURS = statute("Harbour Act", {
    "Article 1\nFine": "Whoever blocks a harbour entrance pays a fine of nine hundred euros to the port office. ",
    "Article 2\nPilots": "A pilot boards every ship that is longer than eighty metres before it enters the basin. ",
})  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = indexed(tmp_path_factory.mktemp("sides") / "workspace", CountingEmbedder(), (RIVERS, HARBOURS), reads=True)
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reader find what speaks of a fine or of a pilot."""
    made = ReadingByHand(lambda text: 8.0 if "fine" in text or "pilot" in text else -12.0)
    monkeypatch.setattr(models, "_shared_reader", lambda name, execution: made)


def answer_to(engine: Engine, question: str) -> Answer:
    *_, answer = engine.ask(question, None, engine.retrieval(similarity_floor=0.0))
    assert isinstance(answer, Answer)
    return answer


def test_both_acts_that_a_question_names_are_quoted(engine: Engine) -> None:
    answer = answer_to(engine, "What fine do the River Act and the Harbour Act set?")
    quoted = {citation.file: citation.quote for citation in reversed(answer.citations)}
    assert "five hundred euros" in quoted["River Act.txt"]
    assert "nine hundred euros" in quoted["Harbour Act.txt"]
    assert "Not found" not in answer.text


def test_an_act_that_does_not_hold_the_answer_is_named_and_not_quoted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ReadingByHand(lambda text: 8.0 if "pilot" in text else -12.0)
    monkeypatch.setattr(models, "_shared_reader", lambda name, execution: made)
    answer = answer_to(engine, "Which ships need pilots under the River Act and the Harbour Act?")
    assert {citation.file for citation in answer.citations} == {"Harbour Act.txt"}
    assert "Not found in “River Act”." in answer.text


def test_no_part_is_called_open_whose_answer_is_quoted(engine: Engine) -> None:
    answer = answer_to(engine, "Which ships does a pilot board, and who pays a fine for a damaged river wall?")
    quoted = " ".join(citation.quote for citation in answer.citations)
    assert "longer than eighty metres" in quoted
    assert "Whoever damages a river wall" in quoted
    assert answer.evidence.gaps == ()


def test_the_search_says_what_it_searches_for(engine: Engine) -> None:
    steps = [
        one
        for one in engine.ask("What fine do the River Act and the Harbour Act set?")
        if isinstance(one, ControllerStep)
    ]
    assert [step.subject for step in steps] == ["What fine do the River Act set?", "What fine do the Harbour Act set?"]
