"""Settings of a question, drawn below it: filter, size of the collection, date and search settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from pages._ask.sidebar import recipe_name
from pages._shared.filter_widgets import display_text, document_titles, filter_label, named_values
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, long_day, number
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
    named = ", ".join(titles[:2])
    more = len(titles) - 2
    return counted("{names} and {n} more", "{names} and {n} more", more, names=named) if more > 0 else named


def _chips(settings: QuestionSettings, asked: str) -> Iterator[str]:
    for name, values in settings.wanted.items():
        if name == DOCUMENT:
            yield _("Only in: {documents}").format(documents=_named(values))
        if name in (DOCUMENT, VERSIONS):
            continue
        yield named_values(filter_label(name), ", ".join(display_text(name, value) for value in values))
    if settings.matching == settings.documents:
        yield counted("{n} document", "{n} documents", settings.documents)
    else:
        matching = number(settings.matching)
        yield counted(
            "{matching} of {n} document", "{matching} of {n} documents", settings.documents, matching=matching
        )
    yield long_day(asked)
    usual = RetrievalConfig()
    if settings.profile != usual.profile:
        yield named_values(_("Recipe"), recipe_name(settings.profile))
    if settings.top_k != usual.top_k:
        yield counted("{n} passage", "{n} passages", settings.top_k)
    if settings.similarity_floor != usual.similarity_floor:
        yield _("Similarity from {least}").format(least=number(settings.similarity_floor, 2))
    if settings.varied:
        yield _("Varied passages")
