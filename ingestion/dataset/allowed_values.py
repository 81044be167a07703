"""Allowed values of fields, for the drop-downs of the workbook and its list of meanings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from ingestion.dataset.columns import COLUMNS, COUNTRIES, DECISION, LEVEL_AND_COUNTRIES, NOTE
from ingestion.dataset.decisions import CHOICES
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.spreadsheets.workbook_writer import Choices
from ingestion.types.description import LIST_FIELDS, FieldName
from rag_engine.geography import load_gazetteer
from rag_engine.text.languages import english_names

ALLOWED = "Allowed values"
# Fields whose labels are those of the taxonomy and no others.
CONTROLLED: tuple[FieldName, ...] = ("geographical_level", "hazards", "key_criteria", "tags", "document_type")
_SEVERAL = f"Several values are separated by a semicolon; the sheet {ALLOWED} says what each one means."
_ONE = f"One value; the sheet {ALLOWED} says what each one means."
_HINTS = {
    LEVEL_AND_COUNTRIES: "The level, with its countries behind a hyphen: National - Italy; France.",
    COUNTRIES: "English names, separated by a semicolon.",
    "Language": "Two letters of ISO 639-1.",
    DECISION: f"GREEN or RED; write the reason into {NOTE}.",
}


@cache
def allowed_values() -> Mapping[str, Mapping[str, str]]:
    """Return the values of every controlled column, in the order of display, each with its meaning."""
    taxonomy = load_taxonomy()
    labelled = {
        field: {definition.name: definition.definition for definition in taxonomy.definitions(field)}
        for field in CONTROLLED
    }
    countries = {name: code for code, name in load_gazetteer().countries.items()}
    lists = {"countries": dict(sorted(countries.items())), "language": dict(sorted(english_names().items()))}
    by_field = labelled | lists
    return {column.name: by_field[column.field] for column in COLUMNS if column.field in by_field} | {DECISION: CHOICES}


def choices_of(headings: Iterable[str]) -> dict[str, Choices]:
    """Return the drop-downs of the columns in `headings`, over the rows of the sheet of allowed values."""
    first, found = 2, dict[str, Choices]()
    fields = {column.name: column.field for column in COLUMNS}
    for name, values in allowed_values().items():
        field = fields[name]
        several = field in LIST_FIELDS
        # A drop-down gives one value; what else such a cell may hold is checked by the import.
        strict = not several and field != "geographical_level"
        hint = _HINTS.get(name, _SEVERAL if several else _ONE)
        found[name] = Choices(ALLOWED, first, first + len(values) - 1, strict, hint)
        first += len(values)
    return {name: found[name] for name in headings if name in found}
