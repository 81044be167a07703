"""The collection as a file: the paper's workbook, CSV, JSON Lines, BibTeX or RIS, by the file's suffix."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from ingestion.dataset.bibliography import to_bibtex, to_ris
from ingestion.dataset.columns import COLUMNS, DATASET, EDITING, EXPORTED, NOT_DOCUMENTS
from ingestion.records.source_record import SourceRecord
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, neutral, storable, to_workbook
from ingestion.status.source_status import is_document, source_status
from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError

SUFFIXES = (".xlsx", ".csv", ".jsonl", ".bib", ".ris")
_LINKED = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Exported:
    """Contents of an exported file: documents, sources, and what had to be left out or cut, in words."""

    path: Path
    documents: int
    others: int
    warnings: tuple[str, ...] = ()


def export(path: Path, source_records: Sequence[SourceRecord], *, workspace: Path | None = None) -> Exported:
    """Return what was written, atomically, in the order given; the same source records always give the same bytes.

    Links to local files are relative to the file, and only made where the workspace is given. InputError for a suffix
    without a format or a place that cannot be written.
    """
    documents = [one for one in source_records if is_document(one)]
    others = [one for one in source_records if not is_document(one)]
    warnings: list[str] = []
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        body = to_workbook(_sheets(path, documents, others, workspace, warnings))
    elif suffix == ".csv":
        body = _csv(documents, warnings)
    elif suffix == ".jsonl":
        body = "".join(f"{json.dumps(_record(one), ensure_ascii=False)}\n" for one in documents).encode(*_UTF8)
    elif suffix == ".bib":
        body = to_bibtex([(one.source.code, one.metadata) for one in documents]).encode(*_UTF8)
    elif suffix == ".ris":
        body = to_ris([(one.source.code, one.metadata) for one in documents]).encode(*_UTF8)
    else:
        raise InputError(f"{path.name} names no format.", help=f"End the name in {', '.join(SUFFIXES)}.")
    _write(path, body)
    return Exported(path, len(documents), len(others), tuple(warnings))


# Foreign text may hold half of a surrogate pair, which no file can.
_UTF8 = ("utf-8", "replace")


def _sheets(
    path: Path,
    documents: Sequence[SourceRecord],
    others: Sequence[SourceRecord],
    workspace: Path | None,
    warnings: list[str],
) -> list[Sheet]:
    main = Sheet(DATASET, tuple((one.name, one.width) for one in COLUMNS), [])
    for record in documents:
        links = {"Source": _web_link(record.source.url), "Local File Path": _file_link(path, record, workspace)}
        main.rows.append(
            [_cell(one.read(record), one.name, record, warnings, links.get(one.name, "")) for one in COLUMNS]
        )
    headings = (
        ("Document_Code", 16), ("Title", 50), ("Address", 50), ("Status", 12), ("Phase", 16), ("Reason", 20),
        ("Message", 70), ("Origin", 30),
    )  # fmt: skip
    beside = Sheet(NOT_DOCUMENTS, headings, [])
    for record in others:
        source, where, title = record.source, source_status(record), record.metadata.title
        texts = (
            source.code, "" if title == source.code else title, source.url or source.path, where.status, where.phase,
            where.reason, where.message, source.origin,
        )  # fmt: skip
        beside.rows.append(
            [
                _cell(text, name, record, warnings, _web_link(source.url) if name == "Address" else "")
                for (name, _), text in zip(headings, texts, strict=True)
            ]
        )
    about = Sheet("About", (("Column", 24), ("What it means", 100)), [])
    for one in COLUMNS:
        about.rows.append([Cell(one.name), Cell(f"{one.meaning} You may edit it." if one.field else one.meaning)])
    about.rows.extend([Cell(""), Cell(sentence)] for sentence in EDITING)
    return [main, beside, _evidence([*documents, *others], warnings), about, _exported(main)]


def _exported(main: Sheet) -> Sheet:
    """Return what was written, once more and out of sight; without the addresses, which make a row look like a seed."""
    kept = [place for place, (name, _) in enumerate(main.columns) if name != "Source"]
    rows: list[Sequence[Cell]] = [[Cell(row[place].value) for place in kept] for row in main.rows]
    return Sheet(EXPORTED, tuple(main.columns[place] for place in kept), rows, hidden=True)


def _evidence(source_records: Sequence[SourceRecord], warnings: list[str]) -> Sheet:
    """One row for each mark that speaks on a source's licence, and one for what a person decided."""
    headings = (
        ("Document_Code", 16), ("Licence Light", 12), ("Licence", 24), ("Layer", 12), ("Quote", 70), ("Place", 30),
        ("Score", 8), ("Decided by", 20), ("Note", 50),
    )  # fmt: skip
    sheet = Sheet("Licence evidence", headings, [])
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
            (code, one.choice, "", "person", "", "", "", f"{one.author} {one.when}".strip(), one.note)
            for one in record.decisions
            if one.phase == "licence"
        ]
        for row in rows:
            sheet.rows.append(
                [_cell(value, name, record, warnings) for (name, _), value in zip(headings, row, strict=True)]
            )
    return sheet


def _cell(value: str | float | None, name: str, record: SourceRecord, warnings: list[str], link: str = "") -> Cell:
    if not isinstance(value, str):
        return Cell(value, link)
    kept = storable(value)
    if kept.endswith("…") and not value.endswith("…"):
        warnings.append(f"{record.source.code}: {name} was cut to the 32,767 characters that a cell holds.")
    return Cell(kept, link)


def _csv(documents: Sequence[SourceRecord], warnings: list[str]) -> bytes:
    """Return the main sheet as CSV with the byte order mark that Excel needs to read it as UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([one.name for one in COLUMNS])
    for record in documents:
        cells = [_cell(one.read(record), one.name, record, warnings).value for one in COLUMNS]
        writer.writerow([neutral(value) if isinstance(value, str) else value for value in cells])
    return text.getvalue().encode("utf-8-sig")


def _record(record: SourceRecord) -> dict[str, object]:
    """One document for JSON Lines: its metadata, where it came from, and what the phases found."""
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


def _web_link(url: str) -> str:
    return url if url.lower().startswith(_LINKED) and len(url) <= 2_000 else ""


def _file_link(path: Path, record: SourceRecord, workspace: Path | None) -> str:
    """Return the document's file as seen from the exported one; "" for a path that leads out of the workspace."""
    download = record.download
    if download is None or workspace is None or Path(download.path).is_absolute() or ".." in Path(download.path).parts:
        return ""
    relative = os.path.relpath((workspace / download.path).absolute(), path.absolute().parent)
    return quote(Path(relative).as_posix())


def _write(path: Path, body: bytes) -> None:
    """Write the file; InputError where its folder or the file itself does not allow it."""
    try:
        write_atomic(path, body, durable=True)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", help="Close it where it is open, or give another place."
        ) from error
