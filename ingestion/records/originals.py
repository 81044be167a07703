"""Originals: the workspace's copies of the files of documents, and where the files came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingestion.file_names import file_hash
from ingestion.records.source_record import FROM_LIST
from rag_engine.storage.collection import Collection
from rag_engine.types.finding import Finding, some_of


def check(collection: Collection) -> Iterator[Finding]:
    """Yield the copies that are lost or damaged, and the files that are gone from where they were added."""
    kept = [(document, collection.stored_file(document)) for document in collection.documents()]
    lost = [document.file for document, copy in kept if not copy.is_file()]
    damaged = [document.file for document, copy in kept if copy.is_file() and not _is_whole(copy, document.sha256)]
    if lost or damaged:
        found = [f"{len(lost)} are missing from the workspace: {some_of(lost)}"] if lost else []
        found += [f"{len(damaged)} are not as they were added: {some_of(damaged)}"] if damaged else []
        remedy = "Run `sextant add` with these files, which puts them back; their pages are drawn from them."
        yield Finding("Originals", "bad", "; ".join(found), remedy)
    places = ((record.file, record.source) for record in collection.documents() if not record.is_former)
    # A file from the page or the list of sources has no original elsewhere.
    own = [(file, source) for file, source in places if not source.startswith(("upload:", FROM_LIST))]
    gone = [file for file, source in own if not Path(source).exists()]
    if gone:
        remedy = "They still answer from the workspace's copies; `sextant erase FILE` removes one."
        yield Finding(
            "Sources", "note", f"{len(gone)} files are no longer where they were added from: {some_of(gone)}", remedy
        )


def _is_whole(copy: Path, sha256: str) -> bool:
    try:
        return file_hash(copy) == sha256
    except OSError:  # a disk that cannot read it back
        return False
