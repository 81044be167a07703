"""Sidebar: filters, search settings, and the figures of the collection."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ingestion.status.views import pluralised
from pages._shared import resources
from pages._shared.filter_widgets import count_active, display_text, draw_filters
from pages._shared.markdown import escape
from rag_engine.config import RetrievalConfig, RetrievalProfile
from rag_engine.engine import Engine
from rag_engine.filters import Filter, answering_documents

_THRESHOLDS = [round(step * 0.05, 2) for step in range(17)]
RECIPES: dict[RetrievalProfile, str] = {
    "default": "Sextant",
    "rrf": "Reciprocal ranks",
    "paper": "Policy paper (2026)",
    "statutes": "Statute paper (2026)",
}
# Of maximal marginal relevance: as much for what is relevant as for what is new.
_VARIED = 0.5


def draw_filter(engine: Engine, place: str) -> Filter:
    """Draw the filter's widgets with the number of those that are set; return the filter chosen."""
    active = count_active(place)
    label = f"Filters :green-badge[{active} active]" if active else "Filters"
    with st.expander(label, icon=":material/filter_alt:", expanded=True, key=f"{place} filters"):
        facets = engine.collection.facets()
        if not facets:
            st.caption("Filters appear once the first document is indexed.")
        wanted = draw_filters(place, facets, in_address=True)
        if wanted:
            documents = engine.collection.snapshot().documents
            allowed = answering_documents(wanted, facets, documents)
            matching = len(documents if allowed is None else allowed)
            st.caption(f"{matching:,} of {pluralised(len(documents), 'document')} match.")
        return wanted


def draw_retrieval(engine: Engine) -> RetrievalConfig:
    """Draw the number of passages and the similarity threshold; return the retrieval chosen."""
    before = engine.config.retrieval
    with st.expander("Search settings", icon=":material/tune:"):
        top_k = st.number_input(
            "Number of passages",
            3,
            20,
            before.top_k,
            key="top_k",
            help="How many of the best passages the answer is based on. More passages make it broader and slower.",
            persist_state="session",
        )
        floor = st.select_slider(
            "Similarity threshold",
            _THRESHOLDS,
            before.similarity_floor,
            format_func=lambda value: f"{value:.2f}",
            key="similarity_floor",
            help="Passages less similar to the question are left out.",
            persist_state="session",
        )
        profile = st.selectbox(
            "Recipe",
            list(RECIPES),
            list(RECIPES).index(before.profile),
            format_func=RECIPES.__getitem__,
            key="profile",
            help="How passages are ordered. The papers' recipes are there for comparison: both find less.",
            persist_state="session",
        )
        varied = st.toggle(
            "Varied passages",
            before.weights.mmr_lambda is not None,
            key="varied",
            help="Passes over passages that say what a better one says already (maximal marginal relevance).",
            disabled=profile in ("paper", "statutes"),
            persist_state="session",
        )
    relevance = before.weights.mmr_lambda or _VARIED
    weights = replace(before.weights, mmr_lambda=relevance if varied else None)
    return replace(before, profile=profile, top_k=int(top_k), similarity_floor=float(floor), weights=weights)


def draw_collection(engine: Engine) -> None:
    """Draw the figures of the collection and which model writes the answers."""
    figures = engine.collection.statistics()
    with st.expander("Collection", icon=":material/database:", expanded=True):
        left, right = st.columns(2)
        left.metric("Documents", f"{figures.documents:,}")
        right.metric("Passages", f"{figures.children:,}")
        left.metric("Pages", f"{figures.pages:,}")
        right.metric("Languages", f"{len(figures.languages):,}")
        if figures.languages:
            ordered = sorted(figures.languages, key=lambda language: -figures.languages[language])
            st.caption(", ".join(escape(display_text("language", language)) for language in ordered))
    _draw_answerer()


def _draw_answerer() -> None:
    model, error = resources.language_model()
    if model is not None:
        st.caption(f":material/smart_toy: Answers are written by **{escape(model.name)}**.")
        return
    st.caption(":material/format_quote: Answers are **quotations only**: no language model is connected.")
    with st.popover("Connect a model", icon=":material/help:", type="tertiary"):
        if error:
            st.caption(escape(error))
        st.markdown(
            "Start [Ollama](https://ollama.com) on this machine and give it a model, for example "
            "`ollama pull qwen3:8b`. It is found within a minute. Another model: `SEXTANT_OLLAMA_MODEL`; "
            "another OpenAI-compatible server: `SEXTANT_OPENAI_URL` and `SEXTANT_OPENAI_MODEL`."
        )
