"""The truth: documents, their parents, children and places, in one relational database.

A document's row is `pending` while it is being indexed, `active` when it answers and `deleting` while it
is being removed. Only active documents exist for readers, so a crash leaves the old state or the new.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from sys import intern
from typing import Any, TypeVar, get_args

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.backends.sqlite_damage import CURE, damage_reported, damaged_database, find_damage, report_damage
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.schema import (
    TABLES,
    children,
    documents,
    page_labels,
    parents,
    state,
    struck,
    texts,
    vectors,
)
from rag_engine.text.control_characters import without_direction_marks
from rag_engine.text.identifiers import read_identifier
from rag_engine.types.document import Block, BlockKind, Box, DocumentRecord, ExtractedText, Line, Metadata, StruckText
from rag_engine.workspace import catalog_file, files, is_writable, make_folder, records_file

Item = TypeVar("Item")

_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
_LINE = np.dtype([("start", "<i4"), ("end", "<i4"), ("page", "<i4"), ("box", "<f4", (4,))])
# Bytes that a value may unpack to. No document that was read has more; the catalog of a stranger's backup may.
_LARGEST = 2**29
# Sizes in full precision: chunkers compare them, and must repeat their first result.
_BLOCK = np.dtype([("start", "<i4"), ("end", "<i4"), ("page", "<i4"), ("kind", "u1"), ("font_size", "<f8")])
SCHEMA = 1
_PLACE = ("key", "document_key", "index", "start", "end", "page", "last_page")


def pack_text(text: str) -> bytes:
    """Return the text compressed; lone surrogates cannot occur because extraction refuses them."""
    return zlib.compress(text.encode(), 6)


def unpack_text(packed: bytes) -> str:
    """Return the text of `pack_text`."""
    return _unpacked(packed).decode()


def pack_lines(lines: Sequence[Line]) -> bytes:
    """Lines as a compressed array of (start, end, page, box); a line without a box has NaN."""
    rows = [(line.start, line.end, line.page, astuple(line.box) if line.box else (np.nan,) * 4) for line in lines]
    return zlib.compress(np.array(rows, _LINE).tobytes(), 6)


def unpack_lines(packed: bytes) -> tuple[Line, ...]:
    """Return the lines of `pack_lines`."""
    rows = np.frombuffer(_unpacked(packed), _LINE).tolist()
    return tuple(
        Line(start, end, page, None if np.isnan(box[0]) else Box(*box.tolist())) for start, end, page, box in rows
    )


def pack_blocks(blocks: Sequence[Block]) -> bytes:
    """Blocks as a compressed array of (start, end, page, kind, font size); an unknown size is NaN."""
    sizes = (np.nan if block.font_size is None else block.font_size for block in blocks)
    rows = [(b.start, b.end, b.page, _KINDS.index(b.kind), size) for b, size in zip(blocks, sizes, strict=True)]
    return zlib.compress(np.array(rows, _BLOCK).tobytes(), 6)


def unpack_blocks(packed: bytes) -> tuple[Block, ...]:
    """Return the blocks of `pack_blocks`."""
    rows = np.frombuffer(_unpacked(packed), _BLOCK).tolist()
    return tuple(
        Block(start, end, page, _KINDS[kind], None if np.isnan(size) else size) for start, end, page, kind, size in rows
    )


def _unpacked(packed: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        unpacked = inflater.decompress(packed, _LARGEST)
    except zlib.error as error:
        raise _damaged_row(str(error)) from error
    if not inflater.eof:
        raise _damaged_row("it is cut off, or swells to more than any document has")
    return unpacked


def _decoded(kept: str) -> Any:
    try:
        return json.loads(kept)
    except ValueError as error:
        raise _damaged_row(str(error)) from error


def _damaged_row(found: str) -> WorkspaceError:
    """Return the error of a value that is not as it was kept, though SQLite finds the file whole."""
    return WorkspaceError(
        "The catalog's record of a document is damaged: {found}.", help="`sextant doctor` names it.", found=found
    )


def pack_extracted(extracted: ExtractedText) -> dict[str, bytes]:
    """Return a file's text as the catalog keeps it, by column; see `Catalog.extracted`."""
    lines, blocks = pack_lines(extracted.lines), pack_blocks(extracted.blocks)
    return {"text": pack_text(extracted.text), "lines": lines, "blocks": blocks}


_RECORD = [documents.c[name] for name in DocumentRecord.__dataclass_fields__ if name != "page_labels"]
# In the order of the records' fields; headings come last, for they are decoded.
_PARENT = [parents.c[name] for name in (*_PLACE, "text", "act", "section", "depth", "headings")]
_CHILD = [children.c[name] for name in (*_PLACE, "clause")]


def _is_identified(document: DocumentRecord, name: str) -> bool:
    """Return whether a name is an official identifier that a document states, in any spacing."""
    named = read_identifier(name)
    return named is not None and named.value in document.metadata.identifiers


# How documents are named, the strongest names first.
_NAMES: tuple[Callable[[DocumentRecord, str], bool], ...] = (
    lambda document, name: document.source == name,
    lambda document, name: document.document_id == name.lower(),
    lambda document, name: name in (document.file, document.metadata.title),
    _is_identified,
    lambda document, name: len(name) >= 4 and document.document_id.startswith(name.lower()),
)
_CHILD_WITH_PARENT = sql.select(*_CHILD, *_PARENT).join(parents, parents.c.key == children.c.parent_key)


@dataclass(frozen=True, slots=True)
class ParentRecord:
    """A parent as the catalog keeps it; offsets count from the start of the document's text."""

    key: int
    document_key: int
    index: int
    start: int
    end: int
    page: int
    last_page: int
    text: str
    act: str
    section: str
    depth: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChildRecord:
    """A child as the catalog keeps it; offsets count from its parent's start."""

    key: int
    document_key: int
    index: int
    start: int
    end: int
    page: int
    last_page: int
    clause: str
    parent: ParentRecord

    @property
    def text(self) -> str:
        """Text of the child."""
        return self.parent.text[self.start : self.end]


class Catalog:
    """A connection pool to one catalog database."""

    def __init__(
        self, workspace: Path, engine: sql.Engine, visible: str = "active", values: Mapping[str, str] | None = None
    ) -> None:
        """Readers see documents of the status `visible`; `values` are read instead of the workspace's."""
        self.workspace = workspace
        self._engine, self._visible = engine, visible
        self._values = values or {}

    def candidate(self, visible: str, values: Mapping[str, str]) -> Catalog:
        """Return the catalog as it will be read once documents of this status answer, with these named values."""
        return Catalog(self.workspace, self._engine, visible, values)

    def begin(self) -> sql.engine.base.Engine._trans_ctx:  # type: ignore[name-defined]
        """Return a connection in a transaction that commits at the end of the block."""
        return self._engine.begin()

    def read(self, statement: sql.Select[Any] | sql.CompoundSelect[Any]) -> list[tuple[Any, ...]]:
        """All rows of a SELECT."""
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(statement)]

    def read_in(
        self, statement: sql.Select[Any], column: sql.ColumnElement[Any], wanted: Iterable[object]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a SELECT whose column has one of the values, asked in several portions."""
        for some in portions(list(wanted)):
            yield from self.read(statement.where(column.in_(some)))

    def state(self, name: str, default: str = "") -> str:
        """Return a named value of the workspace, or the default."""
        if name in self._values:
            return self._values[name]
        with self._engine.connect() as connection:
            return _value(connection, name) or default

    def change(self) -> int:
        """Return a number that grows with every change that readers may see."""
        return int(self.state("change", "0"))

    def active_documents(self) -> list[DocumentRecord]:
        """Return the documents of the collection, oldest first."""
        visible = documents.c.status == self._visible
        rows, labels = self.read(sql.select(*_RECORD).where(visible).order_by(documents.c.key)), self._page_labels()
        return [_record(row, labels.get(row[0], ())) for row in rows]

    def fingerprints(self) -> list[tuple[DocumentRecord, str]]:
        """Return every document of the collection with the fingerprint of its inputs."""
        statement = sql.select(*_RECORD, documents.c.fingerprint).where(documents.c.status == "active")
        rows, labels = self.read(statement.order_by(documents.c.key)), self._page_labels()
        return [(_record(row[:-1], labels.get(row[0], ())), str(row[-1])) for row in rows]

    def _page_labels(self) -> dict[int, tuple[str, ...]]:
        """Return the labels of the pages of each document that has some, by its key."""
        with self._engine.connect() as connection:
            # A catalog that was made without them may lie where nothing can be added to it.
            if not sql.inspect(connection).has_table(page_labels.name):
                return {}
        # The same few numbers label the pages of every document.
        return {key: tuple(map(intern, str(labels).split("\n"))) for key, labels in self.read(sql.select(page_labels))}

    def find_document(self, name: str) -> DocumentRecord:
        """Return the one document whose source, id, file or title is `name`, or else whose id begins with it.

        A title is a file's own claim: it never counts as the source or the id of another document. A file and a title
        of different documents are ambiguous, as two files are.
        """
        if not name.strip():
            raise InputError("The document's name is empty.", help="Give an id or a file name from `sextant list`.")
        every = self.active_documents()
        found: list[DocumentRecord] = []
        for is_named in _NAMES:
            found = found or [document for document in every if is_named(document, name)]
        # By the name that they share, the present version is meant.
        found = [d for d in found if not d.is_former] or found
        if len(found) > 1:
            ids = [d.document_id for d in found]
            # Files of one content have the same id.
            names = ids if len(set(ids)) == len(ids) else [d.source for d in found]
            raise InputError(
                "{name!r} names {count} documents: {names}.",
                help="Give one of these names.",
                name=name,
                count=len(found),
                names=", ".join(names),
            )
        if not found:
            raise no_document(name)
        return found[0]

    def children(self, keys: Iterable[int]) -> dict[int, ChildRecord]:
        """Return children by key, with their parents' text."""
        return {row[0]: _child(row) for row in self.read_in(_CHILD_WITH_PARENT, children.c.key, keys)}

    def parents(self, keys: Iterable[int]) -> dict[int, ParentRecord]:
        """Parents by key."""
        return {row[0]: _parent(row) for row in self.read_in(sql.select(*_PARENT), parents.c.key, keys)}

    def sentences(self, model: str, rows: Sequence[int]) -> dict[int, bytes]:
        """Packed vectors of passages' sentences with their checksums, by the row of the passage's vector."""
        v = vectors.c
        return dict(self.read_in(sql.select(v.row, v.sentences).where(v.model == model), v.row, rows))

    def document_children(self, document_key: int) -> list[ChildRecord]:
        """All children of a document in reading order."""
        statement = _CHILD_WITH_PARENT.where(children.c.document_key == document_key).order_by(children.c.key)
        return [_child(row) for row in self.read(statement)]

    def text(self, document_key: int) -> str:
        """Return the document's whole text."""
        rows = self.read(sql.select(texts.c.text).where(texts.c.document_key == document_key))
        return unpack_text(rows[0][0]) if rows else ""

    def lines(self, document_key: int) -> tuple[Line, ...]:
        """Return the position of every line of the document's text."""
        rows = self.read(sql.select(texts.c.lines).where(texts.c.document_key == document_key))
        return unpack_lines(rows[0][0]) if rows else ()

    def struck(self, document_keys: Iterable[int]) -> dict[int, tuple[StruckText, ...]]:
        """Return what documents show struck out, by document, in the order of their texts."""
        c = struck.c
        # A catalog that cannot be written may come from a version that had no such table.
        if not sql.inspect(self._engine).has_table(struck.name):
            return {}
        statement = sql.select(c.document_key, c.start, c.page, c.text).order_by(c.document_key, c.start, c.key)
        found: dict[int, tuple[StruckText, ...]] = {}
        for key, *place in self.read_in(statement, c.document_key, document_keys):
            found[key] = (*found.get(key, ()), StruckText(*place))
        return found

    def page_at(self, document_key: int, offset: int) -> int:
        """Return the page of the last line that begins at or before the offset (1 without lines)."""
        rows = self.read(sql.select(texts.c.lines).where(texts.c.document_key == document_key))
        lines = np.frombuffer(_unpacked(rows[0][0]), _LINE) if rows else np.zeros(0, _LINE)
        place = int(np.searchsorted(lines["start"], offset, side="right")) - 1
        return int(lines["page"][max(place, 0)]) if lines.size else 1

    def extracted(self, record: DocumentRecord) -> ExtractedText:
        """Return the kept content of the document's file, to be cut again."""
        t = texts.c
        rows = self.read(sql.select(t.text, t.lines, t.blocks).where(t.document_key == record.key))
        if not rows:
            raise _damaged_row(f"the text of {record.file} is missing")
        [(text, lines, blocks)] = rows
        return ExtractedText(
            text=unpack_text(text),
            pages=record.pages,
            lines=unpack_lines(lines),
            blocks=unpack_blocks(blocks),
            media_type=record.media_type,
            title=record.metadata.title,
            struck=self.struck([record.key]).get(record.key, ()),
            page_labels=record.page_labels,
        )

    def damaged_documents(self) -> list[DocumentRecord]:
        """Return the documents with a damaged value, although the database's file is whole.

        Their texts are compressed with a checksum, and every parent is a span of its text. It takes a second for 2,000
        passages.
        """
        return [record for record in self.active_documents() if not self._agrees(record)]

    def _agrees(self, record: DocumentRecord) -> bool:
        try:
            text = self.extracted(record).text
            kept = {child.parent.key: child.parent for child in self.document_children(record.key)}
        except (WorkspaceError, ValueError):
            return False
        return all(parent.text == text[parent.start : parent.end] for parent in kept.values())

    def checkpoint(self) -> None:
        """Remove erased content from the write-ahead log."""
        if self._engine.dialect.name == "sqlite":
            with self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def open_catalog(workspace: Path, url: str | sql.URL = "") -> Catalog:
    """Return the workspace's catalog, made if it is missing; `url` names another database (PostgreSQL).

    Where the folder cannot be written the catalog is read as it lies there, and nothing is kept in it.
    """
    written = bool(url) or is_writable(workspace)
    if not url:
        if written:
            make_folder(workspace)
        _check_not_lost(workspace)
    try:
        # An error of the database ends in logs and records, which no erasure looks into: it repeats no values.
        engine = sql.create_engine(url or _file_address(workspace, written=written), hide_parameters=True)
    except (sql.exc.ArgumentError, ModuleNotFoundError) as error:
        raise InputError(
            # Neither the address, which may hold a password, nor SQLAlchemy's words where they quote it.
            "SEXTANT_CATALOG_URL cannot be used: {error}.",
            help="Give it as postgresql+psycopg://USER:PASSWORD@HOST/NAME, with psycopg installed.",
            error=str(error).replace(str(url), "…"),
        ) from error
    if engine.dialect.name == "sqlite":
        path = Path(engine.url.database or "") if url else catalog_file(workspace)
        if written:
            sql.event.listen(engine, "connect", partial(_configure_sqlite, path))
        sql.event.listen(engine, "handle_error", partial(report_damage, path))
    try:
        with engine.connect() as connection:
            # Before anything is written: a newer Sextant keeps other things in the tables.
            _check_schema(connection, workspace)
        if written:
            TABLES.create_all(engine)
            with engine.begin() as connection:
                if _value(connection, "schema") is None:
                    set_state(connection, "schema", str(SCHEMA))
                    set_state(connection, "workspace", secrets.token_hex(4))
    except sql.exc.DatabaseError as error:
        raise WorkspaceError(
            "The catalog {catalog} cannot be opened: {error}.",
            help="Check that the file is a Sextant catalog, the disk has room and the folder can be written, or name "
            "another --workspace.",
            # Of a file its path: an address of a database is nothing that a person has named.
            catalog=path if engine.dialect.name == "sqlite" else engine.url.render_as_string(),
            error=error.orig,
        ) from error
    return Catalog(workspace, engine)


def _file_address(workspace: Path, *, written: bool) -> sql.URL:
    """Return the address of the catalog's file; WorkspaceError if a log must first be written into it.

    Of its parts: within an address a "?" of the path would begin a query, and another file be opened.
    """
    path = catalog_file(workspace)
    if written:
        return sql.URL.create("sqlite", database=str(path))
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise WorkspaceError(
            "{workspace} cannot be written, and its latest changes are still in {log}.",
            help="Run `sextant list` once where the folder can be written, then copy it again.",
            workspace=workspace,
            log=log,
        )
    # Neither a lock nor a log can be made there, and the file does not change meanwhile.
    return sql.URL.create(
        "sqlite", database=path.absolute().as_uri(), query={"uri": "true", "mode": "ro", "immutable": "1"}
    )


def check_databases(workspace: Path, url: str = "") -> None:
    """Raise WorkspaceError where a page of a database's file is damaged; a second for 300 MB."""
    for path in (catalog_file(workspace), records_file(workspace)):
        found = find_damage(path) if path.is_file() and not (url and path == catalog_file(workspace)) else []
        if found:
            raise damaged_database(path, found[0])


def is_lost(workspace: Path, path: Path) -> bool:
    """Return whether a database's file is gone or empty, though the workspace holds its documents."""
    if path.is_file() and path.stat().st_size:
        return False
    return files(workspace).is_dir() and any(files(workspace).iterdir())


def _check_not_lost(workspace: Path) -> None:
    """Raise WorkspaceError for a lost catalog: over an empty one, a writer would remove every original."""
    if is_lost(workspace, catalog_file(workspace)):
        raise WorkspaceError(
            "The catalog {catalog} is missing or empty, and the workspace holds documents.",
            help=CURE,
            catalog=catalog_file(workspace),
        )


def portions(items: Sequence[Item], size: int = 500) -> Iterator[Sequence[Item]]:
    """Yield the items in pieces of at most that size.

    >>> list(portions([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    return (items[first : first + size] for first in range(0, len(items), size))


def set_state(connection: Connection, name: str, value: str) -> None:
    """Store a named value of the workspace."""
    connection.execute(sql.delete(state).where(state.c.name == name))
    connection.execute(sql.insert(state).values(name=name, value=value))


def no_document(name: str) -> InputError:
    """Return the error of a name that no document has."""
    return InputError("No document is called {name!r}.", help="`sextant list` shows ids and file names.", name=name)


def all_active(connection: Connection, document_ids: Iterable[str]) -> bool:
    """Return whether the collection has each of the documents.

    Asked in the transaction that writes what quotes them, after its first write: an erasure comes before or after it.
    """
    wanted, d = set(document_ids), documents.c
    found = connection.execute(sql.select(d.document_id).where(d.document_id.in_(wanted), d.status == "active"))
    return wanted == {str(row[0]) for row in found}


def take_keys(connection: Connection, name: str, count: int) -> int:
    """Return the first of `count` keys that were never given before.

    A reader may still hold the key of an erased row.
    """
    last = int(_value(connection, f"last {name}") or 0)
    set_state(connection, f"last {name}", str(last + count))
    return last + 1


def mark_changed(connection: Connection) -> None:
    """Tell readers that the visible documents have changed."""
    set_state(connection, "change", str(int(_value(connection, "change") or 0) + 1))


def describe_document(connection: Connection, key: int, metadata: Metadata, fingerprint: str = "") -> None:
    """Give a document other metadata, and another fingerprint if one is given."""
    values = {"metadata": metadata_json(metadata)} | ({"fingerprint": fingerprint} if fingerprint else {})
    connection.execute(sql.update(documents).where(documents.c.key == key).values(values))
    mark_changed(connection)


def metadata_json(metadata: Metadata) -> str:
    """Return the metadata as one line of JSON with stable order, without marks of direction."""
    return without_direction_marks(json.dumps(asdict(metadata), ensure_ascii=False, sort_keys=True))


def read_metadata(values: Mapping[str, Any]) -> Metadata:
    """Return metadata from decoded JSON; lists become tuples."""
    decoded: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    return Metadata(**decoded)


def insert_page_labels(connection: Connection, key: int, labels: Sequence[str]) -> None:
    """Insert the labels of a document's pages, if it has some."""
    if labels:
        connection.execute(sql.insert(page_labels).values(document_key=key, labels="\n".join(labels)))


def _record(row: Sequence[Any], labels: tuple[str, ...]) -> DocumentRecord:
    values = {column.name: value for column, value in zip(_RECORD, row, strict=True)}
    metadata = read_metadata(_decoded(values["metadata"]))
    return DocumentRecord(**values | {"metadata": metadata, "page_labels": labels})


def _child(row: Sequence[Any]) -> ChildRecord:
    values = [*row[: len(_CHILD)], _parent(row[len(_CHILD) :])]
    return ChildRecord(*values)


def _parent(row: Sequence[Any]) -> ParentRecord:
    values = [*row[:-1], tuple(_decoded(row[-1]))]
    return ParentRecord(*values)


def _value(connection: Connection, name: str) -> str | None:
    value: str | None = connection.execute(sql.select(state.c.value).where(state.c.name == name)).scalar()
    return value


def _check_schema(connection: Connection, workspace: Path) -> None:
    """Raise WorkspaceError for a catalog that another Sextant made and this one cannot read."""
    schema = _value(connection, "schema") if sql.inspect(connection).has_table(state.name) else None
    if schema in (None, str(SCHEMA)):
        return
    raise WorkspaceError(
        "The catalog of {workspace} was made by a newer Sextant: it has schema {schema}, this one reads {current}.",
        help="Install a Sextant at least as new as the one that made it, or name another --workspace.",
        workspace=workspace,
        schema=schema,
        current=SCHEMA,
    )


def _configure_sqlite(path: Path, connection: Any, _record: object) -> None:
    # WAL lets readers go on while a document is written; secure_delete overwrites what is erased. FULL, because
    # vectors are overwritten on the disk right after the commit that frees them: it must outlast a power failure.
    with damage_reported(path), closing(connection.cursor()) as cursor:
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "secure_delete=ON",
            "busy_timeout=30000",
            "cache_size=-32000",
        ):
            cursor.execute(f"PRAGMA {pragma}")
