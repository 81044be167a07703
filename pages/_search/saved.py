"""Saved searches: run again with what is new, renamed, deleted and brought back."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from pages._search.open_search import go_to
from pages._shared import resources
from pages._shared.elements import draw_renaming, draw_way_back, keep_way_back
from pages._shared.errors import show_errors, showing_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from rag_engine.conversations.record_kinds import LONGEST_NAME
from rag_engine.engine import Engine
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.saved import (
    SavedSearch,
    count_new_documents,
    delete_search,
    list_searches,
    mark_looked,
    rename_search,
    restore_search,
    save_search,
)

_NAME, _UNDO, _SAVING = "search saved name", "search undo", "search save"


def draw_saved(engine: Engine, query: PassageQuery) -> None:
    """Draw the saved searches with their new documents, and the place to save the open search."""
    workspace = resources.workspace()
    with st.expander(_("Saved searches"), icon=":material/bookmark:", expanded=True, key="search saved"), show_errors():
        listed = list_searches(workspace, resources.person())
        if not listed and not query:
            st.caption(_("Save a search here to run it again later."))
        draw_way_back(_UNDO)
        for saved in listed:
            _draw_one(engine, workspace, saved, opened=saved.query == query)
        if query:
            with st.popover(
                _("Save this search"), icon=":material/bookmark_add:", type="tertiary", key=_SAVING, on_change="rerun"
            ):
                st.text_input(_("Name"), key=_NAME, placeholder=query.words[:60] or _("Name"))
                st.button(_("Save"), key="search save button", on_click=showing_errors(_save, workspace, query))


def _draw_one(engine: Engine, workspace: Path, saved: SavedSearch, *, opened: bool) -> None:
    new = count_new_documents(engine, saved)
    told = counted("{n} new", "{n} new", new)
    badge = f" :green-badge[{told}]" if new else ""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"saved-{saved.id}"):
        st.button(
            f"{escape(saved.name)}{badge}",
            key=f"search run {saved.id}",
            type="tertiary",
            icon=":material/bookmark_check:" if opened else ":material/search:",
            help=counted(
                "{n} matching document added since the last look.",
                "{n} matching documents added since the last look.",
                new,
            )
            if new
            else None,
            on_click=showing_errors(_run, workspace, saved),
        )
        menu = f"search menu {saved.id}"
        with st.popover("", icon=":material/more_vert:", type="tertiary", key=menu, on_change="rerun"):
            person = resources.person()
            with st.container(horizontal=True):
                draw_renaming(
                    saved.name,
                    f"search rename {saved.id}",
                    menu,
                    lambda name: rename_search(workspace, saved.id, name, person),
                )
                st.button(
                    _("Delete"),
                    icon=":material/delete:",
                    key=f"search delete {saved.id}",
                    on_click=showing_errors(_delete, workspace, saved.id),
                )


def _save(workspace: Path, query: PassageQuery) -> None:
    name = st.session_state[_NAME] or query.words[:LONGEST_NAME]
    save_search(workspace, name, query, resources.person())
    st.session_state[_NAME] = ""
    st.session_state[_SAVING] = False


def _run(workspace: Path, saved: SavedSearch) -> None:
    mark_looked(workspace, saved.id, resources.person())
    go_to(saved.query)


def _delete(workspace: Path, id: str) -> None:
    deleted = delete_search(workspace, id, resources.person())
    keep_way_back(_UNDO, to_translate("Search deleted."), partial(restore_search, workspace, deleted))
