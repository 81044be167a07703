"""Structured answer from evidence: sources packed, the form asked for, its records bound.

The form is asked for again if a reply breaks it or lists nothing that is likely to be there.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, perf_counter

from rag_engine.answer_sentences import absent_sections, insufficient
from rag_engine.answering import generation
from rag_engine.answering.citations import PageOf
from rag_engine.answering.structured.answer_schema import NOTE, AnswerSchema, asked_schema
from rag_engine.answering.structured.records import ChildOf, bind_reply
from rag_engine.config import REPLY_TOKENS
from rag_engine.errors import BackendError, ReplyError
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.prompts import record_message, record_rules, source_block
from rag_engine.protocols import Embedder, Generator
from rag_engine.types.answer import StructuredAnswer
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source

_ATTEMPTS = 3
# Seconds before the second attempt; twice as many before each further one.
_FIRST_WAIT = 1.0
_ASKED_AGAIN = Message(
    "The model listed nothing at first, and was asked again because the passages are likely to answer."
)


def structured_answer(
    evidence: Evidence,
    generator: Generator,
    schema: AnswerSchema,
    *,
    embedder: Embedder,
    page_of: PageOf,
    child_of: ChildOf,
    seconds: float,
    wait: Callable[[float], object],
) -> StructuredAnswer:
    """Return the form filled in from the evidence, each record with the place that states it.

    The model is asked up to three times within `seconds`, with waits of 1 and 2 seconds between (exponential back-off).
    Each prompt names the fault of the reply before. If the model lists nothing although the evidence is likely to
    answer, it is asked for at least one record in the remaining seconds. BackendError if this does not help. If the
    evidence is no ground for an answer, no model is asked.
    """
    started = perf_counter()
    absent = absent_sections(evidence.absent, evidence.plan.language)
    if sentence := generation.refusal(evidence, absent):
        warnings = tuple(dict.fromkeys((Message(sentence), *evidence.warnings)))
        return StructuredAnswer(
            "insufficient_evidence", schema.list_name, (), (), evidence, generator.name, warnings, _seconds(started)
        )
    system, sources = _pack(evidence, generator, schema, embedder)
    numbers, blocks = [source.n for source in sources], [source_block(source) for source in reversed(sources)]

    def fill_in(least: int, fault: str) -> dict[str, object]:
        asked = asked_schema(schema, numbers, least=least)
        return _complete(
            lambda fault, left: generator.complete_json(
                system, record_message(blocks, evidence.plan.question, fault), asked, seconds=left
            ),
            fault,
            seconds=max(seconds - (perf_counter() - started), 0.1),
            wait=wait,
        )

    reply, again = fill_in(0, ""), NO_MESSAGE
    if not reply.get(schema.list_name) and evidence.ground == "enough":
        # A small model ends the list at once; a record that no passage states is left out below.
        try:
            reply = fill_in(1, f"{schema.list_name} was empty, and the sources are likely to state some")
            again = _ASKED_AGAIN
        except BackendError as error:
            again = join_messages([_ASKED_AGAIN, Message("That failed: {error}", error=error)])
    bound = bind_reply(
        reply,
        schema,
        sources,
        question=evidence.plan.question,
        language=evidence.plan.language,
        page_of=page_of,
        child_of=child_of,
    )
    nothing = "" if bound.records else insufficient(evidence.plan.language)
    warnings = (
        *map(Message, filter(None, [absent, nothing, again])),
        *evidence.warnings,
        *generation.packing_warnings(sources, evidence.sources, generator.context_window),
        *bound.warnings,
    )
    return StructuredAnswer(
        status="answered" if bound.records else "insufficient_evidence",
        list_name=schema.list_name,
        entities=bound.entities,
        records=bound.records,
        evidence=evidence,
        generator=generator.name,
        warnings=tuple(dict.fromkeys(warnings)),
        seconds=_seconds(started),
    )


def _pack(
    evidence: Evidence, generator: Generator, schema: AnswerSchema, embedder: Embedder
) -> tuple[str, list[Source]]:
    """Return the system message and the sources that fit next to it and the reply, best first."""
    fields: list[tuple[str, str, str]] = [
        (entity.name, entity.kind, entity.description or entity.title) for entity in schema.entities
    ]
    fields.append((schema.list_name, "list of records", schema.list_description))
    fields += [
        (f"{schema.list_name}.{attribute.name}", attribute.kind, attribute.description or attribute.title)
        for attribute in schema.attributes
    ]
    note = NOTE if any(entity.name == NOTE for entity in schema.entities) else ""
    task = schema.description or schema.title
    system = record_rules(task, fields, note, evidence.plan.language, schema.most)
    count_tokens = generation.token_counter(embedder)
    message = record_message((), evidence.plan.question)
    window = generator.context_window
    reserve = min(REPLY_TOKENS, window // 2) + generation.TEMPLATE_TOKENS
    room = window - reserve - count_tokens(system, "en") - count_tokens(message, evidence.plan.language)
    sources, _ = generation.fit_sources(evidence.sources, room, count_tokens)
    if not sources:
        raise generation.no_room(window)
    return system, sources


def _complete(
    ask: Callable[[str, float], dict[str, object]], fault: str, *, seconds: float, wait: Callable[[float], object]
) -> dict[str, object]:
    """Return the model's reply to the fault of its last one, within the remaining seconds."""
    deadline = monotonic() + seconds
    attempt = 1
    while True:
        try:
            return ask(fault, max(deadline - monotonic(), 0.1))
        except BackendError as error:
            pause = _FIRST_WAIT * 2 ** (attempt - 1)
            if not error.retryable or attempt == _ATTEMPTS or monotonic() + pause >= deadline:
                raise
            fault = error.fault if isinstance(error, ReplyError) else ""
        wait(pause)
        attempt += 1


def _seconds(started: float) -> dict[str, float]:
    return {"answer": perf_counter() - started}
