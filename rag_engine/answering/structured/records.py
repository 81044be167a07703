"""The records of a model's reply, each bound to the passage that states it; what no passage states is left out."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jsonschema

from rag_engine.answering.citations import PageOf, citation_at, shared_words, words
from rag_engine.answering.structured.answer_schema import CITATION, NO, NOTE, YES, AnswerSchema, SchemaAttribute
from rag_engine.answering.structured.support import stated, unknown_names, unknown_numbers, unsupported
from rag_engine.text.sentences import sentence_spans
from rag_engine.text.templates import kept_sentence
from rag_engine.types import NOT_STATED, Attribute, AttributeContent, CitedRecord, Source

_SHOWN = 60
# What models write where they are to write null.
_EMPTY = frozenset(("null", "none", "n/a", "not stated", "not specified", "unknown", "-", "–"))


@dataclass(frozen=True, slots=True)
class BoundReply:
    """Remains of a checked reply: entities, cited records, and a warning for each thing that was left out."""

    entities: tuple[Attribute, ...]
    records: tuple[CitedRecord, ...]
    warnings: tuple[str, ...]


def bind_reply(
    reply: Mapping[str, object],
    schema: AnswerSchema,
    sources: Sequence[Source],
    *,
    question: str,
    language: str,
    page_of: PageOf,
) -> BoundReply:
    """Return the entities and records of a reply that the sources support.

    A record stays where it cites one of the sources, and the words, numbers and names of what it must have are in
    that source; another value that is not there is left empty, a yes or no becomes NOT_STATED. Entities may also be
    in the question; of the note the sentences stay whose numbers and names are in either. `language` is the
    question's.
    """
    numbered = {source.n: source for source in sources}
    given = reply.get(schema.list_name)
    records: list[CitedRecord] = []
    warnings: list[str] = []
    for number, record in enumerate(given if isinstance(given, list) else (), start=1):
        bound, faults = _bind_record(record, f"{schema.list_name} {number}", schema, numbered, page_of)
        if bound is not None and any(_same(bound, other) for other in records):
            bound, faults = None, [f"{schema.list_name} {number} was left out: it is there already."]
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
    given: object, place: str, schema: AnswerSchema, sources: Mapping[int, Source], page_of: PageOf
) -> tuple[CitedRecord | None, list[str]]:
    """Return the record with its citation, or None, and warnings of what was left out."""
    record = given if isinstance(given, dict) else {}
    named = _clean(record.get(schema.attributes[0].name))
    place = f"{place} ({_shown(named)})" if named else place
    number = record.get(CITATION)
    source = sources.get(number) if isinstance(number, int) and not isinstance(number, bool) else None
    if source is None:
        cited = f"it cites [Source {number}], which the model was not given" if number else "it cites no source"
        return None, [f"{place} was left out: {cited}."]
    attributes, faults = [], []
    for one in schema.attributes:
        value, fault = _supported(one, record.get(one.name), source)
        if one.required and value in (None, ()):
            return None, [f"{place} was left out: {one.name}: {fault or 'it is missing'}."]
        if fault:
            done = "left not stated" if value == NOT_STATED else "shortened" if value else "left empty"
            faults.append(f"{place}: {one.name} was {done}: {fault}.")
        attributes.append(Attribute(one.name, value))
    quote = _quote(attributes, source)
    if quote is None:
        return None, [f"{place} was left out: no sentence of [Source {source.n}] states it."]
    return CitedRecord(tuple(attributes), citation_at(source, *quote, page_of)), faults


def _supported(attribute: SchemaAttribute, given: object, source: Source) -> tuple[AttributeContent, str]:
    """Return a value that the source supports, else an empty one; and why something is missing, "" where nothing is."""
    value, fault = _read(attribute, given)
    if fault or value in (None, NOT_STATED):
        return value, fault
    mark = f"[Source {source.n}]"
    if isinstance(value, bool):
        return (value, "") if _states(attribute, value, source.text) else (NOT_STATED, f"{mark} does not state it")
    passage, language = _head_and_text(source), _language(source)
    if isinstance(value, tuple):
        kept = tuple(one for one in value if not unsupported(one, passage, language))
        gone = ", ".join(_shown(one) for one in value if one not in kept)
        return kept, f"{mark} does not have {gone}" if gone else ""
    fault = _unsupported_value(value, passage, language)
    return (None, f"{mark} does not support {_shown(value)}: {fault}") if fault else (value, "")


def _bind_entity(
    attribute: SchemaAttribute, given: object, passages: Sequence[tuple[str, str]]
) -> tuple[AttributeContent, list[str]]:
    """Return a value that one of the passages (text, language; the question first) has, else an empty one; warnings."""
    value, fault = _read(attribute, given)
    if fault:
        return value, [f"{attribute.name} was left empty: {fault}."]
    if attribute.name == NOTE and isinstance(value, str):
        return _bind_note(value, "\n\n".join(text for text, _ in passages), passages[0][1])
    if value in (None, NOT_STATED):
        return value, [f"{attribute.name} was left empty: it was not found."] if attribute.required else []
    if isinstance(value, bool):
        if any(_states(attribute, value, text) for text, _ in passages):
            return value, []
        return NOT_STATED, [f"{attribute.name} was left {NOT_STATED}: no source states it."]
    several = value if isinstance(value, tuple) else (value,)
    kept = tuple(one for one in several if not all(_unsupported_value(one, *passage) for passage in passages))
    warnings = [
        f"{attribute.name}: {_shown(one)} was left out: neither the question nor a source has it."
        for one in several
        if one not in kept
    ]
    if isinstance(value, tuple):
        return tuple(map(str, kept)), warnings
    return (kept[0] if kept else None), warnings


def _bind_note(note: str, passages: str, language: str) -> tuple[str | None, list[str]]:
    """Return the sentences of a note whose numbers and names are in the question or a source; and warnings."""
    kept, warnings = [], []
    for start, end in sentence_spans(note, language):
        sentence = note[start:end]
        if missing := unknown_numbers(sentence, passages) or unknown_names(sentence, passages, language):
            warnings.append(
                kept_sentence(
                    "A sentence of the {note} was left out: no source has {missing}.", note=NOTE, missing=missing
                )
            )
        else:
            kept.append(sentence)
    return " ".join(kept) or None, warnings


def _read(attribute: SchemaAttribute, given: object) -> tuple[AttributeContent, str]:
    """Return a value as its attribute has it, else an empty one; and why it cannot be used, "" where it can."""
    value: AttributeContent
    if attribute.kind == "yes/no":
        return _yes_or_no(given), ""
    if attribute.kind == "list of texts":
        value = tuple(dict.fromkeys(filter(None, map(_clean, given if isinstance(given, list) else ()))))
    elif attribute.kind == "text":
        value = _clean(given) or None
    else:
        value = _number(given, whole=attribute.kind == "whole number")
        if value is None and _clean(given):
            return None, f"{_shown(given)} is no {attribute.kind}"
    if value in (None, ()):
        return value, ""
    checked = list(value) if isinstance(value, tuple) else value
    error = next(jsonschema.Draft202012Validator(dict(attribute.constraints)).iter_errors(checked), None)
    empty = () if isinstance(value, tuple) else None
    return (empty, f"it breaks the schema ({error.message[:120]})") if error else (value, "")


def _yes_or_no(given: object) -> bool | str:
    if isinstance(given, bool):
        return given
    answers: Mapping[str, bool] = {YES: True, NO: False}
    return answers.get(_clean(given).casefold(), NOT_STATED)


def _number(given: object, *, whole: bool) -> int | float | None:
    """Return the number that is given, also as a text; None where there is none, or a fraction that must be whole."""
    try:
        number = float(_clean(given))
    except ValueError:
        return None
    if not math.isfinite(number) or (whole and not number.is_integer()):
        return None
    return int(number) if number.is_integer() else number


def _clean(given: object) -> str:
    """Return a text on one line without control characters and halves of surrogate pairs; "" for what is none."""
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        return ""
    plain = "".join(" " if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in str(given))
    text = " ".join(plain.split())
    return "" if text.casefold() in _EMPTY else text


def _unsupported_value(value: AttributeContent, passage: str, language: str) -> str:
    """Return what of a text or number a passage does not have; "" where it has all."""
    if isinstance(value, str):
        return unsupported(value, passage, language)
    missing = unknown_numbers(str(value).lstrip("-"), passage)
    return f"it has no number {missing}" if missing else ""


def _states(attribute: SchemaAttribute, value: bool, passage: str) -> bool:
    return any(stated(name, value, passage) for name in (attribute.name, attribute.title))


def _quote(attributes: Sequence[Attribute], source: Source) -> tuple[int, int] | None:
    """Return the place of the sentence of a source that shares most words with a record; None where none shares any."""
    claim = words(" ".join(_text(one.value) for one in attributes))

    def likeness(span: tuple[int, int]) -> tuple[float, bool]:
        start, end = source.start + span[0], source.start + span[1]
        held = any(hit.start <= start and end <= hit.end for hit in source.hits)
        return shared_words(claim, words(source.text[slice(*span)])), held

    best = max(sentence_spans(source.text, _language(source)), key=likeness, default=None)
    return best if best is not None and likeness(best)[0] else None


def _text(value: AttributeContent) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    return "" if value in (None, NOT_STATED) or isinstance(value, bool) else str(value)


def _same(one: CitedRecord, other: CitedRecord) -> bool:
    return one.attributes == other.attributes and one.citation.n == other.citation.n


def _head_and_text(source: Source) -> str:
    """Return what a source is called and its text: what a record may take its words from."""
    metadata = source.document.metadata
    named = (metadata.title, metadata.authority, source.act, source.section, *source.headings)
    return "\n\n".join(filter(None, (*named, source.text)))


def _language(source: Source) -> str:
    return source.document.metadata.language


def _shown(value: object) -> str:
    text = _clean(value)
    return f"“{text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + '…'}”"
