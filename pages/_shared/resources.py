"""Resources that all sessions of a server share: the engine, the job queue, the source store."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from ingestion.acts.context import ActContext, local_person
from ingestion.jobs.queue import JobQueue
from ingestion.records.people import welcome
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import Event, SourceStore
from pages._shared.interface_language import _, interface_language
from pages._shared.login import is_logged_in, login_identity, login_settings
from rag_engine.config import read_config
from rag_engine.conversations.answer_jobs import AnswerJobs
from rag_engine.conversations.person import Person
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import InputError
from rag_engine.passage_search import example_questions as suggested
from rag_engine.passage_search.example_questions import ExampleQuestion
from rag_engine.protocols import Generator
from rag_engine.types.document import DocumentRecord

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
# The name that was given last on a page where nobody logs in.
KNOWN_AUTHOR = "admin author known"
# Every change leaves an event, written with it; several of the last ones distinguish two changes of one second.
_LATEST_EVENTS = 20
# Characters of an answer that tell its language.
_SAMPLE = 600


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    """Open the engine over the configured workspace, one for all sessions; its models begin to load."""
    opened = open_engine(read_config())
    opened.load_in_background()
    return opened


def follow_settings() -> None:
    """Have the engine use settings that were changed since it was opened."""
    if engine().follow_settings():
        language_model.clear()


@st.cache_resource(show_spinner=False)
def jobs() -> JobQueue:
    """Open the job queue of the workspace."""
    return JobQueue(engine().catalog)


@st.cache_resource(show_spinner=False)
def store() -> SourceStore:
    """Open the source store of the workspace."""
    return SourceStore(engine().catalog)


@st.cache_resource(show_spinner=False)
def answer_jobs() -> AnswerJobs:
    """Return the answers that are being written, which outlive the pages that watch them."""
    return AnswerJobs(workspace())


def person() -> Person:
    """Return who is at the page: the person who is logged in with the present role, or the local one.

    InputError where somebody would have to log in and has not.
    """
    if not login_settings():
        return local_person(str(st.session_state.get(KNOWN_AUTHOR, "")))
    if not is_logged_in():
        raise InputError(_("You are not logged in."), help=_("Load the page again and log in."))
    return welcome(workspace(), *login_identity(), str(st.user.get("name") or "").strip())


def context() -> ActContext:
    """Return the workspace, ready for the acts of who is at the page."""
    return ActContext(engine(), store(), jobs(), person())


def records() -> dict[str, SourceRecord]:
    """Return every source record by code; read again when anything has happened to one of them."""
    return kept_reading(_source_records, _("Reading the sources …"))(tuple(store().latest(_LATEST_EVENTS)))


def kept_reading(read: Callable[_Given, _Found], spinner: str) -> Callable[_Given, _Found]:
    """Return a reading that shows `spinner` meanwhile, and is kept once for all sessions.

    Arguments whose names begin with an underscore do not tell two readings apart.
    """
    kept: Callable[_Given, _Found] = _kept_reading(read, spinner)
    return kept


@cache
def _kept_reading(read: Callable[..., Any], spinner: str) -> Any:
    # As a resource, since it is never changed and copying a thousand records takes longer than drawing the page.
    return st.cache_resource(max_entries=2, show_spinner=spinner)(read)


def _source_records(latest: tuple[Event, ...]) -> dict[str, SourceRecord]:  # noqa: ARG001 the cache's key
    return store().records()


def workspace() -> Path:
    """Return the folder that holds the collection."""
    return engine().config.workspace


@st.cache_resource(ttl=60, show_spinner=False)
def language_model() -> tuple[Generator | None, str]:
    """Return the model that writes the answers, or None and why.

    It is looked for once a minute, as servers come and go.
    """
    return engine().models.language_model()


def example_questions(only: tuple[str, ...] = ()) -> Future[tuple[ExampleQuestion, ...]]:
    """Return the questions that the collection suggests, or the documents of some ids.

    They are looked for in the background, once for each language of the interface, and again when the collection has
    changed.
    """
    return _example_questions(engine().catalog.change(), interface_language(), only)


@st.cache_resource(max_entries=8, show_spinner=False)
def _example_questions(change: int, language: str, only: tuple[str, ...]) -> Future[tuple[ExampleQuestion, ...]]:  # noqa: ARG001 the cache's key
    looking = ThreadPoolExecutor(1, thread_name_prefix="example questions")
    if only:
        found = looking.submit(suggested.find_examples, engine(), language, only)
    else:
        found = looking.submit(suggested.example_questions, engine(), language)
    looking.shutdown(wait=False)
    return found


def document_language(document_id: str) -> str:
    """Return the code of a document's language, "" for one that is no longer in the collection."""
    document = find_document(document_id)
    return document.metadata.language if document is not None else ""


def text_language(text: str) -> str:
    """Return the code of the language of a text that a model wrote, "" where it cannot be told."""
    return _identified(text[:_SAMPLE])


@lru_cache(maxsize=1024)
def _identified(sample: str) -> str:
    return engine().language_of(sample)


def find_document(document_id: str) -> DocumentRecord | None:
    """Return the document of the collection with this id, or None when it is no longer there."""
    found = (
        record for record in engine().collection.snapshot().documents.values() if record.document_id == document_id
    )
    return next(found, None)
