"""Visible children at one moment, with documents and vectors, and the view that a search reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import sqlalchemy as sql
from numpy.typing import NDArray

from rag_engine.errors import WorkspaceError
from rag_engine.filters import DOCUMENT, facets_of
from rag_engine.protocols import Keys, Vectors
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.index_entries import CollectionIndex, read_collection_index
from rag_engine.storage.manifest import IndexManifest
from rag_engine.storage.section_index import Act, read_acts
from rag_engine.storage.vector_file import VectorFile, unsealed
from rag_engine.types.document import DocumentRecord

ENCODE = "Run `sextant rebuild --encode`: only texts whose vectors are missing or damaged are encoded again."

# Passages sampled of a language; ten times as many change no mean by more than .001.
_SAMPLE = 1024


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Arrays over the visible children, ascending by key.

    `keys`, `owners` (document keys), `parents` and `rows` (of the vector store) have one entry a child. `facets` maps
    name -> value -> documents, and the filter of single documents their ids.
    """

    change: int
    documents: Mapping[int, DocumentRecord]
    facets: Mapping[str, Mapping[str, frozenset[int]]]
    keys: Keys
    owners: Keys
    parents: Keys
    rows: Keys

    def __len__(self) -> int:
        return len(self.keys)

    def positions(self, keys: Keys) -> NDArray[np.intp]:
        """Return the positions of child keys in the arrays; keys that are not visible are left out."""
        if len(self.keys) == 0:
            return np.zeros(0, np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: NDArray[np.intp] = places[self.keys[places] == keys]
        return found

    def parents_of(self, keys: Keys) -> Keys:
        """Return the parents' keys of visible children, in the order given."""
        return self.parents[np.searchsorted(self.keys, keys)]

    def owner_of(self, key: int) -> int:
        """Return the key of a visible child's document."""
        return int(self.owners[np.searchsorted(self.keys, key)])

    def children_of(self, parents: Collection[int]) -> list[int]:
        """Return the keys of the visible children of parents, ascending."""
        wanted = np.fromiter(parents, np.int64, len(parents))
        children: list[int] = self.keys[np.isin(self.parents, wanted)].tolist() if len(wanted) else []
        return children

    def allowed(self, documents: Collection[int]) -> NDArray[np.intp]:
        """Return the positions in the arrays of the children of the given documents."""
        if len(self.keys) == 0:
            return np.zeros(0, np.intp)
        table = np.zeros(int(self.owners.max()) + 1, bool)
        listed = np.fromiter(documents, np.int64, len(documents))
        table[listed[listed < len(table)]] = True
        return np.flatnonzero(table[self.owners])


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of a collection; languages by their number of documents."""

    documents: int
    parents: int
    children: int
    pages: int
    languages: Mapping[str, int]


def statistics(snapshot: Snapshot) -> Statistics:
    """Return the figures of a collection."""
    records = snapshot.documents.values()
    return Statistics(
        documents=len(records),
        parents=sum(record.parents for record in records),
        children=len(snapshot),
        pages=sum(record.pages for record in records),
        languages={value: len(keys) for value, keys in snapshot.facets.get("language", {}).items()},
    )


def missing_vectors(snapshot: Snapshot, vectors: Vectors, besides: Collection[int] = ()) -> int:
    """Return how many visible children have no vector in the store (rows, dimension).

    Children of the documents `besides` do not count.
    """
    rows = snapshot.rows[~np.isin(snapshot.owners, list(besides))]
    return int((rows >= len(vectors)).sum())


@dataclass(frozen=True, slots=True)
class LanguageSamples:
    """Vectors of some passages of each language of the collection, and the number of its documents."""

    vectors: Mapping[str, Vectors]
    documents: Mapping[str, int]


def draw_samples(snapshot: Snapshot, vectors: Vectors) -> LanguageSamples:
    """Draw up to 1,024 vectors of each language, evenly spread over its passages."""
    drawn = {}
    languages = {key: record.metadata.language for key, record in snapshot.documents.items()}
    codes = sorted(set(languages.values()))
    table = np.zeros(int(snapshot.owners.max(initial=0)) + 1, np.int16)
    for key, language in languages.items():
        if key < len(table):
            table[key] = codes.index(language)
    numbers = table[snapshot.owners]
    for number, language in enumerate(codes):
        positions = np.flatnonzero(numbers == number)
        spread = np.linspace(0, len(positions) - 1, min(len(positions), _SAMPLE)).astype(int)
        drawn[language] = np.array(vectors[np.sort(snapshot.rows[positions[spread]])])
    return LanguageSamples(drawn, Counter(languages.values()))


def read_snapshot(catalog: Catalog, previous: Snapshot | None = None) -> Snapshot:
    """Return the present collection; parts that `previous` already holds are not read again."""
    change = catalog.change()
    if previous is not None and previous.change == change:
        return previous
    documents = {record.key: record for record in catalog.active_documents()}
    known = set(previous.documents) if previous else set()
    fresh = [key for key in documents if key not in known]
    columns = [_read_children(catalog, fresh)]
    if previous is not None:
        kept = np.isin(previous.owners, np.fromiter(documents, np.int64, len(documents)))
        columns.append(
            np.stack([previous.keys[kept], previous.owners[kept], previous.parents[kept], previous.rows[kept]])
        )
    merged = np.concatenate(columns, axis=1)
    merged = merged[:, np.argsort(merged[0], kind="stable")]
    return Snapshot(change, documents, _facets(documents.values()), *merged)


def _read_children(catalog: Catalog, document_keys: list[int]) -> Keys:
    c = tables.children.c
    columns = sql.select(c.key, c.document_key, c.parent_key, c.vector_row)
    rows = catalog.read_in(columns, c.document_key, document_keys)
    return np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 4).T


def _facets(documents: Collection[DocumentRecord]) -> dict[str, dict[str, frozenset[int]]]:
    gathered: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for record in documents:
        gathered[DOCUMENT][record.document_id].add(record.key)
        for name, values in facets_of(record.metadata).items():
            for value in values:
                gathered[name][value].add(record.key)
    return {name: {value: frozenset(keys) for value, keys in values.items()} for name, values in gathered.items()}


@dataclass(frozen=True, eq=False)
class CollectionView:
    """The collection at one moment, as a search reads it.

    Derived values are computed once, at their first use.
    """

    catalog: Catalog
    snapshot: Snapshot
    file: VectorFile
    manifest: IndexManifest

    @property
    def vectors(self) -> Vectors:
        """Every vector of the model, of shape (rows, dimension)."""
        return self.file.all()

    @cached_property
    def samples(self) -> LanguageSamples:
        """Vectors of some passages of each language."""
        return draw_samples(self.snapshot, self.vectors)

    @cached_property
    def index(self) -> CollectionIndex:
        """The entries of all indexes over the visible documents."""
        return read_collection_index(self.catalog, self.snapshot.documents)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """The acts that the visible documents hold, with their sections."""
        return read_acts(self.catalog, self.snapshot.documents)

    def sentences(self, rows: Sequence[int]) -> dict[int, bytes]:
        """Return the packed vectors of the sentences of passages, by the row of the passage's vector.

        WorkspaceError where some are not as they were written.
        """
        kept = self.catalog.sentences(self.manifest.name, rows)
        whole = {row: vectors for row, one in kept.items() if (vectors := unsealed(one)) is not None}
        if lost := self._still_held({*rows} - {*whole}):
            raise WorkspaceError(
                "The vectors of the sentences of {count} passages of {workspace} are missing or damaged, or from "
                "before vectors had checksums.",
                help=ENCODE,
                count=lost,
                workspace=self.catalog.workspace,
            )
        return whole

    def _still_held(self, rows: set[int]) -> int:
        """Return how many of the rows passages still use; rows erased since this moment are not missing."""
        c = tables.children.c
        return sum(1 for _ in self.catalog.read_in(sql.select(c.vector_row), c.vector_row, sorted(rows)))
