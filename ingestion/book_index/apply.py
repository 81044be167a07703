"""An index table in a separate file, applied to the documents that it names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath

from ingestion.book_index.index_records import index_of_file
from ingestion.book_index.page_numbers import PageNumbers, page_numbers
from ingestion.protocols import Extractor
from rag_engine.book_index.anchors import CachedQuery, IndexRecord, IndexTable, anchors, query_cache
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.processes.writer_lock import write_lock
from rag_engine.storage.catalog import ChildRecord
from rag_engine.storage.index_entries import OWN_SOURCES, IndexedEntry, entries_at, index_sources, replace_index
from rag_engine.types.document import DocumentRecord
from rag_engine.types.passage import Child, Parent

_PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class AppliedTo:
    """The records of an index that name one document.

    `entries` of the index have `places` in it; at `named` of these the page names the entry's words. `lost` are
    pages that the index names and that the document does not have, or that bear no text.
    """

    document_id: str
    file: str
    entries: int
    places: int
    named: int
    lost: int


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of applying an index: documents, file names without a single match, query cache."""

    source: str
    documents: tuple[AppliedTo, ...]
    unmatched: tuple[str, ...]
    warnings: tuple[Message, ...]
    queries: tuple[CachedQuery, ...]


def apply_index(path: Path, engine: Engine, reader: Extractor, *, document: str = "") -> Applied:
    """Apply the index in a file to the collection, in place of the former one from a file of this name.

    Its records belong to the documents whose files they name; records without a file belong to `document` (id, file or
    title). The numbers of a table are pages of the files; the numbers of a printed index are printed pages of
    `document`. InputError if it has nothing for any document; the former index then stays.
    """
    given = engine.catalog.find_document(document) if document else None
    table = index_of_file(path, reader, numbers=_numbers(given, engine, reader) if given else None)
    with write_lock(engine.config.workspace):
        documents = engine.collection.documents()
        matched, unmatched = match_documents(table.records, documents, given)
        if not matched:
            raise _nothing_matched(path, table, unmatched)
        by_key = {record.key: record for record in documents}
        found = [_place(by_key[key], records, engine, path.name) for key, records in matched.items()]
        replace_index(engine.catalog, path.name, dict(zip(matched, (listed for listed, *_ in found), strict=True)))
    nameless = sum(not record.file and bool(record.pages) for record in table.records)
    warning = Message(
        "{count} entries name no file and were left out; give their document with --document.", count=nameless
    )
    return Applied(
        source=path.name,
        documents=tuple(applied for _, applied, _ in found),
        unmatched=unmatched,
        warnings=(*table.warnings, warning) if nameless and given is None else table.warnings,
        queries=tuple(query for *_, queries in found for query in queries),
    )


def remove_index(name: str, engine: Engine) -> int:
    """Remove an index table by its file name; return the number of documents that it listed."""
    with write_lock(engine.config.workspace):
        sources = index_sources(engine.catalog)
        # The index that a document carries goes with the document alone.
        sources = {name: count for name, count in sources.items() if name not in OWN_SOURCES}
        if name not in sources:
            known = f"Applied are: {', '.join(sources)}." if sources else "No table is applied."
            raise InputError("No table called {name!r} is applied to this collection.", help=known, name=name)
        replace_index(engine.catalog, name, {})
    return sources[name]


def match_documents(
    records: Sequence[IndexRecord], documents: Sequence[DocumentRecord], given: DocumentRecord | None
) -> tuple[dict[int, list[IndexRecord]], tuple[str, ...]]:
    """Return the records of each document by its key, and the file names without a single match.

    A record without a file belongs to `given`. A record with references alone then holds for every document.
    """
    keys: dict[str, int] = {}
    unmatched: dict[str, None] = {}
    for name in dict.fromkeys(record.file for record in records if record.file):
        found = _called(name, documents)
        if len(found) == 1:
            keys[name] = found[0].key
        else:
            ids = ", ".join(document.document_id for document in found)
            unmatched[f"{name} ({ids}; give one of these ids instead)" if found else name] = None
    matched: dict[int, list[IndexRecord]] = {}
    for record in records:
        key = keys.get(record.file) if record.file else given.key if given else None
        if key is not None and (record.pages or record.see):
            matched.setdefault(key, []).append(record)
    referring = [record for record in records if not record.file and record.see and not record.pages]
    for own in matched.values():
        own += [record for record in referring if record not in own]
    return matched, tuple(unmatched)


def parents_of(children: Sequence[ChildRecord]) -> Iterator[Parent]:
    """Yield the parents of a document's children in reading order, without their depth."""
    for _, group in groupby(children, key=lambda child: child.parent.key):
        own = list(group)
        parent = own[0].parent
        yield Parent(
            index=parent.index,
            start=parent.start,
            end=parent.end,
            text=parent.text,
            children=tuple(Child(one.index, one.start, one.end, one.text, one.clause) for one in own),
            act=parent.act,
            section=parent.section,
            headings=parent.headings,
        )


def _place(
    document: DocumentRecord, records: Sequence[IndexRecord], engine: Engine, source: str
) -> tuple[list[IndexedEntry], AppliedTo, list[CachedQuery]]:
    """Return where the records lead in a document.

    It comes in three forms: entries for the catalog, counts, and queries for the cache.
    """
    extracted = engine.catalog.extracted(document)
    parents = list(parents_of(engine.catalog.document_children(document.key)))
    found = anchors(records, extracted, parents, document.metadata.language)
    applied = AppliedTo(
        document_id=document.document_id,
        file=document.file,
        entries=len({(anchor.term, anchor.subterm) for anchor in found}),
        places=len(found),
        named=sum(anchor.found for anchor in found),
        lost=sum(len(set(record.pages)) for record in records) - len(found),
    )
    return list(entries_at(records, found, source)), applied, query_cache(found, extracted, document.file)


def _numbers(document: DocumentRecord, engine: Engine, reader: Extractor) -> PageNumbers:
    """Return how the pages of a document are numbered; from 1 where it is no PDF."""
    if document.media_type != _PDF:
        return PageNumbers({}, 0, document.pages, "")
    printed = reader.lines(engine.collection.stored_file(document), ())
    return page_numbers(document.page_labels or printed.labels, printed.margins_by_page(), document.pages)


def _called(name: str, documents: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """Return the documents that a table means by a name of a file or by an id.

    The name may lack its folder or its ending.
    """
    sought = _folded(name)
    ways: tuple[Mapping[int, str], ...] = (
        {document.key: _folded(document.file) for document in documents},
        {document.key: _folded(PurePosixPath(document.file).stem) for document in documents},
        {document.key: document.document_id for document in documents},
    )
    found = ([document for document in documents if way[document.key] == sought] for way in ways)
    return next((some for some in found if some), [])


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2].strip()).casefold()


def _nothing_matched(path: Path, table: IndexTable, unmatched: Sequence[str]) -> InputError:
    if unmatched:
        named = ", ".join(unmatched[:5]) + (" ..." if len(unmatched) > 5 else "")
        return InputError(
            "{file} names no document of this collection, but {named}.",
            help="`sextant list` shows what the files are called.",
            file=path.name,
            named=named,
        )
    if any(record.pages or record.printed for record in table.records):
        return InputError(
            "{file} does not say which files its pages are of.",
            help="Name the document with --document.",
            file=path.name,
        )
    return InputError("{file} has terms but no pages.", help="A table needs a column of pages.", file=path.name)
