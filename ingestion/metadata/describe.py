"""A document described in the controlled taxonomy: by rules, and by a model where one answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from ingestion.config import IngestionConfig
from ingestion.extraction.cleaning import clean
from ingestion.metadata.merge import merge
from ingestion.metadata.model import ask_model, read_answer
from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import describe_by_rules, notes_on
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.metadata.titles import find_titles
from ingestion.protocols import LanguageModel
from ingestion.types import Description, Extraction, FieldValue, FileProperties, Outcome, SeedSource
from rag_engine.geography import Gazetteer
from rag_engine.text.templates import kept_sentence
from rag_engine.types import ExtractedText

# A model is shown the first 10,000 characters; its quotations are looked for a little beyond.
_SHOWN = 40_000


def describe_source(
    source: SeedSource,
    extracted: ExtractedText,
    extraction: Extraction,
    declared: FileProperties,
    language_model: LanguageModel | None,
    *,
    gazetteer: Gazetteer,
    config: IngestionConfig,
    today: Callable[[], date] = date.today,
) -> Outcome:
    """Return done, with the Description as evidence; by rules alone where no model answers, as the message says.

    A model is waited for no longer than `config.model_seconds`.
    """
    text = document_text(extracted, extraction.language)
    titles = find_titles(extracted, source, declared)
    rules = describe_by_rules(source, text, declared, titles, gazetteer, today=today())
    if language_model is None or not config.use_model:
        return _outcome(rules, (), "Metadata extracted automatically.", "by rules, without a model")
    taxonomy = load_taxonomy()
    title = next((value.value for value in rules if value.field == "title"), source.title)
    start = ExtractedText(
        extracted.text[:_SHOWN],
        extracted.pages,
        (),
        tuple(block for block in extracted.blocks if block.end <= _SHOWN),
        extracted.media_type,
    )
    reply, failures = ask_model(
        language_model, clean(start, extraction.language), title, taxonomy, seconds=config.model_seconds
    )
    if reply is None:
        message = kept_sentence(
            "Metadata extracted by rules alone, since the model {model} gave no usable answer.",
            model=language_model.name,
        )
        how = f"by rules, since the model {language_model.name} gave no answer that can be used"
        return replace(_outcome(rules, failures, message, how), reason="model_failed")
    answer = read_answer(reply, _SHOWN, text, taxonomy, gazetteer, today=today())
    values, left_out = merge(rules, answer.values)
    return _outcome(
        values,
        (*failures, *answer.warnings, *left_out),
        kept_sentence("Described by {model} and rules.", model=language_model.name),
        f"with {language_model.name}",
    )


def _outcome(values: Sequence[FieldValue], warnings: Sequence[str], message: str, how: str) -> Outcome:
    notes = " ".join((f"Described {how}.", *notes_on(values)))
    kept = [replace(one, confidence=round(max(0.0, min(1.0, one.confidence)), 2)) for one in values]
    without = [one for one in kept if one.field != "notes"]
    described = Description((*without, FieldValue("notes", notes, "rule", "", None, 1.0)), tuple(warnings))
    return Outcome("done", "", message, described)
