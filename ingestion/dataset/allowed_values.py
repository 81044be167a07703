"""The values that fields may have, as the workbook offers them in drop-downs and lists them with their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ingestion.dataset.columns import COLUMNS
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.spreadsheets.workbook_writer import Choices
from ingestion.types import LIST_FIELDS, FieldName
from rag_engine.geography import load_gazetteer
from rag_engine.text.languages import english_names

ALLOWED = "Allowed values"
# Fields whose labels are those of the taxonomy and no others.
CONTROLLED: tuple[FieldName, ...] = ("geographical_level", "hazards", "key_criteria", "tags", "document_type")
_SEVERAL = f"Several values are separated by a semicolon; the sheet {ALLOWED} says what each one means."
_ONE = f"One value; the sheet {ALLOWED} says what each one means."
_HINTS: Mapping[FieldName, str] = {
    "geographical_level": "The level, with its countries behind a hyphen: National - Italy; France.",
    "countries": "English names, separated by a semicolon.",
    "language": "Two letters of ISO 639-1.",
}


@cache
def allowed_values() -> Mapping[FieldName, Mapping[str, str]]:
    """Return the values of every controlled field with what each one means, in the order in which they are shown."""
    taxonomy = load_taxonomy()
    labelled = {field: {one.name: one.definition for one in taxonomy.definitions(field)} for field in CONTROLLED}
    countries = {name: code for code, name in load_gazetteer().countries.items()}
    return {**labelled, "countries": dict(sorted(countries.items())), "language": dict(sorted(english_names().items()))}


def choices_of() -> dict[str, Choices]:
    """Return the drop-downs of the columns by their headings, over the rows of the sheet of allowed values."""
    first, places = 2, dict[FieldName, tuple[int, int]]()
    for field, values in allowed_values().items():
        places[field] = first, first + len(values) - 1
        first += len(values)
    return {
        column.name: Choices(
            ALLOWED,
            *places[column.field],
            # A drop-down gives one value; what else such a cell may hold is checked by the import.
            strict=column.field not in LIST_FIELDS and column.field != "geographical_level",
            hint=_HINTS.get(column.field, _SEVERAL if column.field in LIST_FIELDS else _ONE),
        )
        for column in COLUMNS
        if column.field in places
    }
