"""Metadata from a language model, checked against the text before it is believed.

The document is data between two marks that its own text cannot write; every label must come with a quotation that
is in the text. Nothing the model says reaches a description without passing `read_answer`.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from ingestion.metadata.quotes import Passages
from ingestion.metadata.taxonomy import Taxonomy
from ingestion.metadata.term_matching import Word, cut_words
from ingestion.prompts import description_message, description_rules, description_schema
from ingestion.protocols import LanguageModel
from ingestion.types import FieldName, FieldValue
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer, canonical_country
from rag_engine.prompts import one_line
from rag_engine.text.folding import fold

_LABELLED: tuple[FieldName, ...] = ("hazards", "key_criteria", "tags")
_ISO_DATE = re.compile(r"(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_QUOTE_WORDS = 2
# Time that a second try needs to make sense.
_LEAST_SECONDS = 2.0
_QUOTED = 0.75
_UNQUOTED = 0.4


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The values of a model's answer that the text confirms, and warnings on those that were dropped."""

    values: tuple[FieldValue, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class _ReplyReader:
    """Quotations of a model looked up in the words of the text."""

    words: Sequence[Word]
    passages: Passages
    joined: str = field(init=False)

    def __post_init__(self) -> None:
        self.joined = " " + " ".join(word.folded for word in self.words) + " "

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return where the text has the words of a quotation, whatever its case, accents, spaces and punctuation."""
        wanted = [word.folded for word in cut_words(quote)]
        if len(wanted) < _QUOTE_WORDS:
            return None
        at = self.joined.find(" " + " ".join(wanted) + " ")
        if at < 0:
            return None
        first = self.joined.count(" ", 0, at)
        return self.words[first].start, self.words[first + len(wanted) - 1].end


def ask_model(
    language_model: LanguageModel,
    cleaned: str,
    title: str,
    taxonomy: Taxonomy,
    *,
    seconds: float,
) -> tuple[Mapping[str, object] | None, tuple[str, ...]]:
    """Return the model's answer under the schema, or None with the reasons; a broken answer is asked for once more.

    It returns within `seconds` even when the model does not.
    """
    deadline = time.monotonic() + seconds
    rules, schema = prompt_for(taxonomy)
    user = description_message(cleaned, title)
    warnings: list[str] = []
    for attempt in (1, 2):
        left = deadline - time.monotonic()
        if attempt == 2 and left < min(_LEAST_SECONDS, seconds / 4):
            break
        # The first try may not use up what a second one needs.
        given = left if attempt == 2 else max(left * 0.75, min(left, _LEAST_SECONDS))
        reply = _within(language_model, rules, user, schema, given)
        if isinstance(reply, dict):
            missing = [key for key in ("title", "document_type", "description") if key not in reply]
            if not missing:
                return reply, tuple(warnings)
            fault = f"the answer has no {', '.join(missing)}"
        else:
            fault = str(reply)
        warnings.append(f"Model {language_model.name}, attempt {attempt}: {fault}")
        user = description_message(cleaned, title, fault=fault)
    return None, tuple(warnings)


def read_answer(
    reply: Mapping[str, object],
    words: Sequence[Word],
    passages: Passages,
    taxonomy: Taxonomy,
    gazetteer: Gazetteer,
    *,
    today: date,
) -> ModelReply:
    """Return the values of an answer that are allowed and stand up, with a warning for each that does not."""
    reader = _ReplyReader(words, passages)
    values: list[FieldValue] = []
    warnings: list[str] = []
    for listed in _LABELLED:
        for entry in _entries(reply.get(listed)):
            values += _labelled(listed, entry, taxonomy, reader, warnings, needs_quote=True)
    for single in ("document_type", "geographical_level"):
        entry = _entry(reply.get(single))
        values += _labelled(_field(single), entry, taxonomy, reader, warnings, needs_quote=False) if entry[0] else []
    for name, quote in _entries(reply.get("countries")):
        country = canonical_country(name, gazetteer)
        if country is None:
            warnings.append(f"The model named {one_line(name, limit=60)!r}, which is no country.")
            continue
        values.append(_value("countries", country, quote, reader))
    for text_field in ("title", "authority"):
        entry = _entry(reply.get(text_field))
        if entry[0]:
            values.append(_value(_field(text_field), one_line(entry[0]), entry[1] or entry[0], reader))
    values += _date(_entry(reply.get("date")), reader, warnings, today)
    for prose in ("description", "target"):
        text = reply.get(prose)
        if isinstance(text, str) and text.strip():
            values.append(FieldValue(_field(prose), one_line(text, limit=None), "model", "", None, 0.7))
    return ModelReply(tuple(dict.fromkeys(values)), tuple(warnings))


def prompt_for(taxonomy: Taxonomy) -> tuple[str, dict[str, object]]:
    """Return the rules with every label and its meaning, and the schema of the answer."""
    defined = {
        "document_type": taxonomy.document_types,
        "geographical_level": taxonomy.geographical_levels,
        "hazards": taxonomy.hazards,
        "key_criteria": taxonomy.key_criteria,
        "tags": taxonomy.tags,
    }
    labels = {field: [(label.name, label.definition) for label in listed] for field, listed in defined.items()}
    names = {field: [name for name, _ in listed] for field, listed in labels.items()}
    return description_rules(labels), description_schema(names)


def _within(language_model: LanguageModel, system: str, user: str, schema: dict[str, object], seconds: float) -> object:
    """Return the model's object, or in words why there is none. A model that overruns its time is left behind."""
    box: queue.SimpleQueue[object] = queue.SimpleQueue()

    def run() -> None:
        try:
            box.put(language_model.complete_json(system, user, schema, seconds=seconds))
        except BackendError as error:
            box.put(str(error))
        except Exception as error:  # a broken client is one more way of not answering
            box.put(f"{type(error).__name__}: {error}")

    threading.Thread(target=run, name="metadata-model", daemon=True).start()
    try:
        reply = box.get(timeout=max(seconds, 0.01))
    except queue.Empty:
        return f"there was no answer within {seconds:.0f} seconds."
    return reply if isinstance(reply, dict | str) else "the answer is not a JSON object."


def _labelled(
    name: FieldName,
    entry: tuple[str, str],
    taxonomy: Taxonomy,
    reader: _ReplyReader,
    warnings: list[str],
    *,
    needs_quote: bool,
) -> list[FieldValue]:
    label, quote = entry
    known = {fold(one): one for one in taxonomy.labels(name)}
    found = known.get(fold(label.strip()))
    if found is None:
        warnings.append(f"The model gave {name} the unknown label {one_line(label, limit=60)!r}.")
        return []
    value = _value(name, found, quote, reader)
    if needs_quote and value.confidence < _QUOTED:
        warnings.append(f"The model's {found} was left out: its quotation is not in the text.")
        return []
    return [value]


def _value(name: FieldName, value: str, quote: str, reader: _ReplyReader) -> FieldValue:
    place = reader.find(quote)
    if place is None:
        return FieldValue(name, value, "model", "", None, _UNQUOTED)
    passage = reader.passages.at(*place)
    return FieldValue(name, value, "model", passage.text, passage.page, _QUOTED)


def _date(entry: tuple[str, str], reader: _ReplyReader, warnings: list[str], today: date) -> list[FieldValue]:
    """Return a date of publication in ISO form that is past and is not the day on which the model was asked."""
    text = entry[0].strip()
    if not text:
        return []
    if not _ISO_DATE.fullmatch(text) or not _is_calendar_date(text):
        warnings.append(f"The model's date {one_line(text, limit=40)!r} is no ISO date.")
        return []
    recent = {today.isoformat(), (today - timedelta(days=1)).isoformat()}
    if text in recent or text > today.isoformat()[: len(text)]:
        warnings.append(f"The model's date {text} is the day of the question or lies in the future.")
        return []
    return [_value("date", text, entry[1], reader)]


def _is_calendar_date(text: str) -> bool:
    if len(text) < 10:
        return True
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _entries(value: object) -> list[tuple[str, str]]:
    return [entry for entry in map(_entry, value) if entry[0]] if isinstance(value, list) else []


def _entry(value: object) -> tuple[str, str]:
    """Return the value and quotation of an answer's entry, whatever a model makes of it."""
    if isinstance(value, str):
        return value, ""
    if isinstance(value, dict):
        label, quote = value.get("value"), value.get("quote")
        return (label if isinstance(label, str) else ""), (quote if isinstance(quote, str) else "")
    return "", ""


def _field(name: str) -> FieldName:
    fields: dict[str, FieldName] = {
        "title": "title", "authority": "authority", "document_type": "document_type", "target": "target",
        "geographical_level": "geographical_level", "description": "description",
    }  # fmt: skip
    return fields[name]
