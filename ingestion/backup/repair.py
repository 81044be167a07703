"""Repair: the catalog from the log, the records from the catalog, lost texts from the originals.

A document with lost or damaged texts is read again from its original and indexed in its place.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import sqlalchemy as sql

from ingestion import workspace as folders
from ingestion.backup.contents import CATALOG, original_name
from ingestion.book_index.index_records import index_of_document
from ingestion.extraction.text_cache import load_reading
from ingestion.file_names import file_hash
from ingestion.file_reading import ExtractionLimits, FileReading
from ingestion.protocols import Extractor
from ingestion.records.document_corrections import SAID
from ingestion.records.erasures import begun_erasures
from ingestion.records.source_store import SourceStore
from ingestion.tools import open_reader, reader_of
from ingestion.types.outcome import Refusal
from rag_engine import workspace as paths
from rag_engine.atomic_write import replacing
from rag_engine.damaged_files import kept_aside, set_aside
from rag_engine.engine import Engine
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.processes.serving import find_serving
from rag_engine.processes.writer_lock import write_lock
from rag_engine.storage.catalog import mark_changed, open_catalog, set_state
from rag_engine.storage.index_entries import stored_entries
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.log import latest_lines, log_documents, logged_encoder
from rag_engine.storage.schema import documents
from rag_engine.types.document import DocumentRecord

_LOGS = "-wal", "-shm", "-journal"


@dataclass(frozen=True, slots=True)
class CatalogRenewed:
    """A new catalog with the number of its documents, which have no texts yet.

    `aside` is the damaged file, or None if it was missing. `unknown` is the folder of the originals that are not in the
    log, or None if all are.
    """

    documents: int
    aside: Path | None
    unknown: Path | None


@dataclass(frozen=True, slots=True)
class RecordsRenewed:
    """New records with the number of their decisions; `aside` is the damaged file, None if it was missing."""

    decisions: int
    aside: Path | None


def renew_catalog(workspace: Path) -> CatalogRenewed:
    """Rebuild the catalog from the log; a destroyed one is kept aside with its logs.

    The indexes go, for they are of what was destroyed. Broken off, it is begun again. WorkspaceError if the log
    knows no document or is damaged as well, and while `sextant serve` or a worker is at work.
    """
    with _alone(workspace):
        known = list(latest_lines(workspace, "document").values())
        if not known:
            raise WorkspaceError(
                f"The log of {workspace} knows no document.",
                help="Restore the latest backup with `sextant restore ARCHIVE --workspace NEW`, or add the files in "
                "its folder `files` to a new workspace with `sextant add`.",
            )
        with replacing(paths.catalog_file(workspace), durable=True) as made:
            made.touch(0o600)
            with closing(open_catalog(workspace, sql.URL.create("sqlite", database=str(made)))) as catalog:
                SourceStore(catalog).take_from_log()
                with catalog.begin() as connection:
                    connection.execute(
                        sql.insert(documents), [json.loads(line.said) | {"status": "active"} for line in known]
                    )
                    set_state(connection, "encoder", logged_encoder(workspace))
                    mark_changed(connection)
                catalog.checkpoint()
            named = {(line.sha256, line.file) for line in known}
            named |= {(erasure.sha256, erasure.file) for erasure in begun_erasures(workspace)}
            held = {workspace / original_name(*one) for one in named}
            # The next writer would remove them.
            unknown = [path for path in paths.files(workspace).glob("*/*") if path.is_file() and path not in held]
            # The catalog itself comes last: as long as it is there, this is begun again.
            folder = set_aside(workspace, (*unknown, *_with_logs(paths.catalog_file(workspace))))
            shutil.rmtree(paths.index(workspace), ignore_errors=True)
        os.sync()
    aside = {path.name: path for path in folder.iterdir()} if folder else {}
    return CatalogRenewed(len(known), aside.get(CATALOG), aside.get(paths.files(workspace).name))


def renew_records(workspace: Path) -> RecordsRenewed:
    """Begin new records with the decisions that the catalog tells of; destroyed ones are kept aside."""
    with _alone(workspace):
        folder = set_aside(workspace, _with_logs(paths.records_file(workspace)))
        with closing(open_catalog(workspace)) as catalog:
            decided = SourceStore(catalog).write_log()
            with catalog.begin() as connection:
                set_state(connection, SAID, "0")
            log_documents(catalog)
    return RecordsRenewed(decided, folder / paths.records_file(workspace).name if folder else None)


def originals_aside(workspace: Path, document_id: str) -> list[Path]:
    """Return the folders of this document's original among those that a repair set aside."""
    held = (paths.inside(folder, document_id) for folder in kept_aside(workspace, paths.files(workspace).name))
    return sorted(path for path in held if path.is_dir())


@contextmanager
def _alone(workspace: Path) -> Iterator[None]:
    """Hold every lock of a workspace; WorkspaceError while somebody is at work in it."""
    if find_serving(workspace) is not None:
        raise WorkspaceError(f"`sextant serve` runs on {workspace}.", help="End it first.", retryable=True)
    with folders.work_lock(workspace) as free, write_lock(workspace):
        if not free:
            raise WorkspaceError(f"A worker is at work in {workspace}.", help="End it first.", retryable=True)
        yield


def _with_logs(database: Path) -> Iterator[Path]:
    return (Path(f"{database}{ending}") for ending in (*_LOGS, ""))


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """Files of the documents read again, and of the other ones with the reason."""

    read: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]


def read_documents_again(
    engine: Engine, keys: Iterable[int], progress: Callable[[int, int, str], None] = lambda *_: None
) -> ReadAgain:
    """Read the originals of documents again, oldest first, and replace each document in the index.

    Metadata, the place among versions and the entries of indexes stay. A document stays as it is if its original is
    lost, changed or refused.
    """
    wanted = set(keys)
    records = [fingerprint for fingerprint in engine.catalog.fingerprints() if fingerprint[0].key in wanted]
    read: list[str] = []
    unread: list[tuple[str, str]] = []
    with engine.indexer() as indexer, open_reader(engine.config.ocr) as extractor:
        for done, (record, print_) in enumerate(records):
            progress(done, len(records), record.file)
            try:
                _index(record, print_, _read(record, engine, extractor), engine, indexer)
                read.append(record.file)
            except (SextantError, OSError) as error:
                unread.append((record.file, str(error)))
        indexer.finish()
    progress(len(records), len(records), "")
    return ReadAgain(tuple(read), tuple(unread))


def _read(record: DocumentRecord, engine: Engine, extractor: Extractor) -> FileReading:
    """Return the reading of the original; if the same reader's reading is kept, that one."""
    path: Path = engine.collection.stored_file(record)
    if not path.is_file():
        raise Refusal(
            "file_missing", "Its original {file} is missing.", help="`sextant add` with that file.", file=path
        )
    if file_hash(path) != record.sha256:
        raise Refusal(
            "damaged", "Its original {file} is not as it was added.", help="`sextant add` with that file.", file=path
        )
    reader = reader_of(engine.config.ocr, ExtractionLimits())
    cached = load_reading(folders.readings(engine.config.workspace), record.sha256, reader)
    return cached.file if cached else extractor.read(path)


def _index(record: DocumentRecord, print_: str, reading: FileReading, engine: Engine, indexer: Indexer) -> None:
    extracted = reading.extracted
    listed = stored_entries(engine.catalog, record.key)
    described = replace(
        record,
        key=0,
        media_type=extracted.media_type,
        pages=extracted.pages,
        ocr_pages=len(extracted.ocr_pages),
        page_labels=extracted.page_labels,
        characters=len(extracted.text),
    )
    indexer.index(described, extracted, print_, listed, () if listed else index_of_document(reading).records)
