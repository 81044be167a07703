"""Decisions on licences that people wrote into an exported dataset, on any of its sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingestion.dataset.columns import DECISION, LIGHT, NOTE, heading_key
from ingestion.records.source_record import SourceRecord
from ingestion.spreadsheets.row import RefusedRow, Row
from ingestion.spreadsheets.workbook_writer import without_apostrophe
from rag_engine.messages import Message, join_messages

CHOICES: Mapping[str, str] = {
    "GREEN": "The licence allows use; the source goes on with the next run.",
    "RED": "The licence forbids use; the source stays out, its document leaves the index.",
}


@dataclass(frozen=True, slots=True)
class LicenceChoice:
    """A person's decision on the licence of a source, with the reason."""

    code: str
    choice: str
    note: str


class Wrong(Exception):  # noqa: N818 - never leaves the loop over rows and cells
    """A row or a cell that cannot be taken, with the reason in words."""

    def __init__(self, why: Message) -> None:
        super().__init__(why)
        self.why = why


def read_decisions(
    rows: Sequence[Row], records: Mapping[str, SourceRecord], exported: Mapping[str, Mapping[str, str]]
) -> tuple[list[LicenceChoice], list[RefusedRow]]:
    """Return the decisions in all sheets that have a column for them, and what could not be taken.

    `records` are by folded code, and so is `exported`, the content of the file when it was written. A decision that is
    already made is left out. A decision that another person changed since the export stays.
    """
    columns: dict[str, dict[str, int]] = {}
    made: dict[str, LicenceChoice] = {}
    refused: list[RefusedRow] = []
    for row in rows:
        if row.sheet not in columns:
            if header := _header(row):
                columns[row.sheet] = header
            continue
        try:
            choice = _read(row, columns[row.sheet], records, exported)
            if choice is not None and made.setdefault(choice.code, choice) != choice:
                raise Wrong(Message("decides otherwise on {code} than a row before, which was read", code=choice.code))
        except Wrong as error:
            refused.append(RefusedRow(join_messages([row.place, DECISION], ", "), error.why))
    return list(made.values()), refused


def _header(row: Row) -> dict[str, int]:
    """Return the places of the columns that a decision needs; nothing if the row does not head them."""
    headings = [heading_key(cell) for cell in row.cells]
    wanted = {name: heading_key(name) for name in ("Document_Code", DECISION, NOTE, LIGHT)}
    found = {name: headings.index(key) for name, key in wanted.items() if key in headings}
    return found if {"Document_Code", DECISION} <= set(found) else {}


def _read(
    row: Row,
    columns: Mapping[str, int],
    records: Mapping[str, SourceRecord],
    exported: Mapping[str, Mapping[str, str]],
) -> LicenceChoice | None:
    texts = {name: without_apostrophe(row.cell(place)).strip() for name, place in columns.items()}
    if not any(columns[name] in row.unsaved or texts.get(name) for name in (DECISION, NOTE) if name in columns):
        return None
    choice, note, code = texts[DECISION].upper(), texts.get(NOTE, ""), texts["Document_Code"]
    record = records.get(code.casefold())
    if record is None:
        raise Wrong(
            Message("no source has the code {code}" if code else "no Document_Code; nothing was decided", code=code)
        )
    if columns[DECISION] in row.unsaved:
        raise Wrong(Message("holds a formula without its value; write GREEN or RED itself"))
    if choice not in CHOICES:
        raise Wrong(Message("“{text}” is no decision; write GREEN or RED", text=texts[DECISION][:60]))
    decided = next((decision for decision in reversed(record.decisions) if decision.phase == "licence"), None)
    if decided is not None and decided.choice == choice:
        return None
    if not note:
        raise Wrong(Message("{choice} needs a reason; write it in the column {column}", choice=choice, column=NOTE))
    light = exported.get(code.casefold(), texts).get(LIGHT, "")
    if decided is not None and light.upper() != decided.choice:
        raise Wrong(
            Message(
                "says {choice}, while {author} decided {decided} since the export; that stays. "
                "Export again and decide there",
                choice=choice,
                author=decided.author,
                decided=decided.choice,
            )
        )
    return LicenceChoice(record.source.code, choice, note)
