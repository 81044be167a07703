"""A step of the controller as a line that a person reads."""

from __future__ import annotations

from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.evidence import ControllerStep


def describe_step(step: ControllerStep, words: Wording = ENGLISH) -> str:
    """Return one line of plain text that describes the step.

    >>> describe_step(ControllerStep("reflect", iteration=1, done=1, of=2, confidence=0.6))
    '1 of 2 parts covered, confidence 0.60'
    """
    match step.kind:
        case "plan":
            parts = words.counted(
                "{n} part in this question, {covered} covered by the first search",
                "{n} parts in this question, {covered} covered by the first search",
                step.of,
                covered=step.done,
            )
            return _with_tokens(parts, step, words)
        case "retrieve":
            return words.message("Search {n}: {query}", n=step.iteration, query=step.subject)
        case "read":
            return words.counted(
                "{n} new passage, {total} in all", "{n} new passages, {total} in all", step.done, total=step.of
            )
        case "reflect":
            return words.message(
                "{done} of {total} parts covered, confidence {confidence}",
                done=step.done,
                total=step.of,
                confidence=words.number(step.confidence, 2),
            )
        case "decide":
            return _with_tokens(_ended(step, words), step, words)


def _ended(step: ControllerStep, words: Wording) -> str:
    parts = {"done": step.done, "total": step.of}
    match step.subject:
        case "resolved":
            return words.message("Search finished: all parts covered, {done} of {total}", **parts)
        case "confident":
            return words.message("Search finished: confident enough, {done} of {total} parts covered", **parts)
        case "budget":
            return words.message("Search finished: search limit reached, {done} of {total} parts covered", **parts)
        case _:
            return words.message(
                "Search finished: nothing left to search for, {done} of {total} parts covered", **parts
            )


def _with_tokens(line: str, step: ControllerStep, words: Wording) -> str:
    """Return the line with the language model's tokens, if they are known."""
    if step.tokens is None:
        return line
    read, written = words.number(step.tokens.prompt), words.number(step.tokens.reply)
    told = words.message("language model: {read} tokens read, {written} written", read=read, written=written)
    return f"{line}; {told}"
