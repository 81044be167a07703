"""Documents with lost or damaged texts, read again from their originals and indexed in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ingestion import workspace as folders
from ingestion.book_index.index_records import index_of_document
from ingestion.extraction.text_cache import load_reading
from ingestion.file_names import file_hash
from ingestion.file_reading import ExtractionLimits, FileReading
from ingestion.protocols import Extractor
from ingestion.tools import open_reader, reader_of
from ingestion.types.outcome import Refusal
from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from rag_engine.storage.index_entries import stored_entries
from rag_engine.storage.indexer import Indexer
from rag_engine.types.document import DocumentRecord


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
    records = [one for one in engine.catalog.fingerprints() if one[0].key in wanted]
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
        characters=len(extracted.text),
    )
    indexer.index(described, extracted, print_, listed, () if listed else index_of_document(reading).records)
