"""Reflect and decide: how each sub-question stands, how sure the memory is, and whether to go on. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

from rag_engine.answering.citations import shared_words, words
from rag_engine.config import ControllerConfig
from rag_engine.controller.memory import Proposition, SubQuestionState, WorkingMemory
from rag_engine.controller.sub_questions import part_words
from rag_engine.text.folding import fold

LoopDecision = Literal["continue", "confident", "resolved", "budget", "exhausted"]

# Words in common from which two statements of different documents are about the same matter.
_SAME_MATTER = 0.6
_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:[.,]\d+)*(?![\w/-])")
_TOKEN = re.compile(r"[\w'’]+")


def reflect(memory: WorkingMemory, config: ControllerConfig) -> WorkingMemory:
    """Return the memory with the state of every sub-question and the confidence that follows from them."""
    states = tuple(
        state_of([one for one in memory.propositions if one.about == number], config)
        for number in range(len(memory.sub_questions))
    )
    return replace(memory, states=states, confidence=confidence(states, config))


def state_of(propositions: Sequence[Proposition], config: ControllerConfig) -> SubQuestionState:
    """Return "open" without a proposition that fits well enough, "contradicted" where two of those disagree."""
    supporting = [one for one in propositions if one.support >= config.least_support]
    if not supporting:
        return "open"
    return "contradicted" if any(disagree(*pair) for pair in combinations(supporting, 2)) else "covered"


def confidence(states: Sequence[SubQuestionState], config: ControllerConfig) -> float:
    """Return h = w_cov x coverage + w_agr x agreement, from 0 to 1.

    Coverage is the share of sub-questions with a supporting proposition, agreement the share of those that nothing
    contradicts; without one of them both are 0.
    """
    supported = sum(state != "open" for state in states)
    if not supported:
        return 0.0
    agreement = sum(state == "covered" for state in states) / supported
    return config.coverage_weight * supported / len(states) + config.agreement_weight * agreement


def disagree(one: Proposition, other: Proposition) -> bool:
    """Whether two statements of different documents are about the same matter and differ in a number or a negation.

    Only statements in one language are compared, and by their words alone: what is put in other words passes.
    """
    if one.document_id == other.document_id or one.language != other.language:
        return False
    if shared_words(_matter(one.text), _matter(other.text)) < _SAME_MATTER:
        return False
    numbers = set(_NUMBER.findall(one.text)), set(_NUMBER.findall(other.text))
    return (all(numbers) and numbers[0].isdisjoint(numbers[1])) or _negated(one) != _negated(other)


def choose_gap(memory: WorkingMemory) -> tuple[int, str] | None:
    """Return the sub-question to address next and the query for it; None where every query has been issued.

    The least asked comes first, among equals an open one before a contradicted one.
    """
    asked = [query.about for query in memory.issued]
    waiting = [number for number in memory.unresolved if asked.count(number) < len(_queries(memory, number))]
    if not waiting:
        return None
    chosen = min(waiting, key=lambda number: (asked.count(number), memory.states[number] == "contradicted", number))
    return chosen, _queries(memory, chosen)[asked.count(chosen)]


def decide(memory: WorkingMemory, config: ControllerConfig) -> LoopDecision:
    """Return whether to go on, or why not: sure enough, nothing unresolved, budget spent, or no query left to issue.

    The budget alone guarantees an end, for confidence may fall when a contradiction is found.
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


def _negated(proposition: Proposition) -> bool:
    known = part_words(proposition.language)
    negations = {fold(word) for word in known.negations} if known else set()
    # An odd number of negations negates.
    return sum(fold(word) in negations for word in _TOKEN.findall(proposition.text)) % 2 == 1
