"""Settings of a question, drawn below it: filter, size of the collection, date and search settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from ingestion.status.views import pluralised
from pages._ask.sidebar import RECIPES
from pages._shared.filter_widgets import display_text, document_titles, filter_label
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import long_day
from rag_engine.config import RetrievalConfig
from rag_engine.conversations.store import QuestionSettings
from rag_engine.engine import Engine
from rag_engine.filters import DOCUMENT, VERSIONS, Filter, answering_documents


def settings_of(engine: Engine, wanted: Filter, retrieval: RetrievalConfig) -> QuestionSettings:
    """Return how a question is asked now."""
    snapshot = engine.collection.snapshot()
    allowed = answering_documents(wanted, snapshot.facets, snapshot.documents)
    return QuestionSettings(
        wanted=dict(wanted),
        matching=len(snapshot.documents if allowed is None else allowed),
        documents=len(snapshot.documents),
        profile=retrieval.profile,
        top_k=retrieval.top_k,
        similarity_floor=retrieval.similarity_floor,
        varied=retrieval.weights.mmr_lambda is not None,
    )


def draw_settings(settings: QuestionSettings, asked: str) -> None:
    """Draw a chip for each filter, the collection's size, the date and each search setting that is not usual."""
    st.markdown(" ".join(f":gray-badge[{escape(chip)}]" for chip in _chips(settings, asked)))


def _named(ids: Sequence[str]) -> str:
    titles = document_titles(ids)
    return ", ".join(titles[:2]) + (f" and {len(titles) - 2} more" if len(titles) > 2 else "")


def _chips(settings: QuestionSettings, asked: str) -> Iterator[str]:
    for name, values in settings.wanted.items():
        if name == DOCUMENT:
            yield f"Only in: {_named(values)}"
        if name in (DOCUMENT, VERSIONS):
            continue
        yield f"{filter_label(name)}: {', '.join(display_text(name, value) for value in values)}"
    documents = pluralised(settings.documents, "document")
    yield documents if settings.matching == settings.documents else f"{settings.matching:,} of {documents}"
    yield long_day(asked)
    usual = RetrievalConfig()
    if settings.profile != usual.profile:
        yield f"Recipe: {RECIPES[settings.profile]}"
    if settings.top_k != usual.top_k:
        yield pluralised(settings.top_k, "passage")
    if settings.similarity_floor != usual.similarity_floor:
        yield f"Similarity from {settings.similarity_floor:.2f}"
    if settings.varied:
        yield "Varied passages"
