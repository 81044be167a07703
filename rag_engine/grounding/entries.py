"""The entries of the collection's indexes, each with every place to which it leads."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_engine.book_index.matching import entry_name
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.index_entries import OWN_GLOSSARY, OWN_INDEX, OWN_SOURCES, stored_entries
from rag_engine.types import DocumentRecord


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """The sentences [start, end) of a document's text, on a page, to which an entry of an index or glossary leads."""

    document: DocumentRecord
    page: int
    start: int
    end: int
    glossary: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of one index with its places, and all documents that this index leads to: the parts of one work.

    `id` stays the same as long as the entry is called the same. `index` is the file of a table, or the document that
    carries the index itself.
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
    """Return the entries that lead to a place in one of the visible documents, index by index, in alphabetical order.

    Two documents with indexes of their own have an entry each, also where both entries are called the same.
    """
    places: defaultdict[tuple[str, str], defaultdict[tuple[str, str], list[EntryPlace]]]
    places = defaultdict(lambda: defaultdict(list))
    for key, document in documents.items():
        for one in stored_entries(catalog, key):
            own = one.source in OWN_SOURCES
            # A document's index and its glossary are one.
            index = (OWN_INDEX if own else one.source, document.source if own else "")
            if one.page:
                place = EntryPlace(document, one.page, one.start, one.end, one.source == OWN_GLOSSARY)
                places[index][one.term, one.subterm].append(place)
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
