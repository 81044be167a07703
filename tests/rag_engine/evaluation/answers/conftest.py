"""A question with its answer, and a judge whose replies are written down."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_engine.errors import BackendError
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.gold import Quote
from rag_engine.types.answer import Answer, AnswerStatus, Citation
from rag_engine.types.language_model import Prompt
from tests.rag_engine.conftest import make_evidence, make_source

QUOTE = "The mayor orders the evacuation and the fire service carries it out."
QUESTION = AnswerQuestion(
    id="en-1",
    language="en",
    kind="institutional",
    question="Who orders the evacuation?",
    answer="The mayor orders it.",
    passages=(Quote("1.pdf", 3, QUOTE),),
    keywords=("mayor", "evacuation"),
)
UNANSWERABLE = replace(QUESTION, id="en-2", answer="", passages=(), keywords=())


class WrittenJudge:
    """A model that replies with its lists by name, in order; a missing one is a failure."""

    name = "written/judge"
    context_window = 100_000

    def __init__(self, **replies: Sequence[Sequence[object]]) -> None:
        self._replies = {name: list(lists) for name, lists in replies.items()}
        self.asked: list[tuple[str, str]] = []

    def stream(self, prompt: Prompt) -> Iterator[str]:
        raise AssertionError("a judge writes no answers")

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        name = str(json.loads(json.dumps(schema))["required"][0])
        self.asked.append((name, user))
        if not self._replies.get(name):
            raise BackendError("The judge was not done in time.")
        return {name: list(self._replies[name].pop(0))}


def make_answer(
    text: str = "The mayor orders it. [Source 1]",
    contexts: Sequence[str] = (QUOTE,),
    pages: Sequence[int] = (3,),
    status: AnswerStatus = "answered",
) -> Answer:
    """Return an answer from the texts of its sources; `pages` are those of 1.pdf that it cites."""
    sources = [make_source(number, context) for number, context in enumerate(contexts, start=1)]
    citations = tuple(Citation(1, "c", "d", "1.pdf", "Plan", page, QUOTE, 0, 5) for page in pages)
    return Answer(status, text, citations, make_evidence("Who orders the evacuation?", sources), "written/model")
