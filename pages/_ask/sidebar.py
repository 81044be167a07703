"""Sidebar: filters, search settings, and the figures of the collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from pages._shared import resources
from pages._shared.errors import show
from pages._shared.filter_widgets import count_active, display_text, draw_filters, matching_documents
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_writer
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from rag_engine.answering_documents import answering_documents
from rag_engine.config import RetrievalConfig, RetrievalProfile
from rag_engine.engine import Engine
from rag_engine.filters import Filter

_THRESHOLDS = [round(step * 0.05, 2) for step in range(17)]
_RECIPES: dict[RetrievalProfile, str] = {
    "default": "Sextant",
    "rrf": to_translate("Reciprocal ranks"),
    "paper": to_translate("Policy paper (2026)"),
    "statutes": to_translate("Statute paper (2026)"),
}
# The values that each of the search settings takes, by the key of its widget.
CHOICES: Mapping[str, Sequence[object]] = {
    "top_k": range(3, 21),
    "similarity_floor": _THRESHOLDS,
    "profile": tuple(_RECIPES),
    "varied": (False, True),
}
# Of maximal marginal relevance: as much for what is relevant as for what is new.
_VARIED = 0.5


def recipe_name(profile: RetrievalProfile) -> str:
    """Return what a recipe is called.

    >>> recipe_name("rrf")
    'Reciprocal ranks'
    """
    return _(_RECIPES[profile])


def draw_filter(engine: Engine, place: str) -> Filter:
    """Draw the filter's widgets with the number of those that are set; return the filter chosen."""
    active = count_active(place)
    label = _("Filters")
    if active:
        number_active = counted("{n} active", "{n} active", active)
        label = f"{label} :green-badge[{number_active}]"
    with st.expander(label, icon=":material/filter_alt:", expanded=True, key=f"{place} filters"):
        facets = engine.collection.facets()
        if not facets:
            st.caption(_("Filters appear once the first document is indexed."))
        wanted = draw_filters(place, facets, in_address=True)
        if wanted:
            documents = engine.collection.snapshot().documents
            allowed = answering_documents(wanted, facets, documents)
            matching = len(documents if allowed is None else allowed)
            st.caption(f"{matching_documents(matching, len(documents))}.")
        return wanted


def draw_retrieval(engine: Engine, *, followed: bool = False) -> RetrievalConfig:
    """Draw the number of passages and the similarity threshold; return the retrieval chosen.

    If the widgets have `followed` an address, they have its values and no default.
    """
    before = engine.config.retrieval
    with st.expander(_("Search settings"), icon=":material/tune:"):
        top_k = st.number_input(
            _("Number of passages"),
            3,
            20,
            "min" if followed else before.top_k,
            key="top_k",
            help=_("How many of the best passages the answer is based on. More passages make it broader and slower."),
            persist_state="session",
        )
        floor = st.select_slider(
            _("Similarity threshold"),
            _THRESHOLDS,
            None if followed else before.similarity_floor,
            format_func=lambda value: number(value, 2),
            key="similarity_floor",
            help=_("Leaves out passages that are less similar to the question."),
            persist_state="session",
        )
        profile = st.selectbox(
            _("Recipe"),
            list(_RECIPES),
            0 if followed else list(_RECIPES).index(before.profile),
            format_func=recipe_name,
            key="profile",
            help=_("How passages are ranked. The recipes of the papers are for comparison; both find less."),
            persist_state="session",
        )
        varied = st.toggle(
            _("Varied passages"),
            not followed and before.weights.mmr_lambda is not None,
            key="varied",
            help=_("Skips passages that repeat what a better one says (maximal marginal relevance)."),
            disabled=profile in ("paper", "statutes"),
            persist_state="session",
        )
    return chosen_retrieval(before, profile, int(top_k), float(floor), varied=varied)


def chosen_retrieval(
    usual: RetrievalConfig, profile: RetrievalProfile, top_k: int, similarity_floor: float, *, varied: bool
) -> RetrievalConfig:
    """Return the usual retrieval with what a person can choose of it."""
    relevance = usual.weights.mmr_lambda or _VARIED
    weights = replace(usual.weights, mmr_lambda=relevance if varied else None)
    return replace(usual, profile=profile, top_k=top_k, similarity_floor=similarity_floor, weights=weights)


def draw_collection(engine: Engine) -> None:
    """Draw the figures of the collection and which model writes the answers."""
    figures = engine.collection.statistics()
    with st.expander(_("Collection"), icon=":material/database:", expanded=True):
        left, right = st.columns(2)
        left.metric(_("Documents"), number(figures.documents))
        right.metric(_("Passages"), number(figures.children))
        left.metric(_("Pages"), number(figures.pages))
        right.metric(_("Languages"), number(len(figures.languages)))
        if figures.languages:
            ordered = sorted(figures.languages, key=lambda language: -figures.languages[language])
            st.caption(", ".join(escape(display_text("language", language)) for language in ordered))
        draw_writer()
    _draw_answerer()


def _draw_answerer() -> None:
    model, error = resources.language_model()
    if model is not None:
        st.caption(_(":material/smart_toy: Answers are written by **{model}**.").format(model=escape(model.name)))
        return
    st.caption(_(":material/format_quote: Answers are quotations. A language model writes them out."))
    st.caption(_("[Choose a language model in Settings]({address})").format(address="admin?tab=settings"))
    if error:
        st.caption(escape(show(error)))
