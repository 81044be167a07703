"""Described sources into the index, and out of it what no longer belongs there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from ingestion.book_index.read import own_index
from ingestion.pipeline.phases import Tools, reading_at_hand
from ingestion.pipeline.scheduling import hash_of, is_withdrawn
from ingestion.records.quarantine import file_of
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import PhaseEntry, SourceStore
from ingestion.types import ControlSignal, Indexed, Outcome, Phase, Progress
from rag_engine import workspace as paths
from rag_engine.atomic_write import replacing
from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from rag_engine.storage.catalog import metadata_json
from rag_engine.storage.collection import stored_name
from rag_engine.storage.indexer import Indexer
from rag_engine.types import Document, DocumentRecord, Metadata

# What stands before a source's code where the index names where a document came from.
FROM_LIST = "list:"

# Documents that become visible together.
_GROUP = 20

_Known = dict[str, tuple[DocumentRecord, str]]


def index_sources(
    ready: Sequence[SourceRecord],
    stopped: Sequence[SourceRecord],
    chosen: AbstractSet[str] | None,
    engine: Engine,
    store: SourceStore,
    tools: Tools,
    *,
    again: bool,
    progress: Callable[[Progress], None],
    signal: Callable[[], ControlSignal],
) -> Iterator[tuple[str, Outcome, str]]:
    """Code, outcome and fingerprint of every chosen source (None means all) whose place in the index had to change.

    A document whose text is the same is only described anew. What is in the index is brought up to date whatever was
    chosen: a version that is superseded by a chosen one, and what the list no longer lets pass, which leaves it. What
    has only failed for now stays as it is.
    """
    known: _Known = {
        record.source: (record, print_)
        for record, print_ in engine.catalog.fingerprints()
        if record.source.startswith(FROM_LIST)
    }
    entries = store.entries()
    prints = {source_record.source.code: fingerprint(source_record, engine) for source_record in ready}
    due = [
        source_record
        for source_record in ready
        if (chosen is None or source_record.source.code in chosen or FROM_LIST + source_record.source.code in known)
        and (
            again
            or known.get(FROM_LIST + source_record.source.code, (None, ""))[1] != prints[source_record.source.code]
            # Indexed, but the worker was killed before it could say so.
            or not _said(source_record, entries)
        )
    ]
    for position, record in enumerate(_strays(known, ready, stopped)):
        progress(Progress(position, len(known), 0, 0, f"Taking out {record.metadata.title}", "indexing"))
        engine.erase(record)
        yield (
            record.source.removeprefix(FROM_LIST),
            Outcome("skipped", "", "Taken out of the index: the source no longer passes."),
            "",
        )
    if due and not signal():
        yield from _index_all(due, known, prints, engine, tools, progress=progress, signal=signal)


def fingerprint(source_record: SourceRecord, engine: Engine) -> str:
    """What the text is made from and what is said of it, as two hashes joined by a dot."""
    download, extraction = source_record.download, source_record.extraction
    content = [download.sha256 if download else "", extraction.text_hash if extraction else ""]
    content += [repr(engine.config.chunking), Path(download.path).name if download else ""]
    return f"{hash_of(content)}.{hash_of(metadata_json(described(source_record)))}"


def described(source_record: SourceRecord) -> Metadata:
    """The source's description with its place among the versions and translations of its work."""
    relation, metadata = source_record.relation, source_record.metadata
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
    due: Sequence[SourceRecord],
    known: _Known,
    prints: dict[str, str],
    engine: Engine,
    tools: Tools,
    *,
    progress: Callable[[Progress], None],
    signal: Callable[[], ControlSignal],
) -> Iterator[tuple[str, Outcome, str]]:
    indexed: list[tuple[str, Outcome, str]] = []
    with engine.indexer() as indexer:
        for position, source_record in enumerate(due):
            code = source_record.source.code
            progress(Progress(position, len(due), 0, 0, f"{code} {source_record.metadata.title}", "indexing"))
            if signal():
                break
            outcome = _try(source_record, known.get(FROM_LIST + code), prints[code], indexer, tools)
            indexed.append((code, outcome, prints[code]))
            if len(indexed) >= _GROUP:
                # Said of nothing that cannot be found yet.
                indexer.flush()
                yield from indexed
                indexed.clear()
        progress(Progress(len(due), len(due), 0, 0, "", "indexing"))
        indexer.finish()
    yield from indexed


def _try(
    source_record: SourceRecord, known: tuple[DocumentRecord, str] | None, print_: str, indexer: Indexer, tools: Tools
) -> Outcome:
    """How indexing ends for one source; whatever goes wrong, the others go on."""
    try:
        return _index_one(source_record, known, print_, indexer, tools)
    except (SextantError, OSError) as error:
        retryable = getattr(error, "retryable", True)
        return Outcome("failed", "unexpected", f"It was not indexed: {error}", retryable=retryable)
    except Exception as error:
        said = f"It was not indexed: {type(error).__name__}: {error}"
        return Outcome("failed", "unexpected", said, retryable=True)


def _index_one(
    source_record: SourceRecord,
    known: tuple[DocumentRecord, str] | None,
    print_: str,
    indexer: Indexer,
    tools: Tools,
) -> Outcome:
    metadata, document_id = described(source_record), _document_id(source_record)
    if known is not None and known[1] == print_:
        return Outcome("done", "", "", Indexed(document_id, known[0].children, print_))
    if known is not None and known[1].partition(".")[0] == print_.partition(".")[0]:
        children = indexer.redescribe(known[0], metadata, print_)
        return Outcome("done", "", "", Indexed(document_id, children, print_))
    reading, download = reading_at_hand(source_record, tools), source_record.download
    path = file_of(tools.workspace, download) if download else None
    assert download is not None, "indexing follows acquisition"
    assert path is not None, "a reading is at hand where its file is"
    _store(path, stored_name(paths.files(tools.workspace), download.sha256, path.name))
    document = Document(FROM_LIST + source_record.source.code, path.name, download.sha256, metadata, reading.extracted)
    # Here, because most documents have no index and what is in the index already never comes so far.
    own = own_index(reading.extracted, path, tools.extractor)
    children = indexer.add(document, print_, own.records)
    return Outcome("done", "", " ".join(own.warnings), Indexed(document_id, children, print_))


def _store(path: Path, stored: Path) -> None:
    """Nothing; the file lies where pages are drawn from, without taking its room on the disk twice where it can."""
    if stored.exists():
        return
    stored.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, stored)
    except OSError:
        with replacing(stored) as temporary:
            shutil.copyfile(path, temporary)


def _said(source_record: SourceRecord, entries: Mapping[tuple[str, Phase], PhaseEntry]) -> bool:
    entry = entries.get((source_record.source.code, "indexing"))
    return entry is not None and entry.outcome.status == "done"


def _strays(known: _Known, ready: Sequence[SourceRecord], stopped: Sequence[SourceRecord]) -> list[DocumentRecord]:
    """Documents of the index whose source is off the list, withdrawn, or was refused."""
    standing = {source_record.source.code for source_record in ready}
    standing |= {
        source_record.source.code
        for source_record in stopped
        if not is_withdrawn(source_record)
        and (source_record.stopped is None or source_record.stopped[1].status == "failed")
    }
    by_code = {source.removeprefix(FROM_LIST): record for source, (record, _) in known.items()}
    return [record for code, record in by_code.items() if code not in standing]


def _document_id(source_record: SourceRecord) -> str:
    return source_record.download.sha256[:12] if source_record.download else ""
