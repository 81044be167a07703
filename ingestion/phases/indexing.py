"""Phase "indexing": add documents to the index, and remove those that no longer belong there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingestion.book_index.index_records import index_of_document
from ingestion.file_names import file_hash
from ingestion.file_reading import FileReading
from ingestion.fingerprints import hash_of
from ingestion.phases.definition import Batch, CollectionPhase, CollectionRun, attempt, said_of, source_progress
from ingestion.records.quarantine import file_of
from ingestion.records.refused_files import WorkerStops
from ingestion.records.source_record import FROM_LIST, SourceRecord
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome
from ingestion.types.run import Progress
from ingestion.types.source import Indexed
from ingestion.workspace import refused
from rag_engine import workspace as paths
from rag_engine.atomic_write import replacing
from rag_engine.conversations.erased_documents import note_erased
from rag_engine.engine import Engine
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.storage.catalog import metadata_json
from rag_engine.storage.indexer import FormerVersion, Indexer, IndexingStopped, former_version
from rag_engine.storage.stores import stored_name
from rag_engine.types.document import Document, DocumentRecord, Metadata

# Documents that become visible together.
_GROUP = 20

_Known = Mapping[str, tuple[DocumentRecord, str]]


def run_all(run: CollectionRun) -> Iterator[Batch]:
    """Index every chosen source with a pending entry, and erase documents that must leave.

    A document with unchanged text only gets its new metadata. Documents in the index are kept up to date, chosen or
    not. A version that a chosen one replaces is superseded, and a document that the list no longer lets pass leaves the
    index. A document that has only failed for now stays as it is.
    """
    indexed = [(record, print_) for record, print_ in run.engine.catalog.fingerprints() if code_of(record)]
    known = {code_of(record): (record, print_) for record, print_ in indexed if not record.is_former}
    prints = {record.source.code: _fingerprint(record, run.engine) for record in run.ready}
    pending = [record for record in run.ready if _is_pending(record.source.code, run, known, prints)]
    for position, record in enumerate(_strays([record for record, _ in indexed], run)):
        run.progress(Progress(position, len(indexed), 0, 0, f"Taking out {record.shown_title}", "indexing"))
        _take_out(record, run)
        message = Message("Taken out of the index: the source no longer passes.")
        if not record.is_former:
            yield {code_of(record): (Outcome("skipped", "", message), "")}
    if pending and not run.signal():
        yield from _index_all(pending, known, prints, run)


def code_of(record: DocumentRecord) -> str:
    """Return the code of the listed source of a document; "" if it is not of the list."""
    return record.origin.removeprefix(FROM_LIST) if record.source.startswith(FROM_LIST) else ""


def _is_pending(code: str, run: CollectionRun, known: _Known, prints: Mapping[str, str]) -> bool:
    if run.chosen is not None and code not in run.chosen and code not in known:
        return False
    # Indexed, but the worker was killed before it could record it.
    entry = run.entries.get((code, "indexing"))
    unrecorded = entry is None or entry.outcome.status != "done"
    return run.again or unrecorded or code not in known or known[code][1] != prints[code]


def _take_out(record: DocumentRecord, run: CollectionRun) -> None:
    note = partial(note_erased, run.engine.config.workspace, record.document_id, record.file, redact=False)
    staying = {one.download.sha256 for one in run.ready if one.download}
    if record.sha256 in staying:
        # A former version that is the present one again: what quotes it stays.
        run.engine.writer.erase(record)
        return
    # Before, since a kill leaves nothing to note it by; after, for an answer that was begun in between.
    note()
    run.engine.writer.erase(record)
    note()


def _fingerprint(record: SourceRecord, engine: Engine) -> str:
    """Return two hashes joined by a dot: of the inputs of the text, and of the metadata."""
    download, extraction = record.download, record.extraction
    content = [download.sha256 if download else "", extraction.text_hash if extraction else ""]
    content += [repr(engine.config.chunking), Path(download.path).name if download else ""]
    return f"{hash_of(content)}.{hash_of(metadata_json(indexed_metadata(record)))}"


def described_anew(print_: str, metadata: Metadata) -> str:
    """Return the fingerprint of a document with unchanged text and this metadata.

    The fingerprint of a file or of a former version does not hold the metadata.
    """
    text, dot, _ = print_.partition(".")
    return f"{text}.{hash_of(metadata_json(metadata))}" if dot else print_


def indexed_metadata(record: SourceRecord) -> Metadata:
    """Return the source's metadata with its position among the versions and translations of its work."""
    relation, metadata = record.relation, record.metadata
    if relation is None:
        return metadata
    return replace(
        metadata,
        work=relation.work,
        version=relation.version,
        superseded=relation.superseded,
        translation_of=relation.translation_of,
    )


def _index_all(
    pending: Sequence[SourceRecord], known: _Known, prints: Mapping[str, str], run: CollectionRun
) -> Iterator[Batch]:
    indexed: dict[str, tuple[Outcome, str]] = {}
    with run.engine.indexer() as indexer:
        indexer.stopped = lambda: bool(run.signal())
        for position, record in enumerate(pending):
            code = record.source.code
            current = f"{code} {record.metadata.title}"
            run.progress(source_progress("indexing", len(pending), [record], pending[position + 1 :], current))
            if run.signal():
                break
            try:
                indexed[code] = _try(record, known.get(code), prints[code], indexer, run.tools), prints[code]
            except IndexingStopped:
                break
            if len(indexed) >= _GROUP:
                # Nothing is recorded that cannot be found yet.
                indexer.flush()
                yield indexed
                indexed = {}
        run.progress(Progress(len(pending), len(pending), 0, 0, "", "indexing"))
        indexer.finish()
    yield indexed


def _try(
    record: SourceRecord, known: tuple[DocumentRecord, str] | None, print_: str, indexer: Indexer, tools: Tools
) -> Outcome:
    """Index one source, and return its failure as an outcome."""
    stops = WorkerStops(refused(tools.workspace), again=tools.again)
    content = record.download.sha256 if record.download else ""
    return attempt(
        lambda: _index(record, known, print_, indexer, tools),
        lambda error: Message("It was not indexed: {error}", error=said_of(error)),
        stops.at(f"indexing {record.code} {content}", record.code),
    )


def _index(
    record: SourceRecord, known: tuple[DocumentRecord, str] | None, print_: str, indexer: Indexer, tools: Tools
) -> Outcome:
    metadata, download = indexed_metadata(record), record.download
    assert download is not None, "indexing follows acquisition"
    document_id = download.sha256[:12]
    if known is not None and known[1] == print_:
        return Outcome("done", "", NO_MESSAGE, Indexed(document_id, known[0].children, print_))
    if known is not None and known[1].partition(".")[0] == print_.partition(".")[0]:
        children = indexer.redescribe(known[0], metadata, print_)
        return Outcome("done", "", NO_MESSAGE, Indexed(document_id, children, print_))
    reading, path = tools.read(record), file_of(tools.workspace, download)
    assert path is not None, "a file that was read is there"
    document = Document(FROM_LIST + record.source.code, path.name, download.sha256, metadata, reading.extracted)
    before = known[0] if known is not None else None
    work = metadata.work or record.source.code
    former = former_of(before, download.sha256, metadata, download.retrieved[:10], work)
    children, warnings = index_file(document, reading.file, path, print_, former, indexer, tools.workspace)
    return Outcome("done", "", join_messages(warnings), Indexed(document_id, children, print_))


def index_file(
    document: Document,
    reading: FileReading,
    path: Path,
    print_: str,
    former: FormerVersion | None,
    indexer: Indexer,
    workspace: Path,
) -> tuple[int, tuple[str, ...]]:
    """Index a document of a file; return the number of its children, and warnings of the index in it."""
    keep_original(path, stored_name(paths.files(workspace), document.sha256, document.file), document.sha256)
    # Here, because most documents have no index and what is in the index already never comes so far.
    own = index_of_document(reading)
    return indexer.add(document, print_, own.records, former), own.warnings


def former_of(
    known: DocumentRecord | None, sha256: str, newer: Metadata, noticed: str, work: str = ""
) -> FormerVersion | None:
    """Return what stays of the document of before; None if it is the same file read again."""
    if known is None or known.sha256 == sha256:
        return None
    return former_version(known, newer, noticed, work)


def keep_original(path: Path, stored: Path, sha256: str) -> None:
    """Put the file in the folder from which pages are drawn, as a link if possible, to save room."""
    if stored.exists() and file_hash(stored) == sha256:
        return
    stored.parent.mkdir(parents=True, exist_ok=True)
    with replacing(stored) as temporary:
        try:
            os.link(path, temporary)
        except OSError:
            shutil.copyfile(path, temporary)


def _strays(indexed: Sequence[DocumentRecord], run: CollectionRun) -> list[DocumentRecord]:
    """Return the documents whose source is off the list, excluded by a person, or was refused.

    A former version whose file is the present one again goes as well.
    """
    present = {record.source.code: record.download.sha256 for record in run.ready if record.download}
    failed = [record for record in run.stopped if record.stopped is None or record.stopped[1].status == "failed"]
    staying = {record.source.code for record in run.ready}
    staying |= {record.source.code for record in failed if not record.is_excluded}
    return [
        record
        for record in indexed
        if code_of(record) not in staying or (record.is_former and present.get(code_of(record)) == record.sha256)
    ]


PHASE = CollectionPhase(run_all=run_all)
