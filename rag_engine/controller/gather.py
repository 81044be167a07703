"""From the first search of a question to the evidence of its parts: whether the controller runs, and its result."""

from __future__ import annotations

import time
from collections import abc
from dataclasses import dataclass, replace

from rag_engine.config import ControllerConfig
from rag_engine.controller.loop import Retrieve, begin, search_on
from rag_engine.controller.memory import SubQuestion
from rag_engine.controller.merge import merge_evidence
from rag_engine.controller.read import ModelReader, Read, SentenceReader, Similarity
from rag_engine.controller.sub_questions import plan_by_model, plan_by_rules
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer
from rag_engine.protocols import Embedder, Generator
from rag_engine.token_usage import CountedModel
from rag_engine.types import ControllerStep, Evidence


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

    The first search's own evidence comes back as it is, without a step, where the question has a single part, where
    nothing was found to begin with, or where the encoder and shared words find every part covered: a language model is
    asked only after that. Where the model then finds every part covered, its tokens come with the first step.
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
    model = CountedModel(tools.generator) if tools.generator and not tools.generator.quotes_only else None
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
) -> tuple[tuple[SubQuestion, ...], Read, tuple[str, ...]]:
    """Return the parts, those of the language model where its reply can be used; its reader; and warnings."""
    read = ModelReader(model, rules, seconds=tools.seconds)
    try:
        return plan_by_model(first.plan, model, tools.gazetteer, seconds=tools.seconds), read, ()
    except BackendError as error:
        return parts, read, (f"The question was taken apart by rules: {error}",)
