"""A step of the controller as a line that a person reads."""

from __future__ import annotations

from rag_engine.types import ControllerStep

_ENDS = {
    "resolved": "every part is covered",
    "confident": "confident enough",
    "budget": "search limit reached",
    "exhausted": "nothing left to search for",
}


def describe_step(step: ControllerStep) -> str:
    """Return one line of plain text that says what the step does."""
    match step.kind:
        case "plan":
            return f"{step.of} parts in this question, {step.done} covered by the first search{_spent(step)}"
        case "retrieve":
            return f"Search {step.iteration}: {step.subject}"
        case "read":
            passages = "passage" if step.done == 1 else "passages"
            return f"{step.done} new {passages}, {step.of} in all"
        case "reflect":
            return f"{step.done} of {step.of} parts covered, confidence {step.confidence:.2f}"
        case "decide":
            covered = f"{step.done} of {step.of} parts covered"
            return f"Search finished: {_ENDS.get(step.subject, step.subject)}, {covered}{_spent(step)}"


def _spent(step: ControllerStep) -> str:
    """Return the tokens of the language model, where they are known."""
    if step.tokens is None:
        return ""
    return f"; language model: {step.tokens.prompt:,} tokens read, {step.tokens.reply:,} written"
