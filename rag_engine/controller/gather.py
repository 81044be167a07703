"""The loop of the controller: from the first search of a question to the evidence of its parts."""

from __future__ import annotations

import time
from collections import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, zip_longest
from typing import Literal

from rag_engine.answering.citations import shared_words, words
from rag_engine.config import ControllerConfig
from rag_engine.controller.memory import (
    IssuedQuery,
    Proposition,
    SubQuestion,
    SubQuestionState,
    WorkingMemory,
    with_evidence,
)
from rag_engine.controller.statements import ModelReader, Read, SentenceReader, Similarity
from rag_engine.controller.sub_questions import plan_by_model, plan_by_rules
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer
from rag_engine.messages import Message
from rag_engine.protocols import Embedder, Generator
from rag_engine.text.claims import negations, own_numbers
from rag_engine.token_usage import CountedModel
from rag_engine.types.evidence import ControllerStep, Evidence, ResidualGap
from rag_engine.types.passage import Hit, Place, Source

Retrieve = Callable[[str], Evidence]

LoopDecision = Literal["continue", "confident", "resolved", "budget", "exhausted"]

# Words in common from which two statements of different documents are about the same matter.
_SAME_MATTER = 0.6


@dataclass(frozen=True, slots=True)
class ControllerTools:
    """Models and tables that the controller works with.

    `generator` is None without a language model, which has `seconds` for a reply.
    """

    embedder: Embedder
    similarity: Similarity
    gazetteer: Gazetteer
    generator: Generator | None
    seconds: float


def gather(
    first: Evidence, retrieve: Retrieve, tools: ControllerTools, config: ControllerConfig
) -> abc.Generator[ControllerStep, None, Evidence]:
    """Yield the steps of the controller and return the evidence of all parts of the question.

    The first search's own evidence comes back as it is, without a step, in three cases:

    - the question has a single part
    - nothing was found to begin with
    - the encoder and shared words find every part covered

    A language model is asked only after that. If it then finds every part covered, its tokens come with the first step.
    """
    parts = plan_by_rules(first.plan, tools.gazetteer)
    if config.mode == "off" or len(parts) < 2 or not first.sources:
        return first
    started = time.perf_counter()
    rules = SentenceReader(tools.embedder, tools.similarity, tools.gazetteer)
    read: Read = rules
    memory = begin(first, parts, rules, config)
    if not memory.unresolved:
        return first
    model = CountedModel(tools.generator) if tools.generator else None
    if model is not None:
        parts, read, warnings = _with_model(first, parts, rules, tools, model)
        memory = begin(first, parts, read, config)
        memory = replace(memory, warnings=(*warnings, *memory.warnings))
    steps: list[ControllerStep] = []
    loop = search_on(memory, retrieve, read, config)
    if not memory.unresolved:
        # What a model was asked is kept, although nothing has to be searched for.
        steps += [replace(next(loop), tokens=model.tokens)] if model and model.tokens else []
        yield from steps
        warned = tuple(dict.fromkeys((*first.warnings, *memory.warnings)))
        return replace(first, warnings=warned, steps=tuple(steps))
    while True:
        try:
            step = replace(next(loop), tokens=model.tokens if model else None)
        except StopIteration as ended:
            return merge_evidence(ended.value, steps, seconds=time.perf_counter() - started)
        steps.append(step)
        yield step


def _with_model(
    first: Evidence, parts: tuple[SubQuestion, ...], rules: Read, tools: ControllerTools, model: Generator
) -> tuple[tuple[SubQuestion, ...], Read, tuple[Message, ...]]:
    """Return the parts, a reader and warnings, with the help of a language model.

    If the model's reply cannot be used, the parts stay as the rules made them.
    """
    read = ModelReader(model, rules, seconds=tools.seconds)
    try:
        return plan_by_model(first.plan, model, tools.gazetteer, seconds=tools.seconds), read, ()
    except BackendError as error:
        return parts, read, (Message("The question was taken apart by rules: {error}", error=error),)


def begin(
    first: Evidence, sub_questions: tuple[SubQuestion, ...], read: Read, config: ControllerConfig
) -> WorkingMemory:
    """Return the memory after the question's own search: evidence, statements and states."""
    memory = with_evidence(WorkingMemory(sub_questions), IssuedQuery(first.plan.question, None, first))
    return _reflected(memory, tuple(enumerate(sub_questions)), first.sources, read, config)


def search_on(
    memory: WorkingMemory, retrieve: Retrieve, read: Read, config: ControllerConfig
) -> abc.Generator[ControllerStep, None, WorkingMemory]:
    """Yield each step as it is taken, and return the memory at the end of the loop.

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
        new = tuple(source for source in found.sources if source.place not in known)
        memory = with_evidence(memory, IssuedQuery(query, number, found))
        yield ControllerStep("read", turn, query, len(new), len(memory.pool()), memory.confidence)
        # A new source may answer another part too; earlier sources were read for all parts.
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
    """Return the memory with the sources' statements on the sub-questions, and their states."""
    reading = read(asked, sources)
    warnings = tuple(dict.fromkeys((*memory.warnings, *reading.warnings)))
    known = tuple(dict.fromkeys((*memory.propositions, *reading.propositions)))
    return reflect(replace(memory, warnings=warnings, propositions=known), config)


def merge_evidence(memory: WorkingMemory, steps: Sequence[ControllerStep], *, seconds: float) -> Evidence:
    """Return the whole pool as the evidence of the question, with the unresolved parts.

    The rankings of the sub-questions take turns, place by place, and that of the question itself comes after them.
    """
    pool, first = memory.pool(), memory.issued[0].found
    # Sources of the question's own search are in the last ranking, others in the rankings of their sub-questions.
    turns = zip_longest(*_rankings(memory), [source.place for source in first.sources])
    order = dict.fromkeys(place for turn in turns for place in turn if place is not None)
    hits = _hits(memory)
    kept = _without_repeated_contexts([replace(pool[place], hits=hits[place]) for place in order])
    sources = tuple(replace(source, n=n) for n, source in enumerate(kept, 1))
    found = [query.found for query in memory.issued]
    return replace(
        first,
        hits=tuple(source.hits[0] for source in sources if not source.index_context),
        sources=sources,
        warnings=tuple(
            dict.fromkeys((*chain.from_iterable(evidence.warnings for evidence in found), *memory.warnings))
        ),
        seconds={**first.seconds, "controller": seconds, "retrieval": first.seconds.get("retrieval", 0.0) + seconds},
        steps=tuple(steps),
        gaps=tuple(
            ResidualGap(memory.sub_questions[number].text, memory.states[number] == "contradicted")
            for number in memory.unresolved
        ),
    )


def _without_repeated_contexts(sources: Sequence[Source]) -> list[Source]:
    """Return the sources with the sentences of an index last, without sentences inside another source."""
    whole = [source for source in sources if not source.index_context]
    children = {hit.child_id for source in whole for hit in source.hits}
    for source in sources:
        if source.index_context and source.hits[0].child_id not in children:
            children.add(source.hits[0].child_id)
            whole.append(source)
    return whole


def _rankings(memory: WorkingMemory) -> list[list[Place]]:
    """Return the sources of each sub-question, best first.

    Sources found for the sub-question come first, then sources with statements on it.
    """
    rankings: list[list[Place]] = []
    for number in range(len(memory.sub_questions)):
        own = [source.place for query in memory.issued if query.about == number for source in query.found.sources]
        said = sorted(
            (proposition for proposition in memory.propositions if proposition.about == number),
            key=lambda proposition: -proposition.support,
        )
        rankings.append(list(dict.fromkeys((*own, *(proposition.place for proposition in said)))))
    return rankings


def _hits(memory: WorkingMemory) -> dict[Place, tuple[Hit, ...]]:
    """Return the hits of each source over all queries, named hits first, then the most similar.

    A hit that was read for the question keeps its reading, whichever query found it nearest.
    """
    found: dict[Place, list[Hit]] = {}
    for query in memory.issued:
        for source in query.found.sources:
            found.setdefault(source.place, []).extend(source.hits)
    best: dict[Place, tuple[Hit, ...]] = {}
    for place, hits in found.items():
        readings = {hit.child_id: hit.reading for hit in hits if hit.reading is not None}
        children: dict[str, Hit] = {}
        for hit in sorted(hits, key=lambda hit: (not hit.named, -hit.similarity)):
            children.setdefault(hit.child_id, replace(hit, reading=readings.get(hit.child_id)))
        best[place] = tuple(children.values())
    return best


def reflect(memory: WorkingMemory, config: ControllerConfig) -> WorkingMemory:
    """Return the memory with the state of every sub-question and the confidence that follows from them."""
    states = tuple(
        state_of([proposition for proposition in memory.propositions if proposition.about == number], config)
        for number in range(len(memory.sub_questions))
    )
    return replace(memory, states=states, confidence=confidence(states, config))


def state_of(propositions: Sequence[Proposition], config: ControllerConfig) -> SubQuestionState:
    """Return "open", "covered" or "contradicted" by the propositions that fit well enough.

    Without such a proposition the state is "open"; if two of them disagree, it is "contradicted".

    >>> state_of([], ControllerConfig())
    'open'
    """
    supporting = [proposition for proposition in propositions if proposition.support >= config.least_support]
    if not supporting:
        return "open"
    return "contradicted" if any(disagree(*pair) for pair in combinations(supporting, 2)) else "covered"


def confidence(states: Sequence[SubQuestionState], config: ControllerConfig) -> float:
    """Return h = w_cov x coverage + w_agr x agreement, from 0 to 1.

    Coverage is the share of sub-questions with a supporting proposition. Agreement is the share of these without a
    contradiction. Without a supporting proposition both are 0.

    >>> confidence(["covered", "contradicted"], ControllerConfig(coverage_weight=0.8, agreement_weight=0.2))
    0.9
    """
    supported = sum(state != "open" for state in states)
    if not supported:
        return 0.0
    agreement = sum(state == "covered" for state in states) / supported
    return config.coverage_weight * supported / len(states) + config.agreement_weight * agreement


def disagree(proposition: Proposition, other: Proposition) -> bool:
    """Return whether two statements on the same matter differ in a number or a negation.

    They must come from different documents in one language. Only their words are compared, so a paraphrase counts as
    another matter.
    """
    if proposition.document_id == other.document_id or proposition.language != other.language:
        return False
    if shared_words(_matter(proposition.text), _matter(other.text)) < _SAME_MATTER:
        return False
    numbers = [own_numbers(one.text, one.language) for one in (proposition, other)]
    # An odd number of negations negates.
    negated = [negations(one.text, one.language) % 2 for one in (proposition, other)]
    return (all(numbers) and numbers[0].isdisjoint(numbers[1])) or negated[0] != negated[1]


def choose_gap(memory: WorkingMemory) -> tuple[int, str] | None:
    """Return the sub-question to address next and its query, or None if every query was issued.

    The least asked comes first, among equals an open one before a contradicted one.
    """
    asked = [query.about for query in memory.issued]
    waiting = [number for number in memory.unresolved if asked.count(number) < len(_queries(memory, number))]
    if not waiting:
        return None
    chosen = min(waiting, key=lambda number: (asked.count(number), memory.states[number] == "contradicted", number))
    return chosen, _queries(memory, chosen)[asked.count(chosen)]


def decide(memory: WorkingMemory, config: ControllerConfig) -> LoopDecision:
    """Return "continue", or the reason to stop.

    The reasons are: nothing unresolved, enough confidence, a spent budget, no query left. The budget alone guarantees
    an end, for confidence may fall when a contradiction is found.
    """
    if not memory.unresolved:
        return "resolved"
    if memory.confidence >= config.threshold:
        return "confident"
    if memory.iteration >= config.budget:
        return "budget"
    return "continue" if choose_gap(memory) else "exhausted"


def _queries(memory: WorkingMemory, number: int) -> tuple[str, ...]:
    return memory.sub_questions[number].queries


def _matter(text: str) -> set[str]:
    """Return the words of a statement without its numbers."""
    return {word for word in words(text) if not word[0].isdigit()}
