"""The collection as a file: workbook, CSV, JSON Lines, BibTeX or RIS, by the file's suffix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ingestion.dataset.columns import COLUMNS
from ingestion.dataset.sheets import text_cell, workbook_sheets
from ingestion.records.source_record import SourceRecord
from ingestion.spreadsheets.csv_writer import to_csv
from ingestion.spreadsheets.workbook_writer import to_workbook
from ingestion.status.source_status import is_document, source_status
from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError
from rag_engine.takeaway.bibliography import to_bibtex, to_ris
from rag_engine.text.wording import ENGLISH, Wording

SUFFIXES = (".xlsx", ".csv", ".jsonl", ".bib", ".ris")


@dataclass(frozen=True, slots=True)
class Exported:
    """Contents of an exported file: documents, sources, and what had to be left out or cut, in words."""

    path: Path
    documents: int
    others: int
    warnings: tuple[str, ...] = ()


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
    documents = [one for one in source_records if is_document(one)]
    others = [one for one in source_records if not is_document(one)]
    warnings: list[str] = []
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        body = to_workbook(workbook_sheets(path, documents, others, workspace, warnings, words))
    elif suffix == ".csv":
        rows = (
            [text_cell(column.read(one), column.name, one, warnings).value for column in COLUMNS] for one in documents
        )
        body = to_csv([column.name for column in COLUMNS], rows)
    elif suffix == ".jsonl":
        body = "".join(f"{json.dumps(_record(one), ensure_ascii=False)}\n" for one in documents).encode(*_UTF8)
    elif suffix == ".bib":
        body = to_bibtex([(one.source.code, one.metadata) for one in documents]).encode(*_UTF8)
    elif suffix == ".ris":
        body = to_ris([(one.source.code, one.metadata) for one in documents]).encode(*_UTF8)
    else:
        raise InputError(
            "{file} names no format.", help="End the name in {suffixes}.", file=path.name, suffixes=", ".join(SUFFIXES)
        )
    write_file(path, body)
    return Exported(path, len(documents), len(others), tuple(warnings))


# Foreign text may hold half of a surrogate pair, which no file can.
_UTF8 = ("utf-8", "replace")


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


def write_file(path: Path, body: bytes) -> None:
    """Write the file; InputError where its folder or the file itself does not allow it."""
    try:
        write_atomic(path, body, durable=True)
    except OSError as error:
        raise InputError(
            "{file} cannot be written: {error}.",
            help="Close it where it is open, or give another place.",
            file=path,
            error=error.strerror,
        ) from error
