"""Phase "metadata": the document described in the taxonomy, by rules and by a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from rapidfuzz import fuzz

from ingestion.config import IngestionConfig
from ingestion.extraction.cleaning import clean
from ingestion.file_reading import FileProperties
from ingestion.fingerprints import facts
from ingestion.metadata.authorities import canonical_authority
from ingestion.metadata.model import ask_model, read_answer
from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import METADATA_VERSION, describe_by_rules, notes_on
from ingestion.metadata.summary import DESCRIPTION_WORDS, TARGET_WORDS
from ingestion.metadata.titles import find_titles
from ingestion.phases.definition import SourcePhase
from ingestion.protocols import LanguageModel
from ingestion.records.source_record import SourceRecord
from ingestion.tools import Tools
from ingestion.types.description import FIELDS, Description, FieldName, FieldValue
from ingestion.types.outcome import Outcome
from ingestion.types.source import Extraction, ListedSource
from rag_engine.messages import Message
from rag_engine.types.document import ExtractedText

# A model is shown the first 10,000 characters; its quotations are looked for a little beyond.
_SHOWN = 40_000
_AGREED = 0.15
_SAME_TITLE = 90.0
# A model that miscounts by a few words has still written a summary.
_SLACK = 0.12
# What a model knows better than rules only where it quotes.
_TOGETHER: tuple[FieldName, ...] = ("hazards", "key_criteria", "tags")
_Values = Mapping[FieldName, list[FieldValue]]


def describe_source(
    source: ListedSource,
    extracted: ExtractedText,
    extraction: Extraction,
    declared: FileProperties,
    language_model: LanguageModel | None,
    *,
    config: IngestionConfig,
    today: Callable[[], date] = date.today,
) -> Outcome:
    """Return done, with the Description as evidence.

    By rules alone where no model answers, as the message says.

    A model is waited for no longer than `config.model_seconds`.
    """
    text = document_text(extracted, extraction.language)
    titles = find_titles(extracted, source, declared)
    rules = describe_by_rules(source, text, declared, titles, today=today())
    if language_model is None or not config.use_model:
        return _outcome(rules, (), Message("Metadata extracted automatically."), "by rules, without a model")
    title = next((value.value for value in rules if value.field == "title"), source.title)
    start = ExtractedText(
        extracted.text[:_SHOWN],
        extracted.pages,
        (),
        tuple(block for block in extracted.blocks if block.end <= _SHOWN),
        extracted.media_type,
    )
    reply, failures = ask_model(language_model, clean(start, extraction.language), title, seconds=config.model_seconds)
    if reply is None:
        message = Message(
            "Metadata extracted by rules alone, since the model {model} gave no usable answer.",
            model=language_model.name,
        )
        how = f"by rules, since the model {language_model.name} gave no answer that can be used"
        return replace(_outcome(rules, failures, message, how), reason="model_failed")
    answer = read_answer(reply, _SHOWN, text, today=today())
    values, left_out = merge(rules, answer.values)
    return _outcome(
        values,
        (*failures, *answer.warnings, *left_out),
        Message("Described by {model} and rules.", model=language_model.name),
        f"with {language_model.name}",
    )


def _outcome(values: Sequence[FieldValue], warnings: Sequence[Message], message: Message, how: str) -> Outcome:
    notes = " ".join((f"Described {how}.", *notes_on(values)))
    kept = [replace(value, confidence=round(max(0.0, min(1.0, value.confidence)), 2)) for value in values]
    without = [value for value in kept if value.field != "notes"]
    described = Description((*without, FieldValue("notes", notes, "rule", "", None, 1.0)), tuple(warnings))
    return Outcome("done", "", message, described)


def merge(rules: Sequence[FieldValue], model: Sequence[FieldValue]) -> tuple[list[FieldValue], list[Message]]:
    """Return the values of both in the order of the fields, and notes on those left out.

    >>> rules, model = [FieldValue("hazards", "Flood", "rule")], [FieldValue("hazards", "Drought", "model")]
    >>> [value.value for value in merge(rules, model)[0]]
    ['Flood', 'Drought']
    """
    merged: list[FieldValue] = []
    warnings: list[Message] = []
    ruled, proposed = _by_field(rules), _by_field(map(_canonical, model))
    for name in FIELDS:
        if name in _TOGETHER:
            merged += _union(ruled[name], proposed[name])
        elif name == "countries":
            merged += _countries(ruled, proposed)
        elif name in ("description", "target"):
            merged += _prose(name, ruled[name], proposed[name], warnings)
        else:
            merged += _single(name, ruled, proposed)
    return merged, warnings


def fits(name: FieldName, text: str) -> bool:
    """Return whether a description or target has about as many words as it should and ends as a sentence.

    >>> fits("target", "For mayors. " * 22), fits("target", "For mayors.")
    (True, False)
    """
    least, most = DESCRIPTION_WORDS if name == "description" else TARGET_WORDS
    count = len(text.split())
    return least * (1 - _SLACK) <= count <= most * (1 + _SLACK) and text.rstrip().endswith((".", "!", "?", "”", '"'))


def _by_field(values: Iterable[FieldValue]) -> _Values:
    listed = list(values)
    return {name: [value for value in listed if value.field == name] for name in FIELDS}


def _canonical(value: FieldValue) -> FieldValue:
    known = canonical_authority(value.value) if value.field == "authority" else None
    return replace(value, value=known.name) if known else value


def _union(by_rules: Sequence[FieldValue], by_model: Sequence[FieldValue]) -> list[FieldValue]:
    """Return every label of either side; the model's have been held against the text before."""
    proposed = {value.value: value for value in by_model}
    merged = [_surer(value) if value.value in proposed else value for value in by_rules]
    ruled = {value.value for value in by_rules}
    return merged + [value for name, value in proposed.items() if name not in ruled]


def _single(name: FieldName, ruled: _Values, proposed: _Values) -> list[FieldValue]:
    if not ruled[name] or not proposed[name]:
        return [*ruled[name][:1], *proposed[name][:1]]
    rule, other = ruled[name][0], proposed[name][0]
    if _same(name, rule.value, other.value):
        return [_surer(rule)]
    if rule.source == "list" or name == "language":
        return [rule]
    return [other if other.confidence > rule.confidence else rule]


def _countries(ruled: _Values, proposed: _Values) -> list[FieldValue]:
    """Return the countries of the side whose geographical level was taken, so that the two fit each other."""
    level = _single("geographical_level", ruled, proposed)
    if level and level[0].source == "model":
        return proposed["countries"] if level[0].value == "National" else []
    names = {value.value for value in proposed["countries"]}
    return [_surer(value) if value.value in names else value for value in ruled["countries"]]


def _prose(
    name: FieldName, by_rules: Sequence[FieldValue], by_model: Sequence[FieldValue], warnings: list[Message]
) -> list[FieldValue]:
    """Return the model's text where it has the right length, else the document's own sentences."""
    if not by_model:
        return list(by_rules[:1])
    if fits(name, by_model[0].value):
        return [by_model[0]]
    count = len(by_model[0].value.split())
    warnings.append(
        Message(
            "The model's {field} was left out: it has {count} words or ends in the middle of a sentence.",
            field=name,
            count=count,
        )
    )
    return list(by_rules[:1])


def _surer(value: FieldValue) -> FieldValue:
    return replace(value, confidence=round(min(1.0, value.confidence + _AGREED), 2))


def _same(name: FieldName, one: str, other: str) -> bool:
    if name == "title":
        return fuzz.token_sort_ratio(one.casefold(), other.casefold()) >= _SAME_TITLE
    if name == "date":
        return one.startswith(other) or other.startswith(one)
    return one.casefold() == other.casefold()


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:  # noqa: ARG001 - as every phase
    """Return the text and the row of the list."""
    source = record.source
    return {"text": facts(record.extraction), "list": [source.title, source.authority, source.url]}


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Describe the document."""
    extraction, reading = record.extraction, tools.read(record)
    assert extraction is not None, "metadata follows extraction"
    return describe_source(
        record.source,
        reading.extracted,
        extraction,
        reading.properties,
        tools.language_model,
        config=tools.config,
    )


PHASE = SourcePhase(
    run=run,
    inputs=inputs,
    tables=("taxonomy.toml", "authorities.toml", "geography.toml", "subnational.toml"),
    version=METADATA_VERSION,
    asks_model=lambda _: True,
    used_model=lambda outcome: outcome.evidence is not None and outcome.reason not in ("model_failed", "model_missing"),
)
