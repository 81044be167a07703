"""Saved filters: the choice of one, saving the present ones under a name, and deletion with undo."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.library import delete_filters, save_filters, saved_filters
from pages._shared import resources
from pages._shared.elements import in_own_place
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import set_filters
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from rag_engine.filters import Filter

_DELETED, _NAME = "filters deleted", "filters name"


def draw_filter_sets(place: str, wanted: Filter) -> None:
    """Draw the saved filters, to be used in this place, and how to save those that are set."""
    saved = saved_filters(resources.context())
    if not (saved or wanted or _DELETED in st.session_state):
        return
    with st.expander(_("Saved filters"), icon=":material/bookmark:", key=f"{place} saved filters"):
        for name, kept in saved.items():
            with st.container(horizontal=True, vertical_alignment="center", wrap=False):
                st.button(
                    escape(name),
                    key=f"{place} use {name}",
                    icon=":material/filter_alt:",
                    type="primary" if dict(kept) == dict(wanted) else "secondary",
                    on_click=set_filters,
                    args=(place, kept),
                    width="stretch",
                )
                if st.button(
                    "",
                    key=f"{place} delete {name}",
                    icon=":material/delete:",
                    type="tertiary",
                    help=_("Delete {name}").format(name=escape(name)),
                ):
                    st.session_state[_DELETED] = name, delete_filters(resources.context(), name)
                    st.rerun()
        _draw_deleted()
        if wanted:
            name = st.text_input(_("Name"), key=f"{place} {_NAME}", placeholder=_("Heat plans since 2018"))
            if st.button(_("Save these filters"), key=f"{place} save filters", icon=":material/bookmark_add:"):
                with show_errors():
                    save_filters(resources.context(), name, wanted)
                    st.rerun()


@in_own_place
def _draw_deleted() -> None:
    if _DELETED not in st.session_state:
        return
    name, kept = st.session_state[_DELETED]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("Deleted: {name}").format(name=escape(name)), width="content")
        if st.button(_("Undo"), key="undo filters", icon=":material/undo:", type="tertiary"):
            save_filters(resources.context(), name, kept)
            del st.session_state[_DELETED]
            st.rerun()
