"""Metadata from a language model, checked against the text before it is believed.

The document is data between two marks that its own text cannot write; every label must come with a quotation that
is in the text. Nothing the model says reaches a description without passing `read_answer`.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import takewhile

from ingestion.metadata.quotes import DocumentText
from ingestion.metadata.taxonomy import Taxonomy
from ingestion.metadata.term_matching import cut_words
from ingestion.prompts import description_message, description_rules, description_schema
from ingestion.protocols import LanguageModel
from ingestion.types import FieldName, FieldValue
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer, canonical_country
from rag_engine.prompts import one_line
from rag_engine.text.folding import fold

_SINGLE: tuple[FieldName, ...] = ("document_type", "geographical_level")
_LABELLED: tuple[FieldName, ...] = ("hazards", "key_criteria", "tags")
_TEXTS: tuple[FieldName, ...] = ("title", "authority")
_PROSE: tuple[FieldName, ...] = ("description", "target")
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


class _ReplyReader:
    """Quotations of a model looked up in the words that it was shown, with warnings on what they do not bear out."""

    def __init__(self, text: DocumentText, shown: int) -> None:
        self._text = text
        self._words = list(takewhile(lambda word: word.end <= shown, text.words))
        self._joined = " " + " ".join(word.folded for word in self._words) + " "
        self.warnings: list[str] = []

    def value(self, field: FieldName, value: str, quote: str) -> FieldValue:
        """Return a value with the sentence of its quotation, less sure where the text does not have it."""
        place = self._find(quote)
        if place is None:
            return FieldValue(field, value, "model", "", None, _UNQUOTED)
        quoted = self._text.at(*place)
        return FieldValue(field, value, "model", quoted.text, quoted.page, _QUOTED)

    def _find(self, quote: str) -> tuple[int, int] | None:
        """Return where the text has the words of a quotation, whatever its case, accents, spaces and punctuation."""
        wanted = [word.folded for word in cut_words(quote)]
        if len(wanted) < _QUOTE_WORDS:
            return None
        at = self._joined.find(" " + " ".join(wanted) + " ")
        if at < 0:
            return None
        first = self._joined.count(" ", 0, at)
        return self._words[first].start, self._words[first + len(wanted) - 1].end


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
    shown: int,
    text: DocumentText,
    taxonomy: Taxonomy,
    gazetteer: Gazetteer,
    *,
    today: date,
) -> ModelReply:
    """Return the values of an answer that are allowed and stand up, with a warning for each that does not.

    Quotations are looked for in the first `shown` characters of the text.
    """
    reader = _ReplyReader(text, shown)
    values: list[FieldValue] = []
    for name in _LABELLED:
        for entry in _entries(reply.get(name)):
            values += [value for value in _labelled(name, entry, taxonomy, reader) if _is_quoted(value, reader)]
    for name in _SINGLE:
        for entry in _entries([reply.get(name)]):
            values += _labelled(name, entry, taxonomy, reader)
    for country_name, quote in _entries(reply.get("countries")):
        country = canonical_country(country_name, gazetteer)
        if country is None:
            reader.warnings.append(f"The model named {one_line(country_name, limit=60)!r}, which is no country.")
        else:
            values.append(reader.value("countries", country, quote))
    for name in _TEXTS:
        values += [
            reader.value(name, one_line(answered), quote or answered) for answered, quote in _entries([reply.get(name)])
        ]
    values += _date(_entry(reply.get("date")), reader, today)
    for name in _PROSE:
        prose = reply.get(name)
        if isinstance(prose, str) and prose.strip():
            values.append(FieldValue(name, one_line(prose, limit=None), "model", "", None, 0.7))
    return ModelReply(tuple(dict.fromkeys(values)), tuple(reader.warnings))


def prompt_for(taxonomy: Taxonomy) -> tuple[str, dict[str, object]]:
    """Return the rules with every label and its meaning, and the schema of the answer."""
    fields: tuple[str, ...] = (*_SINGLE, *_LABELLED)
    labels = {name: [(label.name, label.definition) for label in taxonomy.definitions(name)] for name in fields}
    return description_rules(labels), description_schema({name: taxonomy.labels(name) for name in fields})


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


def _labelled(name: FieldName, entry: tuple[str, str], taxonomy: Taxonomy, reader: _ReplyReader) -> list[FieldValue]:
    label, quote = entry
    known = {fold(one): one for one in taxonomy.labels(name)}
    if found := known.get(fold(label.strip())):
        return [reader.value(name, found, quote)]
    reader.warnings.append(f"The model gave {name} the unknown label {one_line(label, limit=60)!r}.")
    return []


def _is_quoted(value: FieldValue, reader: _ReplyReader) -> bool:
    if value.confidence < _QUOTED:
        reader.warnings.append(f"The model's {value.value} was left out: its quotation is not in the text.")
        return False
    return True


def _date(entry: tuple[str, str], reader: _ReplyReader, today: date) -> list[FieldValue]:
    """Return a date of publication in ISO form that is past and is not the day on which the model was asked."""
    text = entry[0].strip()
    recent = {today.isoformat(), (today - timedelta(days=1)).isoformat()}
    if text and (not _ISO_DATE.fullmatch(text) or not _is_calendar_date(text)):
        reader.warnings.append(f"The model's date {one_line(text, limit=40)!r} is no ISO date.")
    elif text in recent or text > today.isoformat()[: len(text)]:
        reader.warnings.append(f"The model's date {text} is the day of the question or is in the future.")
    elif text:
        return [reader.value("date", text, entry[1])]
    return []


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
