"""What people changed in an exported dataset, as corrections; what they left alone is left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rapidfuzz import fuzz, process

from ingestion.cell_text import storable, without_apostrophe
from ingestion.dataset_columns import COLUMNS, DATASET, LEVEL_AND_COUNTRIES, Column
from ingestion.dossier import Correction, Dossier, metadata_of
from ingestion.outcomes import LIST_FIELDS, FieldName
from ingestion.rows import Row, Unusable, column_letter
from ingestion.tables import read_rows
from rag_engine.errors import InputError
from rag_engine.phrasing import plain

Vocabulary = Mapping[FieldName, Sequence[str]]

_HEADER_WITHIN = 30
_SHOWN = 60
_DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})")
_YEAR_FIRST = re.compile(r"(\d{4})(?:[./-](\d{1,2})(?:[./-](\d{1,2}))?)?(?:[T ][\d:.Z+]{1,20})?")
# Written by us and told apart from what a person could have meant to change.
_DECIDED_ELSEWHERE = {
    "License": "the licence is decided in the licence review",
    "Licence Light": "the licence is decided in the licence review",
    "Source": "the address of a source stays; add the other one as a seed of its own",
}


@dataclass(frozen=True, slots=True)
class CorrectionReport:
    """What a person changed, how many rows were left as they were, and what could not be taken over."""

    corrections: tuple[Correction, ...]
    unchanged: int
    unusable: tuple[Unusable, ...] = ()
    warnings: tuple[str, ...] = ()


class _Wrong(Exception):  # noqa: N818 - says what is wrong with a cell, to the loop over them
    pass


def read_corrections(
    path: Path, dossiers: Sequence[Dossier], author: str, when: str, vocabulary: Vocabulary | None = None
) -> CorrectionReport:
    """The cells that differ from the present values, of an edited workbook or CSV of the dataset.

    An emptied cell empties its field. With a vocabulary, labels are matched without regard to case and accents and
    everything else is unusable. InputError when the file has no column Document_Code.
    """
    rows = _sheet_rows(path)
    header, columns, unusable = _read_header(path, rows)
    by_code = {dossier.source.code.casefold(): dossier for dossier in dossiers}
    corrections: list[Correction] = []
    seen: dict[str, str] = {}
    foreign: dict[str, int] = {}
    unchanged = 0
    for row in rows:
        if row.number <= header.number:
            continue
        code = without_apostrophe(row.cell(columns["Document_Code"]))
        dossier = by_code.get(code.casefold())
        if reason := _why_not(code, dossier, seen):
            unusable.append(Unusable(row.place, reason))
            continue
        assert dossier is not None
        seen[code.casefold()] = row.place
        changed, wrong = _compare(row, dossier, columns, vocabulary or {}, foreign)
        for field, values in changed.items():
            corrections.append(Correction(dossier.source.code, field, values, author, "", when))
        unusable += wrong
        unchanged += not changed and not wrong
    warnings = [
        f"{name}: {count} cells differ from the present values and were not taken over; this column cannot be edited."
        for name, count in foreign.items()
    ]
    return CorrectionReport(tuple(corrections), unchanged, tuple(unusable), tuple(warnings))


def _sheet_rows(path: Path) -> list[Row]:
    """The rows of the dataset's sheet, or of the first sheet when it was renamed."""
    rows = list(read_rows(path))
    sheets = list(dict.fromkeys(row.sheet for row in rows))
    chosen = next((sheet for sheet in sheets if plain(sheet) == plain(DATASET)), sheets[0] if sheets else "")
    return [row for row in rows if row.sheet == chosen]


def _read_header(path: Path, rows: Sequence[Row]) -> tuple[Row, dict[str, int], list[Unusable]]:
    """The header row, the place of each column of ours in it, and the columns that are not ours."""
    names = {_heading(column.name): column.name for column in COLUMNS}
    for row in rows[:_HEADER_WITHIN]:
        headings = [_heading(cell) for cell in row.cells]
        if _heading("Document_Code") not in headings:
            continue
        columns: dict[str, int] = {}
        unusable: list[Unusable] = []
        for place, heading in enumerate(headings):
            where = f"{row.sheet}, column {column_letter(place)}"
            if heading in names and names[heading] not in columns:
                columns[names[heading]] = place
            elif heading in names:
                unusable.append(Unusable(where, f"repeats the column {names[heading]}; the first one was read"))
            elif heading:
                unusable.append(Unusable(where, f"“{row.cells[place].strip()}” is no column of the dataset"))
        return row, columns, unusable
    seen = ", ".join(cell for cell in (rows[0].cells if rows else ()) if cell)[:200] or "nothing"
    raise InputError(
        f"{path.name} has no column Document_Code. Seen: {seen}.",
        help="Edit a dataset that was exported, and keep its header.",
    )


def _why_not(code: str, dossier: Dossier | None, seen: Mapping[str, str]) -> str:
    if not code:
        return "no Document_Code; a new document comes in as a seed"
    if dossier is None:
        return f"no source has the code {code}; a new document comes in as a seed"
    if code.casefold() in seen:
        return f"repeats the code {code} of {seen[code.casefold()]}, which was read"
    return ""


def _compare(
    row: Row, dossier: Dossier, columns: Mapping[str, int], vocabulary: Vocabulary, foreign: dict[str, int]
) -> tuple[dict[FieldName, tuple[str, ...]], list[Unusable]]:
    """The fields whose cells differ, with their new values, and the cells that cannot be read."""
    changed: dict[FieldName, tuple[str, ...]] = {}
    wrong: list[Unusable] = []
    for column in COLUMNS:
        place = columns.get(column.name)
        if place is None or column.name == "Document_Code":
            continue
        cell = row.cells[place] if place < len(row.cells) else ""
        if _unchanged(cell, column, dossier):
            continue
        try:
            if place in row.unsaved:
                raise _Wrong("holds a formula without its value; write the value itself")
            if reason := _DECIDED_ELSEWHERE.get(column.name):
                raise _Wrong(f"was changed, but {reason}")
            if column.field is None:
                foreign[column.name] = foreign.get(column.name, 0) + 1
                continue
            for field, values in _read_cell(without_apostrophe(cell).strip(), column, vocabulary):
                if values == _present(dossier, field):
                    continue
                if changed.get(field, values) != values:
                    raise _Wrong(f"says otherwise than {LEVEL_AND_COUNTRIES}, which was taken; make both equal")
                changed[field] = values
        except _Wrong as error:
            wrong.append(Unusable(f"{row.place}, {column.name}", str(error)))
    return changed, wrong


def _unchanged(cell: str, column: Column, dossier: Dossier) -> bool:
    """Whether a cell still says what the export wrote, with or without the apostrophe of a CSV."""
    present = column.read(dossier)
    if isinstance(present, str) or present is None:
        shown = _even(storable(present or ""))
        return shown in (_even(cell), _even(without_apostrophe(cell)))
    try:
        return abs(float(cell.strip().replace(",", ".")) - present) < 1e-6
    except ValueError:
        return False


def _even(text: str) -> str:
    """The text as it survives programs that change line ends and drop spaces around a cell."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _read_cell(text: str, column: Column, vocabulary: Vocabulary) -> Iterator[tuple[FieldName, tuple[str, ...]]]:
    """The values that a cell gives, by field; the level brings its countries when they stand behind it."""
    field = column.field
    assert field is not None
    if column.name == LEVEL_AND_COUNTRIES:
        level, dash, countries = text.partition(" - ")
        yield field, _labelled(field, (level.strip(),) if level.strip() else (), vocabulary)
        if dash:
            yield "countries", _labelled("countries", _split(countries), vocabulary)
    elif field == "date":
        yield field, (_date(text),) if text else ()
    elif field == "language":
        yield field, (_language(text),) if text else ()
    elif field in LIST_FIELDS:
        yield field, _labelled(field, _split(text), vocabulary)
    else:
        yield field, _labelled(field, (text,) if text else (), vocabulary)


def _date(text: str) -> str:
    """An ISO date or its prefix from 2020, 2020-12, 2020-12-31, 31/12/2020 or 31.12.2020."""
    year = month = day = 0
    if match := _YEAR_FIRST.fullmatch(text.strip()):
        year, month, day = (int(part or 0) for part in match.groups())
    elif match := _DAY_FIRST.fullmatch(text.strip()):
        day, month, year = (int(part) for part in match.groups())
        # Only one order is a date when a number is no month; else the day comes first, as in the header's example.
        if month > 12 >= day:
            day, month = month, day
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        year = 0
    if not 1500 <= year <= 2200:
        raise _Wrong(f"“{text[:_SHOWN]}” is no date; write it as 2020-12-31, 2020-12 or 2020")
    return "-".join([f"{year:04}", *([f"{month:02}"] if month else []), *([f"{day:02}"] if day else [])])


def _language(text: str) -> str:
    code = re.split("[-_]", text.lower(), maxsplit=1)[0]
    if not re.fullmatch("[a-z]{2}", code):
        raise _Wrong(f"“{text[:_SHOWN]}” is no language; write its two letters from ISO 639-1, such as en or pt")
    return code


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in re.split(r"[;|\n]", text) if part.strip()))


def _labelled(field: FieldName, values: tuple[str, ...], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The values as the vocabulary spells them; all are refused when one is not in it, so that no half is taken."""
    labels = {plain(label): label for label in vocabulary.get(field, ())}
    if not labels:
        return values
    for value in values:
        if plain(value) not in labels:
            near = process.extractOne(plain(value), list(labels), scorer=fuzz.WRatio, score_cutoff=70)
            hint = f"did you mean “{labels[near[0]]}”?" if near else f"choose from {'; '.join(labels.values())}"
            raise _Wrong(f"“{value[:_SHOWN]}” is not in the vocabulary; {hint}")
    return tuple(dict.fromkeys(labels[plain(value)] for value in values))


def _present(dossier: Dossier, field: FieldName) -> tuple[str, ...]:
    """The values that the export shows of a field."""
    metadata = metadata_of(dossier)
    shown: dict[FieldName, str | tuple[str, ...]] = {
        "title": metadata.title, "authority": metadata.authority, "document_type": metadata.document_type,
        "hazards": metadata.hazards, "target": metadata.target, "key_criteria": metadata.key_criteria,
        "tags": metadata.tags, "description": metadata.description, "language": metadata.language,
        "date": metadata.date, "geographical_level": metadata.geographical_level, "countries": metadata.countries,
        "notes": metadata.notes,
    }  # fmt: skip
    value = shown[field]
    return value if isinstance(value, tuple) else ((value,) if value else ())


def _heading(text: str) -> str:
    return re.sub(r"[\W_]+", "", plain(text))
