"""The loop of the controller: plan, retrieve, read, reflect, decide, over a working memory that drops nothing.

It knows retrieval only as a function from a query to evidence, and a reader only as one from passages to statements.
Closing the generator cancels it at any step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from rag_engine.config import ControllerConfig
from rag_engine.controller.memory import (
    IssuedQuery,
    SubQuestion,
    WorkingMemory,
    place_of,
    with_evidence,
    with_propositions,
)
from rag_engine.controller.read import Read
from rag_engine.controller.reflect import choose_gap, decide, reflect
from rag_engine.types import ControllerStep, Evidence, Source

Retrieve = Callable[[str], Evidence]


def begin(
    first: Evidence, sub_questions: tuple[SubQuestion, ...], read: Read, config: ControllerConfig
) -> WorkingMemory:
    """Return the memory of the question's own search: its evidence, what it says on each part, and how they stand."""
    memory = with_evidence(WorkingMemory(sub_questions), IssuedQuery(first.plan.question, None, first))
    return _reflected(memory, tuple(enumerate(sub_questions)), first.sources, read, config)


def search_on(
    memory: WorkingMemory, retrieve: Retrieve, read: Read, config: ControllerConfig
) -> Generator[ControllerStep, None, WorkingMemory]:
    """Yield each step as it is taken, and return the memory in which the loop has ended.

    A search may raise a SextantError, which ends the loop as it ends any other search.
    """
    covered = len(memory.sub_questions) - len(memory.unresolved)
    yield ControllerStep("plan", 0, done=covered, of=len(memory.sub_questions), confidence=memory.confidence)
    while (decision := decide(memory, config)) == "continue":
        gap = choose_gap(memory)
        assert gap is not None, "there is a gap as long as the decision is to continue"
        number, query = gap
        turn = memory.iteration + 1
        yield ControllerStep("retrieve", turn, query, confidence=memory.confidence)
        found = retrieve(query)
        known = memory.pool().keys()
        new = tuple(source for source in found.sources if place_of(source) not in known)
        memory = with_evidence(memory, IssuedQuery(query, number, found))
        yield ControllerStep("read", turn, query, len(new), len(memory.pool()), memory.confidence)
        # What is found for one part may answer another; what was found before was read for all of them.
        waiting = tuple((one, memory.sub_questions[one]) for one in memory.unresolved)
        memory = _reflected(memory, waiting, new, read, config)
        covered = len(memory.sub_questions) - len(memory.unresolved)
        text = memory.sub_questions[number].text
        yield ControllerStep("reflect", turn, text, covered, len(memory.sub_questions), memory.confidence)
    covered = len(memory.sub_questions) - len(memory.unresolved)
    yield ControllerStep("decide", memory.iteration, decision, covered, len(memory.sub_questions), memory.confidence)
    return memory


def _reflected(
    memory: WorkingMemory,
    asked: tuple[tuple[int, SubQuestion], ...],
    sources: tuple[Source, ...],
    read: Read,
    config: ControllerConfig,
) -> WorkingMemory:
    """Return the memory with what the sources say on the sub-questions, and how each stands now."""
    reading = read(asked, sources)
    warned = replace(memory, warnings=tuple(dict.fromkeys((*memory.warnings, *reading.warnings))))
    return reflect(with_propositions(warned, reading.propositions), config)
