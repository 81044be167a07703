"""The knowledge base in the catalog: entries of indexes, their grounds, and the texts on them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sql
from pydantic import TypeAdapter

from rag_engine.answering.reference_list import CitedDocument, references_of
from rag_engine.book_index.matching import entry_name
from rag_engine.messages import Message
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, all_active
from rag_engine.storage.index_entries import OWN_GLOSSARY, OWN_INDEX, OWN_SOURCES, stored_entries
from rag_engine.text.file_kinds import page_cell
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import AnswerStatus, Citation, SentenceSupport
from rag_engine.types.document import DocumentRecord


@dataclass(frozen=True, slots=True)
class GroundedContext:
    """A cached query: the sentences to which an entry leads on a page; `n` is the source that holds them."""

    n: int
    file: str
    page: int
    text: str
    page_label: str | None = None

    @property
    def named_page(self) -> dict[int, str | None]:
        """Its page with the number printed on it, as `pages_text` takes them."""
        return {self.page: self.page_label}


@dataclass(frozen=True, slots=True)
class GroundedSource:
    """A passage, or other sentences, that a text cites as [Source n].

    `start` and `end` are offsets in the document's text. `cosine` is the best of the entry's cached queries, None for
    sentences to which the index itself leads. Authority, year and licence are the document's.
    """

    n: int
    document_id: str
    file: str
    title: str
    page: int
    last_page: int
    start: int
    end: int
    text: str
    cosine: float | None
    authority: str = ""
    year: int | None = None
    licence: str = ""
    page_label: str | None = None

    @property
    def named_page(self) -> dict[int, str | None]:
        """Its page with the number printed on it, as `pages_text` takes them."""
        return {self.page: self.page_label}


@dataclass(frozen=True, slots=True)
class GroundedQuote:
    """The sentence of a source that supports a text, with its page."""

    n: int
    page: int
    quote: str
    page_label: str | None = None


@dataclass(frozen=True, slots=True)
class GroundedEntry:
    """An entry of an index with its cached queries, its best passages, and a short text that cites them.

    `text` is written by `generator`, "extractive" for quotations; it is empty where the passages say nothing about the
    entry, as `status` tells. `support` labels the sentences of a model.
    """

    id: str
    index: str
    term: str
    subterm: str
    language: str
    contexts: tuple[GroundedContext, ...]
    sources: tuple[GroundedSource, ...]
    status: AnswerStatus
    text: str
    quotes: tuple[GroundedQuote, ...]
    support: tuple[SentenceSupport, ...]
    generator: str
    warnings: tuple[Message, ...]
    written: str

    @property
    def name(self) -> str:
        """The entry as a reader looks it up: "loss and damage, finance for"."""
        return entry_name(self.term, self.subterm)

    def listed_pages(self, words: Wording = ENGLISH) -> str:
        """Return the pages that the index lists, each once: their numbers, or as they are printed."""
        cells = (page_cell(one.file, one.page, one.page_label, words) for one in self.contexts)
        return ", ".join(dict.fromkeys(str(cell) for cell in cells if cell is not None))

    @property
    def references(self) -> tuple[CitedDocument, ...]:
        """The documents that the text cites, each once."""
        sources = {source.n: source for source in self.sources}
        return references_of(_citation(sources[quote.n], quote) for quote in self.quotes if quote.n in sources)


def _citation(source: GroundedSource, quote: GroundedQuote) -> Citation:
    return Citation(
        n=source.n,
        child_id="",
        document_id=source.document_id,
        file=source.file,
        title=source.title,
        page=quote.page,
        quote=quote.quote,
        start=source.start,
        end=source.end,
        authority=source.authority,
        year=source.year,
        licence=source.licence,
        page_label=quote.page_label,
    )


@dataclass(frozen=True, slots=True)
class Grounding:
    """A grounded entry with the hashes of its inputs.

    `basis` is of the collection's state, cheap to compare; `fingerprint` of the passages and sentences themselves.
    """

    entry: GroundedEntry
    basis: str
    fingerprint: str


_CODEC = TypeAdapter(GroundedEntry)


class KnowledgeBase:
    """The grounded entries of a workspace.

    When a document is removed, entries that quote it are removed too (rag_engine/storage/erase_document.py).
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def groundings(self) -> dict[str, Grounding]:
        """Return everything that is kept, by the id of the entry."""
        g = tables.groundings.c
        rows = self._catalog.read(sql.select(g.basis, g.fingerprint, g.content).order_by(g.id))
        read = (Grounding(_CODEC.validate_json(content), basis, print_) for basis, print_, content in rows)
        return {one.entry.id: one for one in read}

    def entries(self, documents: Mapping[int, DocumentRecord]) -> list[GroundedEntry]:
        """Return the grounded entries of the indexes over the visible documents, in index order."""
        kept = self.groundings()
        return [kept[entry.id].entry for entry in index_entries(self._catalog, documents) if entry.id in kept]

    def keep(self, grounding: Grounding) -> None:
        """Store an entry in place of its former state, unless a document that it quotes has gone."""
        entry = grounding.entry
        content = _CODEC.dump_json(entry).decode()
        values = {"basis": grounding.basis, "fingerprint": grounding.fingerprint, "content": content}
        documents = dict.fromkeys(source.document_id for source in entry.sources)
        rows: list[dict[str, object]] = [{"document_id": document, "grounding": entry.id} for document in documents]
        with self._catalog.begin() as connection:
            _remove(connection, [entry.id])
            if not all_active(connection, documents):
                return
            connection.execute(sql.insert(tables.groundings).values(id=entry.id, **values))
            if rows:
                connection.execute(sql.insert(tables.grounded_documents), rows)

    def remove(self, ids: Collection[str]) -> None:
        """Remove the groundings of entries."""
        with self._catalog.begin() as connection:
            _remove(connection, ids)


def _remove(connection: sql.Connection, ids: Iterable[str]) -> None:
    for id in ids:
        connection.execute(sql.delete(tables.groundings).where(tables.groundings.c.id == id))
        connection.execute(sql.delete(tables.grounded_documents).where(tables.grounded_documents.c.grounding == id))


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """The sentences of a document to which an entry of an index or glossary leads.

    They are the characters [start, end) of the document's text, on a page.
    """

    document: DocumentRecord
    page: int
    start: int
    end: int
    glossary: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of one index with its places, and all documents of the index: the parts of one work.

    `id` stays the same while the entry keeps its name. `index` is the file of a table, or the document that carries the
    index itself.
    """

    id: str
    index: str
    term: str
    subterm: str
    places: tuple[EntryPlace, ...]
    work: tuple[DocumentRecord, ...]

    @property
    def name(self) -> str:
        """The entry as a reader looks it up: "loss and damage, finance for"."""
        return entry_name(self.term, self.subterm)

    @property
    def language(self) -> str:
        """ISO 639-1 code of the document to which it leads first."""
        return self.places[0].document.metadata.language


def index_entries(catalog: Catalog, documents: Mapping[int, DocumentRecord]) -> list[ListedEntry]:
    """Return the entries that lead to a place in a visible document, index by index, alphabetically.

    Two documents that carry an index have an entry each, also if both entries have the same name.
    """
    places: defaultdict[tuple[str, str], defaultdict[tuple[str, str], list[EntryPlace]]]
    places = defaultdict(lambda: defaultdict(list))
    for key, document in documents.items():
        for entry in stored_entries(catalog, key):
            own = entry.source in OWN_SOURCES
            # A document's index and its glossary are one.
            index = (OWN_INDEX if own else entry.source, document.source if own else "")
            if entry.page:
                place = EntryPlace(document, entry.page, entry.start, entry.end, entry.source == OWN_GLOSSARY)
                places[index][entry.term, entry.subterm].append(place)
    found: list[ListedEntry] = []
    for (source, document_source), entries in sorted(places.items()):
        work = {place.document.key: place.document for several in entries.values() for place in several}
        parts = tuple(work[key] for key in sorted(work))
        name = parts[0].file if source == OWN_INDEX else source
        found += [
            ListedEntry(
                id=hashlib.sha256("\0".join((source, document_source, term, subterm)).encode()).hexdigest()[:24],
                index=name,
                term=term,
                subterm=subterm,
                places=tuple(dict.fromkeys(several)),
                work=parts,
            )
            for (term, subterm), several in sorted(
                entries.items(), key=lambda item: (item[0][0].casefold(), item[0][1].casefold(), item[0])
            )
        ]
    return found
