"""Translation of a passage by the language model, compared with its original.

Numbers and dates have to survive.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_engine.errors import BackendError
from rag_engine.prompts import TRANSLATION_RULES, TRANSLATION_SCHEMA, translation_message
from rag_engine.protocols import Generator
from rag_engine.text.claims import missing_dates, missing_numbers, number_readings
from rag_engine.text.quantities import calendar_dates


@dataclass(frozen=True, slots=True)
class Translation:
    """A passage in another language, with the name of the model.

    `lost` are numbers and dates that the original states and the translation lacks, as the original writes them.
    `added` are the ones that only the translation states.
    """

    text: str
    model: str
    lost: tuple[str, ...]
    added: tuple[str, ...]


def translate(passage: str, language: str, into: str, generator: Generator, *, seconds: float) -> Translation:
    """Return the passage in another language; both languages are ISO 639-1 codes.

    BackendError if the model fails or writes nothing.
    """
    message = translation_message(passage, language, into)
    reply = generator.complete_json(TRANSLATION_RULES, message, TRANSLATION_SCHEMA, seconds=seconds)
    text = str(reply.get("translation") or "").strip()
    if not text:
        raise BackendError("{model} returned no translation.", help="Try again.", retryable=True, model=generator.name)
    lost, added = unmatched(passage, language, text, into), unmatched(text, into, passage, language)
    return Translation(text, generator.name, lost, added)


def unmatched(text: str, language: str, other: str, other_language: str) -> tuple[str, ...]:
    """Return the numbers and dates of a text that another text lacks, as written, each once.

    >>> unmatched("40 houses in 3 towns", "en", "3 Orte", "de")
    ('40',)
    """
    numbers = missing_numbers(text, language, number_readings(other, other_language))
    return tuple(dict.fromkeys((*numbers, *missing_dates(text, language, calendar_dates(other, other_language)))))
