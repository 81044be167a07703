"""Metadata from a language model, checked against the text before it is believed.

The document is data between two marks that its own text cannot write; every label must come with a quotation that
is in the text. Nothing the model says reaches a description without passing `read_answer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import takewhile

from ingestion.extraction.date_patterns import WrittenDate, written_dates
from ingestion.extraction.layout.title import looks_like_title
from ingestion.metadata.authorities import canonical_authority, named_authorities
from ingestion.metadata.issuers import is_name_of_body
from ingestion.metadata.quotes import DocumentText
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.metadata.term_matching import cut_words
from ingestion.paced_model import ModelTimeoutError
from ingestion.prompts import description_message, description_rules, description_schema
from ingestion.protocols import LanguageModel
from ingestion.types.description import FieldName, FieldValue, is_iso_date
from rag_engine.errors import BackendError
from rag_engine.geography import canonical_country, load_gazetteer
from rag_engine.messages import Message
from rag_engine.text.folding import fold
from rag_engine.text.neutralise import one_line

_SINGLE: tuple[FieldName, ...] = ("document_type", "geographical_level")
_LABELLED: tuple[FieldName, ...] = ("hazards", "key_criteria", "tags")
_PROSE: tuple[FieldName, ...] = ("description", "target")
_QUOTE_WORDS = 2
_LONGEST_QUOTE = 400
_DIGITS = re.compile(r"\d+")
# A quotation shows that the model has read; a value that is itself in the text can hardly be invented.
_QUOTED = 0.75
_PRINTED = 0.85


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The values of a model's answer that the text confirms, with warnings on the dropped ones."""

    values: tuple[FieldValue, ...] = ()
    warnings: tuple[Message, ...] = ()


class _ReplyReader:
    """Quotations of a model looked up in the words that it was shown, with warnings for missing ones."""

    def __init__(self, text: DocumentText, shown: int) -> None:
        self._text = text
        self._words = list(takewhile(lambda word: word.end <= shown, text.words))
        self._joined = " " + " ".join(word.folded for word in self._words) + " "
        self.warnings: list[Message] = []

    def quoted(self, field: FieldName, value: str, quote: str, sure: float = _QUOTED) -> list[FieldValue]:
        """Return a value with the sentence of its quotation; none, and a warning, if the text lacks it."""
        place = self._find(quote)
        if place is None:
            self.drop(field, value, Message("its quotation is not in the text"))
            return []
        sentence = self._text.at(*place)
        return [FieldValue(field, value, "model", sentence.text, sentence.page, sure)]

    def printed(self, field: FieldName, value: str) -> list[FieldValue]:
        """Return a value that the text itself prints, with its sentence; none, and a warning, if it does not."""
        return self.quoted(field, value, value, _PRINTED)

    def drop(self, field: FieldName, value: str, why: Message) -> None:
        """Say why a value is left out."""
        said = one_line(value, limit=60)
        self.warnings.append(
            Message("The model's {field} {value!r} was left out: {why}.", field=field, value=said, why=why)
        )

    def numbers_missing(self, prose: str) -> list[str]:
        """Return the numbers of a text that the document does not have."""
        known = {digits for word in self._words for digits in _DIGITS.findall(word.folded)}
        return [digits for digits in _DIGITS.findall(prose) if digits not in known]

    def _find(self, quote: str) -> tuple[int, int] | None:
        """Return the start and end of a quotation's words in the text; None if it lacks them.

        Case, accents, spaces and punctuation do not count.
        """
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
    *,
    seconds: float,
) -> tuple[Mapping[str, object] | None, tuple[Message, ...]]:
    """Return the model's answer under the schema and warnings; a broken answer is asked for once more.

    The answer is None after two failures. `seconds` is the limit of a short request. A model that runs out of time is
    not asked again.
    """
    rules, schema = prompt_for()
    user = description_message(cleaned, title)
    warnings: list[Message] = []
    for attempt in (1, 2):
        try:
            reply = language_model.complete_json(rules, user, schema, seconds=seconds)
        except BackendError as error:
            fault = error.message
            if isinstance(error, ModelTimeoutError):
                warnings.append(Message("Model {name}: {fault}", name=language_model.name, fault=fault))
                break
        else:
            missing = [key for key in ("title", "document_type", "description") if key not in reply]
            if not missing:
                return reply, tuple(warnings)
            fault = Message("the answer has no {fields}", fields=", ".join(missing))
        tried = {"name": language_model.name, "attempt": attempt, "fault": fault}
        warnings.append(Message("Model {name}, attempt {attempt}: {fault}", **tried))
        user = description_message(cleaned, title, fault=fault)
    return None, tuple(warnings)


def read_answer(
    reply: Mapping[str, object],
    shown: int,
    text: DocumentText,
    *,
    today: date,
) -> ModelReply:
    """Return the allowed and confirmed values of an answer, with a warning for each other one.

    Quotations are looked for in the first `shown` characters of the text.
    """
    reader = _ReplyReader(text, shown)
    values: list[FieldValue] = []
    for name in (*_LABELLED, *_SINGLE):
        answered = reply.get(name)
        for entry in _entries(answered if name in _LABELLED else [answered]):
            values += _labelled(name, entry, reader)
    values += _countries(_entries(reply.get("countries")), reader)
    values += _title(_entry(reply.get("title")), reader)
    values += _authority(_entry(reply.get("authority")), reader)
    values += _date(_entry(reply.get("date")), reader, today)
    for name in _PROSE:
        prose = reply.get(name)
        if isinstance(prose, str) and prose.strip():
            values += _prose(name, one_line(prose, limit=None), reader)
    return ModelReply(tuple(dict.fromkeys(values)), tuple(reader.warnings))


def prompt_for() -> tuple[str, dict[str, object]]:
    """Return the rules with every label and its meaning, and the schema of the answer."""
    fields: tuple[str, ...] = (*_SINGLE, *_LABELLED)
    taxonomy = load_taxonomy()
    labels = {name: [(label.name, label.definition) for label in taxonomy.definitions(name)] for name in fields}
    return description_rules(labels), description_schema({name: taxonomy.labels(name) for name in fields})


def _labelled(name: FieldName, entry: tuple[str, str], reader: _ReplyReader) -> list[FieldValue]:
    label, quote = entry
    known = {fold(one): one for one in load_taxonomy().labels(name)}
    if found := known.get(fold(label.strip())):
        return reader.quoted(name, found, quote)
    said = one_line(label, limit=60)
    reader.warnings.append(Message("The model gave {field} the unknown label {label!r}.", field=name, label=said))
    return []


def _countries(entries: Sequence[tuple[str, str]], reader: _ReplyReader) -> Iterator[FieldValue]:
    for name, quote in entries:
        country = canonical_country(name, load_gazetteer())
        if country is None:
            said = one_line(name, limit=60)
            reader.warnings.append(Message("The model named {name!r}, which is no country.", name=said))
        else:
            yield from reader.quoted("countries", country, quote)


def _title(entry: tuple[str, str], reader: _ReplyReader) -> list[FieldValue]:
    """Return a title that is printed in the document."""
    answered = one_line(entry[0])
    if answered and not looks_like_title(answered):
        reader.drop("title", answered, Message("it is no title"))
        return []
    return reader.printed("title", answered) if answered else []


def _authority(entry: tuple[str, str], reader: _ReplyReader) -> list[FieldValue]:
    """Return the name of a body that the text has in full, or that is known under a name in the quotation."""
    answered, quote = one_line(entry[0]), entry[1]
    if not answered:
        return []
    known = canonical_authority(answered)
    if known is None and not is_name_of_body(answered):
        reader.drop("authority", answered, Message("it is not the name of a body"))
        return []
    named = {authority.authority.name for authority in named_authorities(quote, cut_words(quote))}
    if known is not None and known.name in named:
        return reader.quoted("authority", answered, quote, _PRINTED)
    return reader.printed("authority", answered)


def _prose(name: FieldName, prose: str, reader: _ReplyReader) -> list[FieldValue]:
    """Return a text of the model's own, whose numbers must at least be the document's."""
    if invented := reader.numbers_missing(prose):
        reader.drop(name, prose, Message("the document does not have the number {number}", number=invented[0]))
        return []
    return [FieldValue(name, prose, "model", "", None, 0.7)]


def _date(entry: tuple[str, str], reader: _ReplyReader, today: date) -> list[FieldValue]:
    """Return a date of publication in ISO form; none, and a warning, for one that cannot be true.

    This is a date in the future or the day of the question, which models tend to give.
    """
    text, quote = entry[0].strip(), entry[1]
    recent = {today.isoformat(), (today - timedelta(days=1)).isoformat()}
    if text and not (text.startswith(("19", "20")) and is_iso_date(text)):
        reader.warnings.append(Message("The model's date {date!r} is no ISO date.", date=one_line(text, limit=40)))
    elif text in recent or text > today.isoformat()[: len(text)]:
        reader.warnings.append(
            Message("The model's date {date} is the day of the question or is in the future.", date=text)
        )
    elif text and not any(one.value.startswith(text) for first in (True, False) for one in _dates(quote, first)):
        reader.drop("date", text, Message("its quotation does not say it"))
    elif text:
        return reader.quoted("date", text, quote, _PRINTED)
    return []


def _dates(quote: str, month_first: bool) -> list[WrittenDate]:
    return written_dates(quote[:_LONGEST_QUOTE], month_first=month_first)


def _entries(value: object) -> list[tuple[str, str]]:
    return [entry for entry in map(_entry, value) if entry[0]] if isinstance(value, list) else []


def _entry(value: object) -> tuple[str, str]:
    """Return the value and quotation of an entry of the answer; "" for any part of another type."""
    if isinstance(value, str):
        return value, ""
    if isinstance(value, dict):
        label, quote = value.get("value"), value.get("quote")
        return (label if isinstance(label, str) else ""), (quote if isinstance(quote, str) else "")
    return "", ""
