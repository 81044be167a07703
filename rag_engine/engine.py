"""Questions to cited answers over one workspace; the only place that wires backends."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_engine import workspace as paths
from rag_engine.answering.extractive import ExtractiveAnswerer
from rag_engine.answering.generation import answer
from rag_engine.answering.page_image import page_marks, sheet
from rag_engine.backends.chroma import ChromaIndex, collection_name, open_chroma
from rag_engine.backends.language_identification import identify_language
from rag_engine.backends.page_renderer import PageRenderer
from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.config import Config, RetrievalConfig
from rag_engine.errors import BackendError, InputError, SextantError, WorkspaceError
from rag_engine.filters import Facets, Filter, allowed_documents, answering_documents
from rag_engine.geography import Gazetteer, geographic_boost, load_gazetteer
from rag_engine.models import Models
from rag_engine.planning.plan import plan_question
from rag_engine.protocols import Embedder, Generator, Vectors
from rag_engine.retrieval.book_index_boost import CollectionIndex, NamedPlaces, named_places, read_collection_index
from rag_engine.retrieval.language_scale import LanguageSamples, draw_samples
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.retrieval.search import Searchable
from rag_engine.storage.catalog import Catalog, open_catalog, set_state
from rag_engine.storage.collection import IndexManifest, Stores, check, manifest_of, read_manifest, stored_file
from rag_engine.storage.deletion import Erasure, erase, recover, sweep
from rag_engine.storage.indexer import Indexer, page_finder
from rag_engine.storage.rebuild import Progress, encode_again, flip, refill
from rag_engine.storage.snapshot import Snapshot, Statistics, missing, read_snapshot, statistics
from rag_engine.storage.vector_file import VectorStore
from rag_engine.types import Answer, DocumentRecord, Evidence, Metadata, QueryPlan

# A language of fewer documents is no more likely to be asked in than any other.
_HELD_SHARE = 0.05


class Engine:
    """One workspace. Reading is safe from several threads; writing takes the workspace's write lock."""

    def __init__(self, config: Config, *, embedder: Embedder | None = None) -> None:
        """`embedder` stands in for the configured encoder."""
        self.config = config
        self.catalog: Catalog = open_catalog(config.workspace, config.catalog_url)
        self._lock = threading.RLock()
        self._models = Models(config, embedder)
        self._page_renderer = PageRenderer()
        self._sparse: tuple[int, TantivyIndex] | None = None
        self._dense: ChromaIndex | None = None
        self._dense_url = ""
        self._snapshot: Snapshot | None = None
        self._vectors: VectorStore | None = None
        self._samples: LanguageSamples | None = None
        self._index: CollectionIndex | None = None

    # --- what there is

    def snapshot(self) -> Snapshot:
        """The collection at this moment."""
        with self._lock:
            self._snapshot = read_snapshot(self.catalog, self._snapshot)
            return self._snapshot

    def documents(self, wanted: Filter | None = None) -> list[DocumentRecord]:
        """The documents that a filter allows, oldest first."""
        snapshot = self.snapshot()
        allowed = allowed_documents(wanted or {}, snapshot.facets)
        return [record for key, record in snapshot.documents.items() if allowed is None or key in allowed]

    def facets(self) -> Facets:
        """For each facet its values with the documents that have them."""
        return self.snapshot().facets

    def statistics(self) -> Statistics:
        """Figures of the collection."""
        return statistics(self.snapshot())

    def stored_file(self, document: DocumentRecord) -> Path:
        """The workspace's copy of a document."""
        return stored_file(paths.files(self.config.workspace), document)

    # --- questions

    def plan(self, question: str) -> QueryPlan:
        """The question taken apart, by the language model when one answers, else by rules."""
        generator, warning = self.language_model()
        plan = plan_question(
            question,
            identify=self.language_of,
            gazetteer=self.gazetteer(),
            generator=generator,
            config=self.config,
        )
        return replace(plan, warnings=(*plan.warnings, warning)) if warning else plan

    def language_of(self, question: str) -> str:
        """ISO 639-1 code of a question's language, rather one that the collection holds; "" when it cannot be told."""
        snapshot = self.snapshot()
        held = snapshot.facets.get("language", {})
        likely = [code for code, keys in held.items() if len(keys) >= _HELD_SHARE * len(snapshot.documents)]
        return identify_language(question, likely)

    def search(self, question: str, wanted: Filter | None = None, retrieval: RetrievalConfig | None = None) -> Evidence:
        """The passages that bear on the question, from the documents the filter allows."""
        started = time.perf_counter()
        # A filter that names nothing is said before a model is asked for a plan.
        snapshot = self.snapshot()
        answering_documents(wanted or {}, snapshot.facets, snapshot.documents)
        plan = self.plan(question)
        planned = time.perf_counter() - started
        snapshot = self.snapshot()
        allowed = answering_documents(wanted or {}, snapshot.facets, snapshot.documents)
        if not snapshot.documents or self._note() is None:
            return Evidence(plan, (), (), (*plan.warnings, "The collection is empty: add documents first."), {})
        evidence = retrieve(plan, allowed, self.searchable(snapshot), retrieval or self.config.retrieval)
        return replace(evidence, seconds={"plan": planned, **evidence.seconds})

    def searchable(self, snapshot: Snapshot | None = None) -> Searchable:
        """The collection with all that searches it, at this moment unless a snapshot is given."""
        note, seen = self._require_note(), snapshot or self.snapshot()
        vectors = self._vector_store(note.name, note.dimension).all()
        if int(seen.rows.max(initial=-1)) >= len(vectors):
            raise WorkspaceError(
                f"Vectors of {self.config.workspace} are missing: {len(vectors)} are on the disk.",
                help="Run `sextant rebuild --encode`.",
            )
        return Searchable(
            snapshot=seen,
            catalog=self.catalog,
            vectors=vectors,
            sentences=lambda rows: self.catalog.sentences(note.name, rows),
            dense=self._dense_index,
            sparse=self._sparse_index,
            embedder=self._noted_embedder,
            reranker=self._models.reranker,
            calibration=note.calibration,
            samples=lambda: self._language_samples(seen, vectors),
            listed=lambda plan: self._listed(seen, plan),
            boost=self._boost,
        )

    def load_in_background(self) -> None:
        """Begin to load what the first question and its page would wait for; errors are reported when it is needed."""
        self._page_renderer.start()
        threading.Thread(target=self._load_models, name="load the models", daemon=True).start()

    def _load_models(self) -> None:
        with suppress(SextantError):
            self.embedder()
            if self.config.retrieval.rerank:
                self._models.reranker()

    def retrieval(self, **changes: Any) -> RetrievalConfig:
        """The configured retrieval with some values changed."""
        return replace(self.config.retrieval, **changes)

    def ask(
        self, question: str, wanted: Filter | None = None, retrieval: RetrievalConfig | None = None
    ) -> Iterator[Evidence | str | Answer]:
        """First the evidence, then the answer's words as they come, at last the whole checked answer."""
        evidence = self.search(question, wanted, retrieval)
        yield evidence
        generator, _ = self.language_model()
        embedder = self.embedder()
        yield from answer(
            evidence,
            generator or ExtractiveAnswerer(embedder),
            embedder=embedder,
            page_of=self._page_of,
            config=self.config.generation,
        )

    def page_image(
        self, document: DocumentRecord, start: int, end: int, quotes: tuple[tuple[int, int], ...] = (), *, page: int = 0
    ) -> Future[bytes]:
        """Draw the page where the text [start, end) of a document is, with it and the quotes in it marked, as a PNG.

        `page` chooses another page; an empty passage marks nothing. A format without page geometry is drawn as a
        plain sheet. The future fails with a SextantError where the page cannot be drawn within the limits.
        """
        lines = self.catalog.lines(document.key)
        if not any(line.box for line in lines):
            return self._page_renderer.text(*sheet(self.catalog.text(document.key), start, end, quotes))
        return self._page_renderer.page(self.stored_file(document), *page_marks(lines, start, end, quotes, page))

    # --- changes

    @contextmanager
    def indexer(self) -> Iterator[Indexer]:
        """The workspace's writer; what an interrupted run left half done is mended first."""
        with paths.write_lock(self.config.workspace):
            embedder = self.embedder()
            if self.snapshot().documents:
                check(self._note(), embedder, self.config.workspace)
            stores = self._stores(embedder.name, embedder.dimension)
            self._mend(stores)
            self._keep_note(embedder)
            yield Indexer(stores, embedder, self.config.chunking)

    def erase(self, document: DocumentRecord) -> Erasure:
        """What was removed of a document, everywhere."""
        note = self._require_note()
        with paths.write_lock(self.config.workspace):
            stores = self._stores(note.name, note.dimension)
            self._mend(stores)
            return erase(stores, document)

    def rebuild(self, *, encode: bool = False, progress: Progress = lambda *_: None) -> int:
        """Number of children in a new generation of both indexes, made beside the old one from the catalog and
        the vectors; with `encode` the documents are also chunked and encoded anew by the configured encoder.

        The old indexes are not read, so that damaged ones are mended by it.
        """
        note = self._require_note()
        with paths.write_lock(self.config.workspace):
            generation = self.generation() + 1
            dense = self._empty_dense(collection_name(self._id(), generation))
            folder = paths.sparse_index(self.config.workspace, generation)
            shutil.rmtree(folder.parent, ignore_errors=True)
            sparse = open_sparse_index(folder, writable=True)
            old = self._stores(note.name, note.dimension, dense, sparse)
            recover(old)
            if encode:
                embedder = self.embedder()
                stores = self._stores(embedder.name, embedder.dimension, dense, sparse)
                indexer = Indexer(stores, embedder, self.config.chunking, whole=True)
                kept = manifest_of(embedder).to_json()
                encode_again(old, indexer, progress)
                indexer.flush(lambda connection: flip(connection, generation, kept))
                self._mend(stores)
                sweep(stores)
            else:
                refill(old, dense, sparse, progress)
                with self.catalog.begin() as connection:
                    flip(connection, generation)
                self._mend(old)
        return len(self.snapshot())

    def _mend(self, stores: Stores) -> None:
        """Nothing; finishes or undoes what was interrupted, and removes generations that do not answer."""
        recover(stores)
        with self._lock:
            generation = self.generation()
            self._dense_index().keep_only(collection_name(self._id(), generation))
            kept = paths.sparse_index(self.config.workspace, generation).parent
            for folder in kept.parent.iterdir():
                if folder.name.isdigit() and folder != kept:
                    shutil.rmtree(folder)

    def close(self) -> None:
        """Releases every lock and connection."""
        with self._lock:
            self._close_dense()
            self.catalog.close()
        self._page_renderer.close()

    # --- backends

    def embedder(self) -> Embedder:
        """The configured encoder, loaded once."""
        note = self._note()
        return self._models.embedder(note.name if note else "")

    def gazetteer(self) -> Gazetteer:
        """The table of countries and regions."""
        return load_gazetteer()

    def dense_keys(self) -> set[int]:
        """Keys of the children in the dense index."""
        return self._dense_index().keys()

    def sparse_keys(self) -> set[int]:
        """Keys of the children in the keyword index."""
        return self._sparse_index().keys()

    def vectors_missing(self) -> int:
        """Number of visible children whose vector is not in the store."""
        note = self._require_note()
        return missing(self.snapshot(), self._vector_store(note.name, note.dimension).all())

    def _language_samples(self, snapshot: Snapshot, vectors: Vectors) -> LanguageSamples:
        """Vectors of some passages of each language, drawn again when the collection has changed."""
        with self._lock:
            if self._samples is None or self._samples.change != snapshot.change:
                self._samples = draw_samples(snapshot, vectors)
            return self._samples

    def _listed(self, snapshot: Snapshot, plan: QueryPlan) -> NamedPlaces:
        """Children that an index lists under a term of the question, with its entries."""
        with self._lock:
            self._index = read_collection_index(self.catalog, snapshot, self._index)
            return named_places(self._index, plan.question, plan.language)

    def _boost(self, plan: QueryPlan, metadata: Metadata) -> float:
        return geographic_boost(plan.scope, metadata, self.gazetteer(), self.config.retrieval)

    def language_model(self) -> tuple[Generator | None, str]:
        """The language model that answers, else None with what is to be said about it; looked for every few seconds."""
        return self._models.language_model()

    def _page_of(self, document_key: int, offset: int) -> int:
        return page_finder(self.catalog.lines(document_key))(offset)

    def generation(self) -> int:
        """Number of the index generation that answers."""
        return int(self.catalog.state("generation", "1"))

    def _sparse_index(self) -> TantivyIndex:
        with self._lock:
            generation = self.generation()
            if self._sparse is None or self._sparse[0] != generation:
                folder = paths.sparse_index(self.config.workspace, generation)
                self._sparse = generation, open_sparse_index(folder, writable=False)
            return self._sparse[1]

    def _dense_index(self) -> ChromaIndex:
        with self._lock:
            name, url = collection_name(self._id(), self.generation()), self.chroma_url()
            if self._dense is None or (self._dense.name, self._dense_url) != (name, url):
                self._close_dense()
                self._dense = open_chroma(paths.chroma(self.config.workspace), name, url=url)
                self._dense_url = url
            return self._dense

    def _empty_dense(self, name: str) -> ChromaIndex:
        """A new, empty collection; an embedded Chroma that cannot even be opened is made anew."""
        try:
            return self._dense_index().sibling(name)
        except BackendError:
            if self.chroma_url():
                raise
            shutil.rmtree(paths.chroma(self.config.workspace), ignore_errors=True)
            return self._dense_index().sibling(name)

    def _close_dense(self) -> None:
        if self._dense is not None:
            self._dense.close()
            self._dense = None

    def _id(self) -> str:
        """What tells this workspace's collections from those of others on a shared Chroma server."""
        return self.catalog.state("workspace")

    def chroma_url(self) -> str:
        """The Chroma server to use: the configured one, else that of a running `sextant serve`, else none."""
        serving = None if self.config.chroma_url else paths.find_serving(self.config.workspace)
        return serving.chroma_url if serving else self.config.chroma_url

    def _vector_store(self, model: str, dimension: int) -> VectorStore:
        """The model's vectors; kept, because mapping a large file anew costs more than searching it."""
        with self._lock:
            if self._vectors is None or self._vectors.model != model:
                self._vectors = VectorStore(paths.vectors(self.config.workspace), model, dimension)
            return self._vectors

    def _stores(
        self, model: str, dimension: int, dense: ChromaIndex | None = None, sparse: TantivyIndex | None = None
    ) -> Stores:
        """The stores for a writer: with the indexes that answer, unless others are given."""
        folder = paths.sparse_index(self.config.workspace, self.generation())
        return Stores(
            catalog=self.catalog,
            vectors=VectorStore(paths.vectors(self.config.workspace), model, dimension),
            dense=dense or self._dense_index(),
            sparse=sparse or open_sparse_index(folder, writable=True),
            files=paths.files(self.config.workspace),
        )

    def _noted_embedder(self) -> Embedder:
        """The encoder, if it is the one that the index was made by."""
        note = self._note()
        embedder = self._models.embedder(note.name if note else "")
        check(note, embedder, self.config.workspace)
        return embedder

    def _require_note(self) -> IndexManifest:
        note = self._note()
        if note is None:
            raise WorkspaceError("The collection is empty.", help="Add documents with `sextant add PATH`.")
        return note

    def _note(self) -> IndexManifest | None:
        return read_manifest(self.catalog.state("encoder"))

    def _keep_note(self, embedder: Embedder) -> None:
        note = self._note()
        if note is None or note.name != embedder.name:
            with self.catalog.begin() as connection:
                set_state(connection, "encoder", manifest_of(embedder).to_json())


def open_engine(config: Config) -> Engine:
    """The engine over a workspace; models and servers are only reached for when they are needed."""
    if not config.workspace.name:
        raise InputError("The workspace has no name.", help="Give a folder with --workspace.")
    return Engine(config)
