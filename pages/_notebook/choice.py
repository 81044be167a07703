"""Which notebook is open: choosing, making, renaming and deleting one."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._shared.elements import open_in_address
from pages._shared.errors import show_errors
from rag_engine.notebook.notebook import Notebook
from rag_engine.notebook.store import DEFAULT, create_notebook, delete_notebook, list_notebooks, rename_notebook

_CHOSEN, _NEW, _RENAMED = "notebook chosen", "notebook new", "notebook renamed"


def draw_choice(workspace: Path) -> Notebook:
    """Draw the choice of a notebook, with what can be done with it as a whole; return the one that is open."""
    notebooks = {notebook.id: notebook for notebook in list_notebooks(workspace)}
    # The address comes first, so that it can be sent on and survives a reload.
    asked = st.query_params.get("notebook", st.session_state.get(_CHOSEN, ""))
    st.session_state[_CHOSEN] = asked if asked in notebooks else DEFAULT.id
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Notebook",
            list(notebooks),
            key=_CHOSEN,
            format_func=lambda one: f"{notebooks[one].name} ({len(notebooks[one].entries)})",
            on_change=_follow,
            persist_state="session",
            width=340,
        )
        notebook = notebooks[st.session_state[_CHOSEN]]
        with st.popover("New", icon=":material/add:", type="tertiary"):
            st.text_input("Name", key=_NEW, max_chars=80)
            st.button("Create", key="notebook create", on_click=_create, args=(workspace,))
        with st.popover("Rename", icon=":material/edit:", type="tertiary"):
            st.text_input("New name", notebook.name, key=f"{_RENAMED} {notebook.id}", max_chars=80)
            st.button("Rename", key="notebook rename", on_click=_rename, args=(workspace, notebook.id))
        if notebook.id != DEFAULT.id:
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                st.markdown("Its entries cannot be recovered. Conversations and documents stay as they are.")
                st.button(
                    "Delete this notebook",
                    icon=":material/delete:",
                    type="primary",
                    key="notebook delete",
                    on_click=_delete,
                    args=(workspace, notebook.id),
                )
    return notebook


def _follow() -> None:
    open_in_address("notebook", st.session_state[_CHOSEN])


def _create(workspace: Path) -> None:
    with show_errors():
        created = create_notebook(workspace, st.session_state[_NEW])
        st.session_state[_NEW] = ""
        open_in_address("notebook", created.id)


def _rename(workspace: Path, id: str) -> None:
    with show_errors():
        rename_notebook(workspace, id, st.session_state[f"{_RENAMED} {id}"])


def _delete(workspace: Path, id: str) -> None:
    delete_notebook(workspace, id)
    open_in_address("notebook")
    del st.session_state[_CHOSEN]
