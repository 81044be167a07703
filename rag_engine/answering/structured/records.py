"""Records of a model's reply, each bound to the place that states it.

Without such a place, a record or value is left out.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import jsonschema

from rag_engine.answering.citations import PageOf, citation_at
from rag_engine.answering.structured import statements
from rag_engine.answering.structured.answer_schema import CITATION, NO, NOTE, YES, AnswerSchema, SchemaAttribute
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.text.claims import stated_values
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types.answer import NOT_STATED, Attribute, AttributeContent, Citation, CitedRecord
from rag_engine.types.document import DocumentRecord
from rag_engine.types.passage import Source

# The id of the child of a document that holds most of characters [start, end) of its text.
ChildOf = Callable[[DocumentRecord, int, int], str]
_SHOWN = 60
# The share of a value's words that stand where its record is quoted: the source may say the rest elsewhere.
_WORDS_THERE = 0.6
# The words of models that are to write null.
_EMPTY = frozenset(("null", "none", "n/a", "not stated", "not specified", "unknown", "-", "–"))


@dataclass(frozen=True, slots=True)
class BoundReply:
    """Remains of a checked reply: entities, cited records, and a warning for each thing that was left out."""

    entities: tuple[Attribute, ...]
    records: tuple[CitedRecord, ...]
    warnings: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class _StatedValue:
    """A value that a statement supports, its sentences, and the fault if something is missing."""

    value: AttributeContent
    spans: tuple[Span, ...]
    fault: Message = NO_MESSAGE


def bind_reply(
    reply: Mapping[str, object],
    schema: AnswerSchema,
    sources: Sequence[Source],
    *,
    question: str,
    language: str,
    page_of: PageOf,
    child_of: ChildOf,
) -> BoundReply:
    """Return the entities and records of a reply that the sources support.

    A record stays if it cites one of the sources and one sentence of it supports the record's required values. Their
    words, numbers and names may also be in the sentences around it, above it, or in the source's title. Another value
    that is not there is left empty; a yes or no becomes NOT_STATED. The quote holds the sentence and the neighbours
    that a value comes from. Entities may also be in the question. A sentence of the note stays if its numbers and names
    are in the sources or the question. `language` is the question's.
    """
    numbered = {source.n: source for source in sources}
    given = reply.get(schema.list_name)
    records: list[CitedRecord] = []
    warnings: list[Message] = []
    for number, record in enumerate(given if isinstance(given, list) else (), start=1):
        bound, faults = _bind_record(record, f"{schema.list_name} {number}", schema, numbered, page_of, child_of)
        known = [(other.attributes, other.citation.n) for other in records]
        if bound is not None and (bound.attributes, bound.citation.n) in known:
            bound, faults = None, [_left_out(f"{schema.list_name} {number}", Message("it is there already"))]
        records += [bound] if bound is not None else []
        warnings += faults
    entities: list[Attribute] = []
    passages = [(question, language), *((_head_and_text(one), _language(one)) for one in sources)]
    # Where nothing was found, entities and a note belong to nothing.
    for attribute in schema.entities if records else ():
        value, faults = _bind_entity(attribute, reply.get(attribute.name), passages)
        entities.append(Attribute(attribute.name, value))
        warnings += faults
    return BoundReply(tuple(entities), tuple(records), tuple(dict.fromkeys(warnings)))


def _bind_record(
    given: object, place: str, schema: AnswerSchema, sources: Mapping[int, Source], page_of: PageOf, child_of: ChildOf
) -> tuple[CitedRecord | None, list[Message]]:
    """Return the record with its citation, or None, and warnings about left-out values."""
    record = given if isinstance(given, dict) else {}
    named = _clean(record.get(schema.attributes[0].name))
    place = f"{place} ({_shown(named)})" if named else place
    number = record.get(CITATION)
    source = sources.get(number) if isinstance(number, int) and not isinstance(number, bool) else None
    if source is None:
        cited = Message(
            "it cites [Source {n}], which the model was not given" if number else "it cites no source", n=number
        )
        return None, [_left_out(place, cited)]
    given_values = [_supported(attribute, record.get(attribute.name), source) for attribute in schema.attributes]
    for attribute, (value, fault) in zip(schema.attributes, given_values, strict=True):
        if attribute.required and value in (None, ()):
            return None, [_left_out_for(place, attribute.name, fault or Message("it is missing"))]
    claim = " ".join(_text(value) for value, _ in given_values)
    bound = [
        [
            _stated_there(attribute, value, source, there)
            for attribute, (value, _) in zip(schema.attributes, given_values, strict=True)
        ]
        for there in statements.likely_statements(source, claim)
    ]
    # The likely statement that has most of the record; required values count before all others.
    best = max(bound, key=lambda values: _completeness(schema.attributes, values), default=None)
    if best is None:
        return None, [_left_out(place, Message("no sentence of [Source {n}] states it", n=source.n))]
    attributes, faults = [], []
    for attribute, (_, unsupported_by_all), stated in zip(schema.attributes, given_values, best, strict=True):
        fault = unsupported_by_all or stated.fault
        if attribute.required and stated.value in (None, ()):
            return None, [_left_out_for(place, attribute.name, fault)]
        if fault:
            named = f"{place}: {attribute.name}"
            if stated.value == NOT_STATED:
                faults.append(_left_not_stated(named, fault))
            elif stated.value:
                faults.append(Message("{field} was shortened: {fault}.", field=named, fault=fault))
            else:
                faults.append(_left_empty(named, fault))
        attributes.append(Attribute(attribute.name, stated.value))
    spans = [span for stated in best for span in stated.spans]
    quote = min(start for start, _ in spans), max(end for _, end in spans)
    return CitedRecord(tuple(attributes), _citation(source, quote, page_of, child_of)), faults


def _left_out(record: str, fault: str) -> Message:
    return Message("{record} was left out of the list: {fault}.", record=record, fault=fault)


def _left_out_for(record: str, field: str, fault: str) -> Message:
    return Message("{record} was left out for its {field}: {fault}.", record=record, field=field, fault=fault)


def _left_empty(field: str, fault: str) -> Message:
    return Message("{field} was left empty: {fault}.", field=field, fault=fault)


def _left_not_stated(field: str, fault: str) -> Message:
    return Message("{field} was left not stated: {fault}.", field=field, fault=fault)


def _completeness(attributes: Sequence[SchemaAttribute], values: Sequence[_StatedValue]) -> tuple[int, int, int]:
    """Return the counts of required values in one sentence and with its neighbours, and of all values."""
    there = [stated for stated in values if stated.value not in (None, (), NOT_STATED)]
    needed = [
        stated for attribute, stated in zip(attributes, values, strict=True) if attribute.required and stated in there
    ]
    return sum(len(stated.spans) == 1 for stated in needed), len(needed), len(there)


def _stated_there(
    attribute: SchemaAttribute, value: AttributeContent, source: Source, statement: statements.SourceStatement
) -> _StatedValue:
    """Return the part of a value that a statement holds, from a value that its source supports."""
    own = (statement.start, statement.end)
    if value in (None, (), NOT_STATED):
        return _StatedValue(value, (own,))
    if isinstance(value, bool):
        return _yes_or_no_there(attribute, value, source, statement)
    several = value if isinstance(value, tuple) else (value,)
    taken = [(one, _sentences_for(one, source, statement)) for one in several]
    kept = tuple(one for one, spans in taken if spans)
    spans = tuple(dict.fromkeys((own, *(span for _, spans in taken for span in spans))))
    gone = ", ".join(_shown(one) for one, found in taken if not found)
    elsewhere = Message("[Source {n}] has {values} elsewhere, not where it states the rest", n=source.n, values=gone)
    fault = elsewhere if gone else NO_MESSAGE
    if isinstance(value, tuple):
        return _StatedValue(tuple(map(str, kept)), spans, fault)
    return _StatedValue(kept[0] if kept else None, spans, fault)


def _sentences_for(value: AttributeContent, source: Source, statement: statements.SourceStatement) -> tuple[Span, ...]:
    """Return the fewest sentences of a statement that have a text or number, or none."""
    own, following = (statement.start, statement.end), statement.after if statement.goes_on else None
    before, after = [(span,) if span else () for span in (statement.before, following)]
    for spans in dict.fromkeys(((own,), (*before, own), (own, *after), (*before, own, *after))):
        said = "\n\n".join((_head(source), statement.above, *(source.text[slice(*span)] for span in spans)))
        if not _unsupported_value(value, said, _language(source), share=_WORDS_THERE):
            return spans
    return ()


def _yes_or_no_there(
    attribute: SchemaAttribute, value: bool, source: Source, statement: statements.SourceStatement
) -> _StatedValue:
    """Return a yes or no that the statement, or its neighbour, states without its contrary.

    Where that says nothing of it, a source that is a single section of an act is about one matter as a whole.
    """
    own = (statement.start, statement.end)
    first, last = statement.before or own, statement.after or own
    whole = ((0, len(source.text)),) if source.section else ()
    for start, end in (own, (first[0], last[1]), *whole):
        found = _stated_values(attribute, source.text[start:end])
        if found == {value}:
            return _StatedValue(value, (own,) if (start, end) in whole else ((start, end),))
        if found:
            break
    fault = Message("[Source {n}] does not state it where it states the rest", n=source.n)
    return _StatedValue(NOT_STATED, (own,), fault)


def _citation(source: Source, quote: Span, page_of: PageOf, child_of: ChildOf) -> Citation:
    """Return the citation of a quote, with the passage that holds it.

    That passage need not have been found by itself.
    """
    citation = citation_at(source, *quote, page_of)
    if statements.is_found(source, quote):
        return citation
    return replace(citation, child_id=child_of(source.document, citation.start, citation.end))


def _supported(attribute: SchemaAttribute, given: object, source: Source) -> tuple[AttributeContent, Message]:
    """Return a value that the source supports, else an empty one, and why something is missing.

    The reason is empty if nothing is missing.
    """
    value, fault = _read(attribute, given)
    if fault or value in (None, NOT_STATED):
        return value, fault
    if isinstance(value, bool):
        found = value in _stated_values(attribute, source.text)
        return (value, NO_MESSAGE) if found else (NOT_STATED, Message("[Source {n}] does not state it", n=source.n))
    passage, language = _head_and_text(source), _language(source)
    if isinstance(value, tuple):
        kept = tuple(one for one in value if not statements.unsupported(one, passage, language))
        gone = ", ".join(_shown(one) for one in value if one not in kept)
        return kept, Message("[Source {n}] does not have {values}", n=source.n, values=gone) if gone else NO_MESSAGE
    fault = _unsupported_value(value, passage, language)
    if not fault:
        return value, NO_MESSAGE
    return None, Message("[Source {n}] does not support {value}: {fault}", n=source.n, value=_shown(value), fault=fault)


def _bind_entity(
    attribute: SchemaAttribute, given: object, passages: Sequence[tuple[str, str]]
) -> tuple[AttributeContent, list[Message]]:
    """Return a value that one of the passages has, else an empty one, and warnings.

    A passage is a text with its language; the question comes first.
    """
    value, fault = _read(attribute, given)
    if fault:
        return value, [_left_empty(attribute.name, fault)]
    if attribute.name == NOTE and isinstance(value, str):
        return _bind_note(value, "\n\n".join(text for text, _ in passages), passages[0][1])
    if value in (None, NOT_STATED):
        return value, [_left_empty(attribute.name, Message("it was not found"))] if attribute.required else []
    if isinstance(value, bool):
        found = {one for text, _ in passages for one in _stated_values(attribute, text)}
        if found == {value}:
            return value, []
        why = Message("both are stated" if len(found) > 1 else "no source states it")
        return NOT_STATED, [_left_not_stated(attribute.name, why)]
    several = value if isinstance(value, tuple) else (value,)
    kept = tuple(one for one in several if not all(_unsupported_value(one, *passage) for passage in passages))
    warnings = [
        Message(
            "{field}: {value} was left out: neither the question nor a source has it.",
            field=attribute.name,
            value=_shown(one),
        )
        for one in several
        if one not in kept
    ]
    if isinstance(value, tuple):
        return tuple(map(str, kept)), warnings
    return (kept[0] if kept else None), warnings


def _bind_note(note: str, passages: str, language: str) -> tuple[str | None, list[Message]]:
    """Return the sentences of a note that the question or a source supports, and warnings.

    Their numbers and names are there.
    """
    kept, warnings = [], []
    for start, end in sentence_spans(note, language):
        sentence = note[start:end]
        if missing := statements.unknown_numbers(sentence, passages) or statements.unknown_names(
            sentence, passages, language
        ):
            warnings.append(
                Message("A sentence of the {note} was left out: no source has {missing}.", note=NOTE, missing=missing)
            )
        else:
            kept.append(sentence)
    return " ".join(kept) or None, warnings


def _read(attribute: SchemaAttribute, given: object) -> tuple[AttributeContent, Message]:
    """Return a value as its attribute has it, else an empty one, and why it cannot be used.

    The reason is empty if it can be used.
    """
    value: AttributeContent
    if attribute.kind == "yes/no":
        return _yes_or_no(given), NO_MESSAGE
    if attribute.kind == "list of texts":
        value = tuple(dict.fromkeys(filter(None, map(_clean, given if isinstance(given, list) else ()))))
    elif attribute.kind == "text":
        value = _clean(given) or None
    else:
        value = _number(given, whole=attribute.kind == "whole number")
        if value is None and _clean(given):
            whole = attribute.kind == "whole number"
            return None, Message("{value} is no whole number" if whole else "{value} is no number", value=_shown(given))
    if value in (None, ()):
        return value, NO_MESSAGE
    checked = list(value) if isinstance(value, tuple) else value
    error = next(jsonschema.Draft202012Validator(dict(attribute.constraints)).iter_errors(checked), None)
    empty = () if isinstance(value, tuple) else None
    if error:
        return empty, Message("it breaks the schema ({error})", error=error.message[:120])
    return value, NO_MESSAGE


def _yes_or_no(given: object) -> bool | str:
    if isinstance(given, bool):
        return given
    answers: Mapping[str, bool] = {YES: True, NO: False}
    return answers.get(_clean(given).casefold(), NOT_STATED)


def _number(given: object, *, whole: bool) -> int | float | None:
    """Return the number that is given, also as a text.

    None if there is none, or a fraction that must be whole.
    """
    try:
        number = float(_clean(given))
    except ValueError:
        return None
    if not math.isfinite(number) or (whole and not number.is_integer()):
        return None
    return int(number) if number.is_integer() else number


def _clean(given: object) -> str:
    """Return a text on one line without control characters and halves of surrogate pairs.

    It is empty if no text or number is given.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        return ""
    plain = "".join(" " if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in str(given))
    text = " ".join(plain.split())
    return "" if text.casefold() in _EMPTY else text


def _unsupported_value(
    value: AttributeContent, passage: str, language: str, *, share: float = statements.WORDS_FOUND
) -> Message:
    """Return the part of a text or number that a passage lacks, or ""."""
    if isinstance(value, str):
        return statements.unsupported(value, passage, language, share=share)
    missing = statements.unknown_numbers(str(value).lstrip("-"), passage, language)
    return Message("it has no number {number}", number=missing) if missing else NO_MESSAGE


def _stated_values(attribute: SchemaAttribute, passage: str) -> frozenset[bool]:
    return stated_values(attribute.name, passage) | stated_values(attribute.title, passage)


def _text(value: AttributeContent) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    return "" if value in (None, NOT_STATED) or isinstance(value, bool) else str(value)


def _head_and_text(source: Source) -> str:
    """Return the name of a source and its text, from which a record may take its words."""
    return "\n\n".join(filter(None, (_head(source), source.text)))


def _head(source: Source) -> str:
    metadata = source.document.metadata
    named = (metadata.title, metadata.authority, source.act, source.section, *source.headings)
    return "\n\n".join(filter(None, named))


def _language(source: Source) -> str:
    return source.document.metadata.language


def _shown(value: object) -> str:
    text = _clean(value)
    return f"“{text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + '…'}”"
