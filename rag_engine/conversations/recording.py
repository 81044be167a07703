"""Recording an answer while it is written, so that nothing of it is lost."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from rag_engine.answering.citations import answer_sentences, citation_at, shared_words, words
from rag_engine.conversations.reply import Reply, failed_reply, reply_of, reply_of_form
from rag_engine.conversations.store import Conversation, end_turn
from rag_engine.errors import SextantError
from rag_engine.messages import Message
from rag_engine.planning.follow_up import FollowUp
from rag_engine.text.sentences import sentence_spans
from rag_engine.text.thoughts import spoken
from rag_engine.types.answer import Answer, Citation, StructuredAnswer
from rag_engine.types.evidence import ControllerStep, Evidence
from rag_engine.types.passage import Source

AnswerPart = FollowUp | ControllerStep | Evidence | str | Answer | StructuredAnswer

_UNEXPECTED = Message(
    "This answer ended in an error that Sextant did not expect. The server's log has the details. Ask again."
)


class AnswerStopped(Exception):  # noqa: N818 no error: a person asked for it
    """A person has stopped the answer that is being written."""


def record_reply(
    workspace: Path,
    begun: Conversation,
    parts: Iterator[AnswerPart],
) -> Generator[AnswerPart]:
    """Yield the parts of an answer as they come, and store the reply at their end.

    An error becomes the reply. If the person stops the answer, its first words become the reply. AnswerStopped from the
    parts, Ctrl-C, and closing this iterator stop it.
    """
    text, evidence, reply = "", None, None
    steps: tuple[ControllerStep, ...] = ()
    warnings: tuple[Message, ...] = ()
    try:
        for part in parts:
            match part:
                case FollowUp():
                    warnings = part.warnings
                    asked = begun.turns[-1]
                    full = part.question
                    asked = replace(asked, rewritten=full) if part.asked else replace(asked, in_full=full)
                    begun = replace(begun, turns=(*begun.turns[:-1], asked))
                case ControllerStep():
                    steps = (*steps, part)
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
        reply = failed_reply(error.message)
    except (AnswerStopped, GeneratorExit, KeyboardInterrupt):
        reply = reply or _cancelled(text, evidence)
        raise
    finally:
        reply = reply or failed_reply(_UNEXPECTED)
        # The steps of an answer come with its evidence; an answer that ended earlier has no such steps.
        warned = tuple(dict.fromkeys((*warnings, *reply.warnings)))
        end_turn(workspace, begun, replace(reply, warnings=warned, steps=reply.steps or steps))


def _cancelled(text: str, evidence: Evidence | None) -> Reply:
    """Return the reply of a cancelled answer: the words that came, whose marks were numbered as they came."""
    if evidence is None or not text.strip():
        return failed_reply(Message("Answer cancelled."))
    shown = spoken(text).strip()
    warning = Message("Answer cancelled before its end; its citations were not checked.")
    # For each sentence and source it names, chosen by words in common alone.
    sources = {source.n: source for source in evidence.sources}
    sentences = answer_sentences(shown, evidence.plan.language)
    found = [_nearest(sentence.text, sources[n]) for sentence in sentences for n in sentence.numbers]
    citations = tuple({(citation.n, citation.start): citation for citation in found}.values())
    return reply_of(Answer("answered", shown, citations, evidence, "", (warning,)))


def _nearest(claim: str, source: Source) -> Citation:
    """Return the citation of the sentence of a source that shares most words with a claim.

    Its passage lies on a single page, so that the page is known. Without such a passage it is the beginning of the best
    one.
    """
    language = source.document.metadata.language
    spans = list(sentence_spans(source.text, language))
    placed = [
        (span, hit.page)
        for hit in source.hits
        for span in spans
        if hit.page == hit.last_page and hit.start <= source.start + span[0] and source.start + span[1] <= hit.end
    ]
    best = source.hits[0]
    start, end = best.start - source.start, best.end - source.start
    beginning = (start, min((span[1] for span in spans if span[1] > start), default=end)), best.page
    wanted = words(claim)
    span, page = max(
        placed, key=lambda place: shared_words(wanted, words(source.text[slice(*place[0])])), default=beginning
    )
    return citation_at(source, *span, lambda *_: page)
