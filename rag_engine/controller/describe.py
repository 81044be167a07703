"""A step of the controller as a line that a person reads."""

from __future__ import annotations

from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.evidence import ControllerStep


def describe_step(step: ControllerStep, words: Wording = ENGLISH) -> str:
    """Return one line of plain text that describes the step.

    Whether a part is answered is for the answer to say, not for the search.

    >>> describe_step(ControllerStep("retrieve", iteration=1, subject="Who paid?"))
    'Searching for: Who paid?'
    """
    match step.kind:
        case "plan":
            return _with_tokens(
                words.counted("{n} part in this question", "{n} parts in this question", step.of), step, words
            )
        case "retrieve":
            return words.message("Searching for: {query}", query=step.subject)
        case "read":
            return words.counted(
                "{n} new passage, {total} in all", "{n} new passages, {total} in all", step.done, total=step.of
            )
        case "reflect":
            return words.message("Read for: {part}", part=step.subject)
        case "decide":
            return _with_tokens(words.message("Search finished"), step, words)


def _with_tokens(line: str, step: ControllerStep, words: Wording) -> str:
    """Return the line with the language model's tokens, if they are known."""
    if step.tokens is None:
        return line
    read, written = words.number(step.tokens.prompt), words.number(step.tokens.reply)
    told = words.message("language model: {read} tokens read, {written} written", read=read, written=written)
    return f"{line}; {told}"
