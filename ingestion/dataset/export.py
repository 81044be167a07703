"""The collection as a file: workbook, CSV, JSON Lines, BibTeX or RIS, by the file's suffix."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from ingestion.dataset.allowed_values import ALLOWED, allowed_values, choices_of
from ingestion.dataset.columns import COLUMNS, DATASET, DECISION, EDITING, EXPORTED, LIGHT, NOT_DOCUMENTS, NOTE
from ingestion.records.source_record import SourceRecord
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_csv, to_workbook
from ingestion.status.source_status import is_document, source_status
from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.takeaway.bibliography import to_bibtex, to_ris
from rag_engine.text.wording import ENGLISH, Wording

SUFFIXES = (".xlsx", ".csv", ".jsonl", ".bib", ".ris")
_LINKED = ("http://", "https://")
_FILLS = {"GREEN": "C6EFCE", "YELLOW": "FFEB9C", "RED": "FFC7CE"}
_ORIGINS = {"model": "language model", "rule": "rule", "person": "a person", "list": "list of sources"}
# Foreign text may hold half of a surrogate pair, which no file can.
_UTF8 = ("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Exported:
    """Contents of an exported file: documents, sources, and what had to be left out or cut, in words."""

    path: Path
    documents: int
    others: int
    warnings: tuple[Message, ...] = ()


def export(
    path: Path,
    source_records: Sequence[SourceRecord],
    *,
    workspace: Path | None = None,
    words: Wording = ENGLISH,
) -> Exported:
    """Return what was written, atomically, in the order given.

    The same source records always give the same bytes. Links to local files are relative to the file, and only made
    where the workspace is given. InputError for a suffix without a format or a place that cannot be written.
    """
    documents = [record for record in source_records if is_document(record)]
    others = [record for record in source_records if not is_document(record)]
    warnings: list[Message] = []
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        body = to_workbook(workbook_sheets(path, documents, others, workspace, warnings, words))
    elif suffix == ".csv":
        rows = (
            [text_cell(column.read(document), column.name, document, warnings).value for column in COLUMNS]
            for document in documents
        )
        body = to_csv([column.name for column in COLUMNS], rows)
    elif suffix == ".jsonl":
        body = "".join(f"{json.dumps(_record(document), ensure_ascii=False)}\n" for document in documents).encode(
            *_UTF8
        )
    elif suffix == ".bib":
        body = to_bibtex([(document.source.code, document.metadata) for document in documents]).encode(*_UTF8)
    elif suffix == ".ris":
        body = to_ris([(document.source.code, document.metadata) for document in documents]).encode(*_UTF8)
    else:
        raise InputError(
            "{file} names no format.", help="End the name in {suffixes}.", file=path.name, suffixes=", ".join(SUFFIXES)
        )
    write_file(path, body)
    return Exported(path, len(documents), len(others), tuple(warnings))


def _record(record: SourceRecord) -> dict[str, object]:
    """Return one document for JSON Lines: its metadata, its origin, and the findings of the phases."""
    download, extraction, relation = record.download, record.extraction, record.relation
    return {
        "code": record.source.code,
        "parent": record.source.parent,
        **asdict(record.metadata),
        "file": download.path if download else "",
        "text_hash": extraction.text_hash if extraction else "",
        "licence_light": record.verdict.light if record.verdict else "",
        "quality": record.quality.score if record.quality else None,
        "version": relation.version if relation else "",
        "active": not (relation and relation.superseded),
        "superseded": relation.superseded if relation else "",
        "translation_of": relation.translation_of if relation else "",
        "status": source_status(record).status,
    }


def write_file(path: Path, body: bytes) -> None:
    """Write the file; InputError if its folder or the file itself does not allow it."""
    try:
        write_atomic(path, body, durable=True)
    except OSError as error:
        raise InputError(
            "{file} cannot be written: {error}.",
            help="Close it where it is open, or give another place.",
            file=path,
            error=Message(error.strerror or ""),
        ) from error


def workbook_sheets(
    path: Path,
    documents: Sequence[SourceRecord],
    others: Sequence[SourceRecord],
    workspace: Path | None,
    warnings: list[Message],
    words: Wording = ENGLISH,
) -> list[Sheet]:
    """Return the sheets of the workbook; what had to be cut is added to the warnings.

    Explanations are in the given words; headings and values are read back, so they keep their form.
    """
    main = _sheet(DATASET, tuple((column.name, column.width) for column in COLUMNS))
    for record in documents:
        links = {"Source": _web_link(record.source.url), "Local File Path": _file_link(path, record, workspace)}
        main.rows.append(
            [
                text_cell(column.read(record), column.name, record, warnings, links.get(column.name, ""))
                for column in COLUMNS
            ]
        )
    headings = (
        ("Document_Code", 16), ("Title", 50), ("Address", 50), (LIGHT, 12), ("Licence Evidence", 50), (DECISION, 12),
        (NOTE, 40), ("Status", 12), ("Phase", 16), ("Reason", 20), ("Message", 70), ("Origin", 30),
    )  # fmt: skip
    beside = _sheet(NOT_DOCUMENTS, headings)
    for record in others:
        source, where, title = record.source, source_status(record), record.metadata.title
        # What is said of the licence with the greatest weight.
        weightiest = max(record.verdict.marks if record.verdict else (), key=lambda mark: mark.score, default=None)
        texts = (
            source.code, "" if title == source.code else title, source.url or source.path,
            record.verdict.light if record.verdict else "", weightiest.quote if weightiest else "", "", "",
            where.status, where.phase, where.reason, where.message, source.origin,
        )  # fmt: skip
        beside.rows.append(
            [
                text_cell(text, name, record, warnings, _web_link(source.url) if name == "Address" else "")
                for (name, _), text in zip(headings, texts, strict=True)
            ]
        )
    everything = [*documents, *others]
    evidence = [_field_evidence(documents), _evidence(everything, warnings)]
    about = Sheet(words.message("About"), ((words.message("Column"), 24), (words.message("Meaning"), 100)))
    editable = words.message("You may edit it.")
    for column in COLUMNS:
        meaning = words.message(column.meaning)
        about.rows.append([Cell(column.name), Cell(f"{meaning} {editable}" if column.field else meaning)])
    about.rows.extend([Cell(""), Cell(words.message(sentence))] for sentence in EDITING)
    # Every value of every controlled field, one below the other as the drop-downs of the columns expect them.
    allowed = Sheet(ALLOWED, (("Value", 40), ("Column", 24), ("Meaning", 100)))
    for heading, values in allowed_values().items():
        allowed.rows.extend([Cell(value), Cell(heading), Cell(meaning)] for value, meaning in values.items())
    return [main, beside, *evidence, allowed, about, _exported(main, beside)]


def _sheet(name: str, columns: tuple[tuple[str, int], ...]) -> Sheet:
    """Return an empty sheet for editing, with its drop-downs and colours."""
    headings = [heading for heading, _ in columns]
    fills = {heading: _FILLS for heading in headings if heading in (LIGHT, DECISION)}
    return Sheet(name, columns, choices=choices_of(headings), fills=fills)


def _exported(main: Sheet, beside: Sheet) -> Sheet:
    """Return what was written, once more and out of sight.

    Without the addresses, which make a row look like a source.

    Of the sources that are no documents, the licence statuses: on them a decision rests.
    """
    kept = [place for place, (name, _) in enumerate(main.columns) if name != "Source"]
    rows: list[Sequence[Cell]] = [[Cell(row[place].value) for place in kept] for row in main.rows]
    columns = tuple(main.columns[place] for place in kept)
    places = {name: place for place, (name, _) in enumerate(beside.columns)}
    for row in beside.rows:
        known = {name: Cell(row[places[name]].value) for name in ("Document_Code", LIGHT)}
        rows.append([known.get(name, Cell("")) for name, _ in columns])
    return Sheet(EXPORTED, columns, rows, hidden=True)


def _field_evidence(documents: Sequence[SourceRecord]) -> Sheet:
    """One row for each value of a document, with the sentence that justifies it."""
    headings = (
        ("Document_Code", 16), ("Column", 24), ("Value", 40), ("From", 18), ("Sentence", 90), ("Page", 8),
        ("Confidence", 12),
    )  # fmt: skip
    sheet = Sheet("Field evidence", headings)
    columns = {column.field: column.name for column in COLUMNS}
    for record in documents:
        for value in record.values:
            texts = (record.source.code, columns[value.field], value.value, _ORIGINS[value.source], value.sentence)
            # Of a value that had to be cut the documents' sheet has told.
            sheet.rows.append(
                [*(Cell(storable(text)) for text in texts), Cell(value.page), Cell(round(value.confidence, 2))]
            )
    return sheet


def _evidence(source_records: Sequence[SourceRecord], warnings: list[Message]) -> Sheet:
    """Return one row for each mark on a source's licence, and one for a person's decision."""
    headings = (
        ("Document_Code", 16), ("Licence Light", 12), ("Licence", 24), ("Layer", 12), ("Quote", 70), ("Place", 30),
        ("Score", 8), ("Decided by", 20), ("Note", 50),
    )  # fmt: skip
    sheet = Sheet("Licence evidence", headings, fills={LIGHT: _FILLS})
    for record in source_records:
        code, verdict = record.source.code, record.verdict
        rows: list[tuple[str | float, ...]] = [
            (code, mark.light, mark.licence, mark.layer, mark.quote, mark.place, mark.score, "", "")
            for mark in (verdict.marks if verdict else ())
        ]
        if verdict and not verdict.marks:
            outcome = record.outcomes["licence"]
            rows.append((code, verdict.light, verdict.licence, "", "", "", "", "", outcome.message))
        rows += [
            (
                code,
                decision.choice,
                "",
                "person",
                "",
                "",
                "",
                f"{decision.author} {decision.when}".strip(),
                decision.note,
            )
            for decision in record.decisions
            if decision.phase == "licence"
        ]
        for row in rows:
            sheet.rows.append(
                [text_cell(value, name, record, warnings) for (name, _), value in zip(headings, row, strict=True)]
            )
    return sheet


def text_cell(
    value: str | float | None, name: str, record: SourceRecord, warnings: list[Message], link: str = ""
) -> Cell:
    """Return a cell with what fits in one; what had to be cut is added to the warnings."""
    if not isinstance(value, str):
        return Cell(value, link)
    kept = storable(value)
    if kept.endswith("…") and not value.endswith("…"):
        warnings.append(
            Message(
                "{code}: {name} was cut to the 32,767 characters that a cell holds.", code=record.source.code, name=name
            )
        )
    return Cell(kept, link)


def _web_link(url: str) -> str:
    return url if url.lower().startswith(_LINKED) and len(url) <= 2_000 else ""


def _file_link(path: Path, record: SourceRecord, workspace: Path | None) -> str:
    """Return the document's file as seen from the exported one.

    "" for a path that leads out of the workspace.
    """
    download = record.download
    if download is None or workspace is None or Path(download.path).is_absolute() or ".." in Path(download.path).parts:
        return ""
    relative = os.path.relpath((workspace / download.path).absolute(), path.absolute().parent)
    return quote(Path(relative).as_posix())
