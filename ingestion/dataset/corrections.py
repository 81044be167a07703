"""Corrections that people made in an exported dataset; untouched cells change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rapidfuzz import fuzz, process

from ingestion.dataset.columns import (
    COLUMNS,
    COUNTRIES,
    DATASET,
    DECISION,
    EXPORTED,
    LEVEL_AND_COUNTRIES,
    LIGHT,
    NOTE,
    Column,
    heading_key,
)
from ingestion.dataset.decisions import LicenceChoice, Wrong, read_decisions
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import SourceRecord
from ingestion.spreadsheets.list_rows import read_rows
from ingestion.spreadsheets.row import RefusedRow, Row, column_letter
from ingestion.spreadsheets.workbook_writer import storable, without_apostrophe
from ingestion.status.document_fields import shown_values
from ingestion.types.description import LIST_FIELDS, FieldName
from rag_engine.errors import InputError
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.text.folding import fold
from rag_engine.text.languages import language_code

FieldVocabulary = Mapping[FieldName, Sequence[str]]

_HEADER_WITHIN = 30
_SHOWN = 60
_DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})")
_YEAR_FIRST = re.compile(r"(\d{4})(?:[./-](\d{1,2})(?:[./-](\d{1,2}))?)?(?:[T ][\d:.Z+]{1,20})?")
_READ_ELSEWHERE = ("Document_Code", DECISION, NOTE)
# Written by us and distinguished from what a person could have meant to change.
_DECIDED_ELSEWHERE = {
    "License": Message("the licence is decided in the column {column}", column=DECISION),
    LIGHT: Message("the licence is decided in the column {column}", column=DECISION),
    "Source": Message("the address of a source stays; add the other one as a separate source"),
}


@dataclass(frozen=True, slots=True)
class CorrectionReport:
    """A person's corrections and decisions, the number of unchanged rows, and the entries left out."""

    corrections: tuple[Correction, ...]
    unchanged: int
    refused: tuple[RefusedRow, ...] = ()
    warnings: tuple[Message, ...] = ()
    decisions: tuple[LicenceChoice, ...] = ()


def read_corrections(
    path: Path,
    source_records: Sequence[SourceRecord],
    author: str,
    when: str,
    vocabulary: FieldVocabulary | None = None,
) -> CorrectionReport:
    """Return the changed cells of an edited workbook or CSV of the dataset.

    A cell whose value somebody else has changed since the export is refused, unless both say the same. A file without
    the exported values (every CSV) is compared with the present values. An emptied cell empties its field. Decisions on
    licences are read from every sheet with a column for them. With a vocabulary, labels are matched without regard to
    case and accents and everything else is refused. InputError if the file has no column Document_Code.
    """
    everything = list(read_rows(path))
    rows, exported = _sheet_rows(everything)
    header, columns, refused = _read_header(path, rows)
    by_code = {record.source.code.casefold(): record for record in source_records}
    decisions, undecided = read_decisions(everything, by_code, exported)
    refused += undecided
    decided = {decision.code for decision in decisions}
    corrections: list[Correction] = []
    seen: dict[str, str] = {}
    foreign: dict[str, int] = {}
    unchanged, blind = 0, False
    for row in rows:
        if row.number <= header.number:
            continue
        code = without_apostrophe(row.cell(columns["Document_Code"]))
        record = by_code.get(code.casefold())
        if reason := _why_not(code, record, seen):
            refused.append(RefusedRow(row.place, reason))
            continue
        assert record is not None
        seen[code.casefold()] = row.place
        before = exported.get(code.casefold())
        changed, wrong = _Comparison(row, record, columns, before, vocabulary or {}).read(foreign)
        for field, values in changed.items():
            corrections.append(Correction(record.source.code, field, values, author, "", when))
        refused += wrong
        unchanged += not (changed or wrong or record.source.code in decided)
        blind |= before is None and bool(changed)
    warnings = [
        Message(
            "{column}: {count} cells differ from what was exported and were not taken over; "
            "this column cannot be edited.",
            column=name,
            count=count,
        )
        for name, count in foreign.items()
    ]
    if blind:
        warnings.append(
            Message(
                "{file} does not say what was exported, as a workbook does in its hidden sheet {sheet}: its cells "
                "were compared with the present values. The import takes back corrections by others since the export.",
                file=path.name,
                sheet=EXPORTED,
            )
        )
    return CorrectionReport(tuple(corrections), unchanged, tuple(refused), tuple(warnings), tuple(decisions))


def _sheet_rows(rows: Sequence[Row]) -> tuple[list[Row], dict[str, dict[str, str]]]:
    """Return the rows of the dataset's sheet, else of the first, and the exported values by code."""
    sheets = list(dict.fromkeys(row.sheet for row in rows))
    chosen = next((sheet for sheet in sheets if fold(sheet) == fold(DATASET)), sheets[0] if sheets else "")
    copied = [row for row in rows if row.sheet == EXPORTED != chosen]
    exported: dict[str, dict[str, str]] = {}
    for row in copied[1:]:
        texts = {name: row.cells[place] if place < len(row.cells) else "" for place, name in enumerate(copied[0].cells)}
        exported.setdefault(texts.get("Document_Code", "").strip().casefold(), texts)
    return [row for row in rows if row.sheet == chosen], exported


def _read_header(path: Path, rows: Sequence[Row]) -> tuple[Row, dict[str, int], list[RefusedRow]]:
    """Return the header row, the place of each column of ours in it, and the columns that are not ours."""
    names = {heading_key(column.name): column.name for column in COLUMNS}
    for row in rows[:_HEADER_WITHIN]:
        headings = [heading_key(cell) for cell in row.cells]
        if heading_key("Document_Code") not in headings:
            continue
        columns: dict[str, int] = {}
        refused: list[RefusedRow] = []
        for place, heading in enumerate(headings):
            where = join_messages([row.sheet, Message("column {which}", which=column_letter(place))], ", ")
            if heading in names and names[heading] not in columns:
                columns[names[heading]] = place
            elif heading in names:
                refused.append(
                    RefusedRow(
                        where, Message("repeats the column {column}; the first one was read", column=names[heading])
                    )
                )
            elif heading:
                refused.append(
                    RefusedRow(
                        where, Message("“{column}” is no column of the dataset", column=row.cells[place].strip())
                    )
                )
        return row, columns, refused
    seen = ", ".join(cell for cell in (rows[0].cells if rows else ()) if cell)[:200] or "nothing"
    raise InputError(
        "{file} has no column Document_Code. Seen: {seen}.",
        help="Edit a dataset that was exported, and keep its header.",
        file=path.name,
        seen=seen,
    )


def _why_not(code: str, record: SourceRecord | None, seen: Mapping[str, str]) -> Message:
    if not code:
        return Message("no Document_Code; a new document comes in as a source")
    if record is None:
        return Message("no source has the code {code}; a new document comes in as a source", code=code)
    if code.casefold() in seen:
        return Message("repeats the code {code} of {place}, which was read", code=code, place=seen[code.casefold()])
    return NO_MESSAGE


@dataclass(frozen=True, slots=True)
class _Edit:
    """Value of a cell: now, when it was exported, and at present in the store."""

    column: str
    values: tuple[str, ...]
    exported: str
    present: str


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A row against its exported values; None if the file does not hold them."""

    row: Row
    record: SourceRecord
    columns: Mapping[str, int]
    exported: Mapping[str, str] | None
    vocabulary: FieldVocabulary

    def read(self, foreign: dict[str, int]) -> tuple[dict[FieldName, tuple[str, ...]], list[RefusedRow]]:
        """Return the fields that a person changed, with their new values, and the cells that cannot be taken."""
        edits: dict[FieldName, _Edit] = {}
        wrong: list[RefusedRow] = []
        for column in COLUMNS:
            place = self.columns.get(column.name)
            if place is None or column.name in _READ_ELSEWHERE or self._is_as_before(column, place):
                continue
            try:
                if place in self.row.unsaved:
                    raise Wrong(Message("holds a formula without its value; write the value itself"))
                if reason := _DECIDED_ELSEWHERE.get(column.name):
                    raise Wrong(Message("was changed, but {why}", why=reason))
                if column.field is None:
                    foreign[column.name] = foreign.get(column.name, 0) + 1
                    continue
                self._add(column, place, edits)
            except Wrong as error:
                wrong.append(RefusedRow(join_messages([self.row.place, column.name], ", "), error.why))
        changed: dict[FieldName, tuple[str, ...]] = {}
        present = shown_values(self.record)
        for field, edit in edits.items():
            if edit.values in (present[field], _said(self.record, field)):
                continue
            if _even(edit.exported) != _even(edit.present):
                wrong.append(RefusedRow(join_messages([self.row.place, edit.column], ", "), _clash(edit)))
                continue
            changed[field] = edit.values
        return changed, wrong

    def _add(self, column: Column, place: int, edits: dict[FieldName, _Edit]) -> None:
        """Add what the cell says otherwise than it did."""
        before, present = self._before(column), _shown(column, self.record)
        then, by_now = _readable(before, column), _readable(present, column)
        for field, values in _read_cell(without_apostrophe(self._cell(place)).strip(), column, self.vocabulary):
            if values == then.get(field):
                continue
            if field in edits and edits[field].values != values:
                del edits[field]
                raise Wrong(
                    Message(
                        "says otherwise than {column}; neither was taken, make both equal", column=LEVEL_AND_COUNTRIES
                    )
                )
            if field == "countries" and column.name != COUNTRIES and self._is_left_behind():
                raise Wrong(
                    Message("says otherwise than {column}, which a person corrected; make both equal", column=COUNTRIES)
                )
            # The level's cell holds two fields: each moved on its own.
            said_then, said_now = ("; ".join(one.get(field, ())) for one in (then, by_now))
            edits[field] = _Edit(
                column.name, values, said_then if field in then else before, said_now if field in by_now else present
            )

    def _is_left_behind(self) -> bool:
        """Whether the cell of the countries holds a person's value, in a file without exported values.

        Then the level's cell may still show the countries of before, and nothing tells this from a new edit.
        """
        place, given = self.columns.get(COUNTRIES), _said(self.record, "countries")
        return self.exported is None and place is not None and _split(self._cell(place)) == given

    def _is_as_before(self, column: Column, place: int) -> bool:
        """Whether a cell has its exported value, with or without the apostrophe of a CSV."""
        cell, before = self._cell(place), self._before(column)
        if _even(before) in (_even(cell), _even(without_apostrophe(cell))):
            return True
        try:
            # Programs write numbers in their own way.
            same = abs(float(cell.strip().replace(",", ".")) - float(before)) < 1e-6
        except ValueError:
            return False
        return same and isinstance(column.read(self.record), float | int)

    def _before(self, column: Column) -> str:
        if self.exported is not None and column.name in self.exported:
            return self.exported[column.name]
        return _shown(column, self.record)

    def _cell(self, place: int) -> str:
        return self.row.cells[place] if place < len(self.row.cells) else ""


def _shown(column: Column, record: SourceRecord) -> str:
    """Return the cell as an export would write it now."""
    value = column.read(record)
    return storable(value) if isinstance(value, str) else "" if value is None else str(value)


def _readable(text: str, column: Column) -> dict[FieldName, tuple[str, ...]]:
    """Return the values of fields in a cell that we wrote; none if it cannot be read back."""
    try:
        return dict(_read_cell(_even(text), column, {}))
    except Wrong:
        return {}


def _clash(edit: _Edit) -> Message:
    mine, then, by_now = (
        text[:_SHOWN] or "nothing" for text in ("; ".join(edit.values), _even(edit.exported), _even(edit.present))
    )
    return Message(
        "says “{value}”, while the value was changed from “{then}” to “{now}” since the export; it stays. "
        "Export again and change it there",
        value=mine,
        then=then,
        now=by_now,
    )


def _even(text: str) -> str:
    """Return the text as it survives programs that change line ends and drop spaces around a cell."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _read_cell(text: str, column: Column, vocabulary: FieldVocabulary) -> Iterator[tuple[FieldName, tuple[str, ...]]]:
    """Yield the values that a cell gives, by field.

    The level brings its countries when they stand behind it.
    """
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
    """Return an ISO date or its prefix from 2020, 2020-12, 2020-12-31, 31/12/2020 or 31.12.2020."""
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
        raise Wrong(Message("“{text}” is no date; write it as 2020-12-31, 2020-12 or 2020", text=text[:_SHOWN]))
    return "-".join([f"{year:04}", *([f"{month:02}"] if month else []), *([f"{day:02}"] if day else [])])


def _language(text: str) -> str:
    code = language_code(text)
    if not code:
        raise Wrong(
            Message(
                "“{text}” is no language; write its two letters from ISO 639-1, such as en or pt", text=text[:_SHOWN]
            )
        )
    return code


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in re.split(r"[;|\n]", text) if part.strip()))


def _labelled(field: FieldName, values: tuple[str, ...], vocabulary: FieldVocabulary) -> tuple[str, ...]:
    """Return the values as the vocabulary spells them; all are refused when one is not in it."""
    labels = {fold(label): label for label in vocabulary.get(field, ())}
    if not labels:
        return values
    for value in values:
        if fold(value) not in labels:
            near = process.extractOne(fold(value), list(labels), scorer=fuzz.WRatio, score_cutoff=70)
            raise Wrong(
                Message(
                    "“{value}” is not in the vocabulary; did you mean “{near}”?"
                    if near
                    else "“{value}” is not in the vocabulary; choose from {labels}",
                    value=value[:_SHOWN],
                    near=labels[near[0]] if near else "",
                    labels="; ".join(labels.values()),
                )
            )
    return tuple(dict.fromkeys(labels[fold(value)] for value in values))


def _said(record: SourceRecord, field: FieldName) -> tuple[str, ...] | None:
    """Return a person's value of the field, which the field need not show.

    An emptied title falls back to the list's.
    """
    return next((correction.values for correction in reversed(record.corrections) if correction.field == field), None)
