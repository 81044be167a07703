"""Documents into catalog, vectors and both indexes, so that a crash leaves the old state or the new.

The order makes it safe:

- the vectors are written to disk
- the document's rows are added as `pending`
- both indexes are written
- one transaction makes the group visible and marks the replaced documents as deleting
- the replaced documents are removed
"""

from __future__ import annotations

import hashlib
import json
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.book_index.anchors import IndexRecord, anchors
from rag_engine.chunking.chunk import chunk
from rag_engine.chunking.indexed_text import context_header, encoder_text
from rag_engine.chunking.section.references import find_references, resolve
from rag_engine.config import ChunkingConfig
from rag_engine.protocols import Embedder, Keys, Vectors
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import (
    describe_document,
    insert_page_labels,
    mark_changed,
    metadata_json,
    pack_extracted,
    portions,
    take_keys,
)
from rag_engine.storage.cross_references import insert_references
from rag_engine.storage.erase_document import purge
from rag_engine.storage.index_entries import (
    OWN_INDEX,
    IndexedEntry,
    entries_at,
    entries_to_keep,
    insert_entries,
    stored_entries,
)
from rag_engine.storage.sentence_vectors import pack_sentences, sentence_texts
from rag_engine.storage.stores import Stores, put_dense, write_indexes
from rag_engine.storage.vector_file import sealed
from rag_engine.storage.vector_rows import beyond_used_rows, free_rows, sweep
from rag_engine.types.document import Document, DocumentRecord, ExtractedText, Line, Metadata, former_mark
from rag_engine.types.passage import Parent

# A group becomes visible together: committing the keyword index costs about 90 ms however little it holds.
_GROUP_CHILDREN = 400
_GROUP_SECONDS = 10.0
_PORTION = 512


@dataclass(frozen=True, slots=True)
class FormerVersion:
    """A document that stays when another takes its source: how it is called and described from then on."""

    record: DocumentRecord
    source: str
    metadata: Metadata


def former_version(record: DocumentRecord, newer: Metadata, noticed: str, work: str = "") -> FormerVersion:
    """Return how a document stays that a newer version replaces.

    It is superseded since the date of the newer version, or since it was `noticed` if that has no later date.
    """
    since = newer.since if newer.since > record.metadata.since else noticed
    metadata = replace(
        record.metadata,
        work=work or record.metadata.work or record.origin,
        superseded=record.metadata.superseded or since,
    )
    return FormerVersion(record, f"{record.source}{former_mark(record.sha256)}", metadata)


Encode = Callable[[Sequence[str]], Vectors]


class IndexingStopped(Exception):  # noqa: N818 no error: a person asked for it
    """Indexing was stopped in the middle of a document, which is invisible then."""


class Indexer:
    """The one writer of a workspace; its maker holds the workspace's write lock."""

    def __init__(self, stores: Stores, embedder: Embedder, chunking: ChunkingConfig, *, whole: bool = False) -> None:
        """`whole` keeps every document back until `finish`, so that all become visible at once."""
        self._whole = whole
        self._stores = stores
        self._embedder = embedder
        self._chunking = chunking
        self._free = free_rows(stores).tolist()
        self._group: list[int] = []
        self._former: list[FormerVersion] = []
        self._group_children = 0
        self._group_since = time.monotonic()
        self._waiting: list[DocumentRecord] = []
        # Asked between portions of texts to encode, which takes minutes for a long document.
        self.stopped: Callable[[], bool] = lambda: False

    def add(
        self,
        document: Document,
        fingerprint: str,
        records: Sequence[IndexRecord] = (),
        former: FormerVersion | None = None,
    ) -> int:
        """Index a document, visible with its group or at `flush`, and return the number of its children.

        If `stopped` turns true, IndexingStopped is raised; the next addition finds the vectors made so far.

        `records` belong to the index that the document itself carries. Entries of other indexes stay if the replaced
        version has the same text. The replaced version is removed, unless it is `former`.
        """
        listed = entries_to_keep(self._stores.catalog, document)
        return self.index(_new_record(document), document.extracted, fingerprint, listed, records, former)

    def index(
        self,
        record: DocumentRecord,
        extracted: ExtractedText,
        fingerprint: str,
        listed: Sequence[IndexedEntry] = (),
        records: Sequence[IndexRecord] = (),
        former: FormerVersion | None = None,
    ) -> int:
        """Index a text as the document of the record, and return the number of its children.

        `listed` are entries of indexes; `records` belong to its own index, whose places are yet to be found.
        """
        title, language = record.metadata.title, record.metadata.language
        encode = _cached(self._embedder.encode_passages, self._go_on)
        chunked = chunk(
            extracted.text,
            language,
            title=title,
            blocks=extracted.blocks,
            lines=extracted.lines,
            encode=encode,
            config=self._chunking,
        )
        header = context_header(record.metadata) if self._chunking.header else ""
        children = [(parent, child) for parent in chunked.parents for child in parent.children]
        read = [encoder_text(header, parent, child) for parent, child in children]
        passages = {text: child.text for text, (_, child) in zip(read, children, strict=True)}
        encoded = self._encode(passages, language, encode)
        rows = np.array([encoded[_digest(text)] for text in read], np.int64)
        record = replace(
            record,
            parents=len(chunked.parents),
            children=len(children),
            strategy=chunked.strategy,
            why=chunked.why,
        )
        found = anchors(records, extracted, chunked.parents, language)
        listed = [*listed, *entries_at(records, found, OWN_INDEX)]
        key = self._insert(record, extracted, fingerprint, chunked.parents, rows, listed)
        self._waiting.append(replace(record, key=key))
        self._group.append(key)
        if former is not None:
            self._former.append(former)
        self._group_children += len(children)
        if self._group_children >= _GROUP_CHILDREN or time.monotonic() - self._group_since > _GROUP_SECONDS:
            if self._whole:
                self.prepare()
            else:
                self.flush()
        return len(children)

    def redescribe(self, record: DocumentRecord, metadata: Metadata, fingerprint: str) -> int:
        """Give a document of the collection other metadata, and return the number of its children.

        If the encoder's part of the description is the same, only the catalog and Chroma's facets change.
        """
        changed = replace(record, metadata=metadata)
        if context_header(metadata) != context_header(record.metadata) or metadata.language != record.metadata.language:
            catalog = self._stores.catalog
            return self.index(changed, catalog.extracted(record), fingerprint, stored_entries(catalog, record.key))
        put_dense(self._stores, [changed])
        with self._stores.catalog.begin() as connection:
            describe_document(connection, record.key, metadata, fingerprint)
        return record.children

    def prepare(self) -> None:
        """Bring every document added so far into both indexes, while it is not visible yet."""
        write_indexes(self._stores, self._waiting)
        self._waiting = []

    def flush(self, also: Callable[[Connection], None] = lambda _: None) -> None:
        """Make the documents added so far visible, `also` in one transaction, and remove the replaced."""
        self.prepare()
        with self._stores.catalog.begin() as connection:
            _keep(connection, self._former)
            activate(connection, self._group)
            also(connection)
        kept, self._former = self._former, []
        for version in kept:
            print_ = f"former {version.record.sha256}"
            self.redescribe(replace(version.record, source=version.source), version.metadata, print_)
        if self._group and purge(self._stores, "deleting"):
            self._free = free_rows(self._stores).tolist()
        self._group, self._group_children, self._group_since = [], 0, time.monotonic()

    def finish(self) -> None:
        """Make everything visible and remove vectors that no child uses."""
        self.flush()
        sweep(self._stores)

    def _encode(self, passages: Mapping[str, str], language: str, encode_sentences: Encode) -> dict[str, int]:
        """Return the row of the vector of every passage text, by the text's digest.

        Only new texts are encoded, each with the sentences of its passage. `passages` maps the encoder's text to the
        passage itself.
        """
        hashes = {_digest(text): text for text in passages}
        v = tables.vectors.c
        statement = sql.select(v.text_hash, v.row).where(v.model == self._stores.vectors.model)
        known = dict(self._stores.catalog.read_in(statement, v.text_hash, sorted(hashes)))
        # In portions, so that the next run finds the vectors of an interrupted one.
        for digests in portions([digest for digest in hashes if digest not in known], _PORTION):
            self._go_on()
            texts = [hashes[digest] for digest in digests]
            sentences = [sentence_texts(passages[text], language) for text in texts]
            near = encode_sentences([one for some in sentences for one in some])
            beyond = list(accumulate(len(some) for some in sentences))
            rows = self._take_rows(len(digests))
            self._stores.vectors.write(rows, self._embedder.encode_passages(texts))
            named = [
                {"model": self._stores.vectors.model, "text_hash": digest, "row": row}
                | {"sentences": sealed(pack_sentences(near[end - len(some) : end]))}
                for digest, row, some, end in zip(digests, rows.tolist(), sentences, beyond, strict=True)
            ]
            with self._stores.catalog.begin() as connection:
                connection.execute(sql.insert(tables.vectors), named)
            known |= zip(digests, rows.tolist(), strict=True)
        return known

    def _go_on(self) -> None:
        if self.stopped():
            raise IndexingStopped

    def _take_rows(self, count: int) -> Keys:
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        end = max(len(self._stores.vectors), beyond_used_rows(self._stores))
        return np.array(reused + list(range(end, end + count - len(reused))), np.int64)

    def _insert(
        self,
        record: DocumentRecord,
        extracted: ExtractedText,
        fingerprint: str,
        parents: Sequence[Parent],
        rows: Keys,
        listed: Sequence[IndexedEntry],
    ) -> int:
        """Insert a pending document with its children, and return its key."""
        values = {name: value for name, value in asdict(record).items() if name not in ("key", "page_labels")}
        values |= {"metadata": metadata_json(record.metadata), "fingerprint": fingerprint, "status": "pending"}
        values |= {"model": self._stores.vectors.model}
        # Where nothing is a section, nothing can be referred to.
        sections = any(parent.section for parent in parents)
        edges = resolve(find_references(extracted.text, record.metadata.language), parents) if sections else []
        with self._stores.catalog.begin() as connection:
            inserted = connection.execute(sql.insert(tables.documents).values(values)).inserted_primary_key
            key = int(inserted[0])
            connection.execute(sql.insert(tables.texts).values(document_key=key, **pack_extracted(extracted)))
            insert_page_labels(connection, key, record.page_labels)
            first_parent = _insert_children(connection, key, parents, rows, extracted.lines)
            insert_references(connection, key, first_parent, edges)
            insert_entries(connection, key, listed)
            if extracted.struck:
                struck = [{"document_key": key, **asdict(one)} for one in extracted.struck]
                connection.execute(sql.insert(tables.struck), struck)
            return key


def _insert_children(
    connection: Connection, document: int, parents: Sequence[Parent], rows: Keys, lines: Sequence[Line]
) -> int:
    """Insert parents with their children, and return the key of the first parent, whom the others follow."""
    first_parent = take_keys(connection, "parent", len(parents))
    first_child = take_keys(connection, "child", len(rows))
    parent_rows: list[dict[str, object]] = []
    child_rows: list[dict[str, object]] = []
    for offset, parent in enumerate(parents):
        place = {"page": page_at(lines, parent.start), "last_page": page_at(lines, parent.end - 1)}
        parent_rows.append(
            {"key": first_parent + offset, "document_key": document, "index": parent.index, "start": parent.start}
            | {"end": parent.end, "text": parent.text, "act": parent.act, "section": parent.section}
            | {"headings": json.dumps(parent.headings, ensure_ascii=False), "depth": parent.depth}
            | place
        )
        for child in parent.children:
            start, end = parent.start + child.start, parent.start + child.end
            child_rows.append(
                {"key": first_child + len(child_rows), "document_key": document, "parent_key": first_parent + offset}
                | {"index": child.index, "start": child.start, "end": child.end, "clause": child.clause}
                | {"page": page_at(lines, start), "last_page": page_at(lines, end - 1)}
                | {"vector_row": int(rows[len(child_rows)])}
            )
    if child_rows:
        connection.execute(sql.insert(tables.parents), parent_rows)
        connection.execute(sql.insert(tables.children), child_rows)
    return first_parent


def _keep(connection: Connection, former: Iterable[FormerVersion]) -> None:
    """Give former versions another source, so that their replacement does not remove them."""
    d = tables.documents
    for version in former:
        values = {"source": version.source, "metadata": metadata_json(version.metadata)}
        connection.execute(sql.update(d).where(d.c.key == version.record.key).values(values))


def activate(connection: Connection, keys: Iterable[int]) -> None:
    """Make documents visible, each in the place of its source's and of a former version of its content."""
    d = tables.documents
    for key in keys:
        source, sha256 = connection.execute(sql.select(d.c.source, d.c.sha256).where(d.c.key == key)).one()
        same = d.c.source.in_((source, source + former_mark(sha256)))
        older = sql.and_(same, d.c.key != key, d.c.status == "active")
        connection.execute(sql.update(d).where(older).values(status="deleting"))
        connection.execute(sql.update(d).where(d.c.key == key).values(status="active"))
    mark_changed(connection)


def page_at(lines: Sequence[Line], offset: int) -> int:
    """Return the page of the last line that begins at or before the offset (1 without lines).

    >>> page_at([Line(0, 20, page=1, box=None), Line(22, 40, page=2, box=None)], offset=21)
    1
    """
    place = bisect_right(lines, offset, key=lambda line: line.start) - 1
    return lines[max(place, 0)].page if lines else 1


def _new_record(document: Document) -> DocumentRecord:
    extracted = document.extracted
    return DocumentRecord(
        key=0,
        document_id=document.document_id,
        source=document.source,
        file=document.file,
        sha256=document.sha256,
        media_type=extracted.media_type,
        pages=extracted.pages,
        ocr_pages=len(extracted.ocr_pages),
        page_labels=extracted.page_labels,
        parents=0,
        children=0,
        characters=len(extracted.text),
        added=datetime.now(UTC).isoformat(timespec="seconds"),
        metadata=document.metadata,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _cached(encode: Encode, go_on: Callable[[], None]) -> Encode:
    """Return the same encoder, which reads a text once, and calls `go_on` before each portion of them.

    Topics are recognised by the sentences that are kept with a passage.
    """
    seen: dict[str, Vectors] = {}

    def cached(texts: Sequence[str]) -> Vectors:
        for new in portions(list(dict.fromkeys(text for text in texts if text not in seen)), _PORTION):
            go_on()
            seen.update(zip(new, encode(new), strict=True))
        return np.array([seen[text] for text in texts], np.float32)

    return cached
