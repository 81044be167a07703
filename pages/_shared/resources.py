"""What all sessions of a server share: the engine, the job queue, pictures of pages."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ingestion.jobs.queue import JobQueue
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import Event, SourceStore
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.types import DocumentRecord


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who writes the answers: a model's name, or none and why."""

    model: str
    trouble: str


@st.cache_resource(show_spinner="Opening the collection …")
def engine() -> Engine:
    """The engine over the configured workspace, one for all sessions; its models begin to load."""
    opened = open_engine(read_config())
    threading.Thread(target=opened.load_models, name="load the models", daemon=True).start()
    return opened


@st.cache_resource(show_spinner=False)
def jobs() -> JobQueue:
    """The runs of the workspace."""
    return JobQueue(engine().catalog)


@st.cache_resource(show_spinner=False)
def store() -> SourceStore:
    """The sources of the workspace."""
    return SourceStore(engine().catalog)


def records() -> dict[str, SourceRecord]:
    """Everything known of every source by code; read again when anything has happened to one of them."""
    return _source_records(tuple(store().latest(_TOLD_APART)))


# Every change leaves an event, written with it; several of the last ones tell two changes of one second apart.
_TOLD_APART = 20


# As a resource, since it is never changed and copying a thousand of them takes longer than drawing the page.
@st.cache_resource(max_entries=2, show_spinner="Reading the sources …")
def _source_records(latest: tuple[Event, ...]) -> dict[str, SourceRecord]:  # noqa: ARG001 the cache's key
    return store().records()


def workspace() -> Path:
    """The folder that holds the collection."""
    return engine().config.workspace


@st.cache_data(ttl=60, show_spinner=False)
def answerer() -> Answerer:
    """Who writes the answers at this moment; asked for once a minute, since a server may be started meanwhile."""
    found, trouble = engine().language_model()
    return Answerer(found.name if found else "", trouble)


def find_document(document_id: str) -> DocumentRecord | None:
    """The document of the collection with this id, or None when it is no longer there."""
    found = (record for record in engine().snapshot().documents.values() if record.document_id == document_id)
    return next(found, None)


def page_picture(
    document: DocumentRecord, passage: tuple[int, int], quotes: tuple[tuple[int, int], ...], page: int
) -> bytes:
    """PNG of a page with the passage and its quotes marked."""
    return _page_picture(document.sha256, document, passage, quotes, page)


@st.cache_data(max_entries=200, show_spinner="Drawing the page …")
def _page_picture(
    sha256: str,  # noqa: ARG001 the content is the cache's key: the record's row may change, the picture does not
    _document: DocumentRecord,
    passage: tuple[int, int],
    quotes: tuple[tuple[int, int], ...],
    page: int,
) -> bytes:
    return engine().page_image(_document, *passage, quotes, page=page)
