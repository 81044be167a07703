"""The whole state that an act leaves in a workspace, without the parts that differ each time."""

from __future__ import annotations

import gzip
import hashlib
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from rag_engine import workspace as paths
from rag_engine.chunking.indexed_text import child_id
from rag_engine.engine import Engine
from rag_engine.storage import schema as tables

# Times, the random folders of uploads and the length of things differ from one run of an act to the next.
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "FOLDER"),
    (re.compile(r'"seconds": ?[\d.]+'), '"seconds": 0'),
)
_COLUMNS = {"seconds", "heartbeat", "progress", "version"}
# A job that a door queues is the way to what is left behind, and not what is left behind.
_TABLES = {"jobs", "sqlite_sequence"}
# The page looks for example questions, and the first search on a machine measures how many passages it reranks.
_MEASURED = ("{'name': 'rerank depth", "{'name': 'example questions")
_FILES = re.compile(r"catalog\.sqlite|^records\.sqlite|^index/|\.lock$|^worker\.log$|^\.streamlit|^serving")
# How what is packed begins.
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"


@dataclass(frozen=True)
class State:
    """All rows of the two databases, names and hashes of the files, and the keys in both indexes."""

    rows: dict[str, list[str]]
    files: dict[str, str]
    dense: set[int]
    sparse: set[int]


def state_of(workspace: Path, engine: Engine) -> State:
    """Return the state of a workspace whose engine is open."""
    engine.catalog.checkpoint()
    rows: dict[str, list[str]] = {}
    for database in filter(Path.is_file, (workspace / "catalog.sqlite", workspace / "records.sqlite")):
        with closing(sqlite3.connect(database)) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in sorted(set(names) - _TABLES):
                found = connection.execute(f'SELECT * FROM "{table}"')
                columns = [column[0] for column in found.description]
                lines = sorted(_line(columns, row, workspace) for row in found)
                rows[table] = [line for line in lines if not line.startswith(_MEASURED)]
    files = {
        _finished(str(path.relative_to(workspace)), workspace): _digest(path, workspace)
        for path in workspace.rglob("*")
        if path.is_file() and not _FILES.search(str(path.relative_to(workspace)))
    }
    return State(rows, files, engine.collection.dense().filter(), engine.collection.sparse().keys())


def _line(columns: Sequence[str], row: Sequence[object], workspace: Path) -> str:
    cells = {
        name: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
        for name, value in zip(columns, row, strict=True)
        if name not in _COLUMNS
    }
    return _finished(repr(cells), workspace)


def _digest(path: Path, workspace: Path) -> str:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return hashlib.sha256(_finished(raw.decode("latin-1"), workspace).encode()).hexdigest()


def _finished(text: str, workspace: Path) -> str:
    text = text.replace(str(workspace), "WORKSPACE")
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text


def collection_of(engine: Engine) -> dict[str, list[Any]]:
    """Return all that an analyst or an index could tell two collections apart by, without row numbers."""
    catalog = engine.catalog
    records = catalog.active_documents()
    found = {record.key: catalog.document_children(record.key) for record in records}
    children = {
        child.key: child_id(record.sha256, child.parent.index, child.index)
        for record in records
        for child in found[record.key]
    }
    v = tables.vectors.c
    files = paths.files(engine.config.workspace)
    indexed = engine.collection.manifest() is not None
    dense, sparse = (engine.collection.dense(), engine.collection.sparse()) if indexed else (None, None)
    return {
        "documents": sorted((one.document_id, one.file, one.source, one.children) for one in records),
        "half done": catalog.read(sql.select(tables.documents.c.key).where(tables.documents.c.status != "active")),
        "texts": sorted(child.text for some in found.values() for child in some),
        "dense": sorted(children.get(key, "?") for key in (dense.filter() if dense else ())),
        "sparse": sorted(children.get(key, "?") for key in (sparse.keys() if sparse else ())),
        "vectors": sorted(str(row[0]) for row in catalog.read(sql.select(v.text_hash))),
        "files": sorted(str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()),
    }


def forms(*words: str) -> list[bytes]:
    """Return the words as bytes, in each way in which a file may hold them."""
    wanted = [word.encode(coding) for word in words for coding in ("utf-8", "utf-16-le", "utf-16-be")]
    return wanted + [word.title().encode() for word in words]


def files_holding(workspace: Path, wanted: Sequence[bytes]) -> Iterator[Path]:
    """Yield the files that hold any of the bytes, also compressed."""
    for path in workspace.rglob("*"):
        if path.is_file() and any(one in part for part in _unpacked(path.read_bytes()) for one in wanted):
            yield path


def _unpacked(content: bytes) -> Iterator[bytes]:
    """Yield the bytes, and what is packed in them by gzip or as a zip, such as a workbook."""
    yield content
    if content.startswith(_GZIP):
        yield from _unpacked(gzip.decompress(content))
    elif content.startswith(_ZIP):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from _unpacked(archive.read(name))
