"""Resources that all sessions of a server share: the engine, the job queue, the source store."""

from __future__ import annotations

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
    opened.load_in_background()
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
