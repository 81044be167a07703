"""Recording an answer while it is written, so that nothing of it is lost."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from rag_engine.answering.citations import check_marks
from rag_engine.conversations.reply import Reply, failed_reply, reply_of, reply_of_form
from rag_engine.conversations.store import Conversation, end_turn
from rag_engine.errors import SextantError
from rag_engine.planning.rewriting import FollowUp
from rag_engine.types import Answer, ControllerStep, Evidence, StructuredAnswer

AnswerPart = FollowUp | ControllerStep | Evidence | str | Answer | StructuredAnswer

_UNEXPECTED = "This answer ended in an error that Sextant did not expect. The server's log has the details. Ask again."


class AnswerStopped(Exception):  # noqa: N818 no error: a person asked for it
    """A person has stopped the answer that is being written."""


def record_reply(
    workspace: Path,
    begun: Conversation,
    parts: Iterator[AnswerPart],
) -> Generator[AnswerPart]:
    """Yield the parts of an answer as they come, and store the reply at their end.

    An error becomes the reply, and so do the words that came before the person stopped the answer: by AnswerStopped
    from the parts, by Ctrl-C, or by closing this iterator.
    """
    text, evidence, reply = "", None, None
    steps: tuple[ControllerStep, ...] = ()
    warnings: tuple[str, ...] = ()
    try:
        for part in parts:
            match part:
                case FollowUp():
                    warnings = part.warnings
                    begun = replace(begun, turns=(*begun.turns[:-1], replace(begun.turns[-1], rewritten=part.question)))
                case ControllerStep():
                    steps += (part,)
                case Evidence():
                    evidence = part
                case Answer():
                    reply = reply_of(part)
                case StructuredAnswer():
                    reply = reply_of_form(part)
                case str():
                    text += part
            yield part
    except SextantError as error:
        reply = failed_reply(str(error))
    except (AnswerStopped, GeneratorExit, KeyboardInterrupt):
        reply = reply or _cancelled(text, evidence)
        raise
    finally:
        reply = reply or failed_reply(_UNEXPECTED)
        warnings = tuple(dict.fromkeys((*warnings, *reply.warnings)))
        # An answer that ended among its searches has no evidence that would hold them.
        end_turn(workspace, begun, replace(reply, warnings=warnings, steps=reply.steps or steps))


def _cancelled(text: str, evidence: Evidence | None) -> Reply:
    """Return the reply of a cancelled answer: the words that came, with the marks that lead to a source."""
    if evidence is None or not text.strip():
        return failed_reply("Answer cancelled.")
    checked = check_marks(text, {source.n for source in evidence.sources})
    warning = "Answer cancelled before its end; its citations were not checked."
    return reply_of(Answer("answered", checked.text.strip(), (), evidence, "", (warning,)))
