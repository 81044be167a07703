"""Which notebook is open: choosing, making, renaming and deleting one."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._shared import resources
from pages._shared.elements import (
    draw_renaming,
    draw_sharing,
    draw_way_back,
    keep_way_back,
    open_in_address,
    when_changed,
)
from pages._shared.errors import show_errors
from pages._shared.frame import show_opened
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import number
from pages._shared.shown_names import notebook_name
from rag_engine.conversations.person import owns
from rag_engine.notebook.notebook import Notebook
from rag_engine.notebook.store import (
    create_notebook,
    default_notebook,
    delete_notebook,
    list_notebooks,
    rename_notebook,
    restore_notebook,
    share_notebook,
)

_CHOSEN, _NEW, _RENAMED, _UNDO = "notebook chosen", "notebook new", "notebook renamed", "restore notebook"
# Popovers, which close once what is in them is done.
_MAKING, _RENAMING = "notebook making", "notebook renaming"


def draw_choice(workspace: Path) -> Notebook:
    """Draw the choice of a notebook with the acts on it; return the notebook that is open."""
    person = resources.person()
    draw_way_back(_UNDO)
    default = default_notebook(person)
    notebooks = {notebook.id: notebook for notebook in list_notebooks(workspace, person)}
    # The address comes first, so that it can be sent on and survives a reload.
    asked = st.query_params.get("notebook", st.session_state.get(_CHOSEN, ""))
    st.session_state[_CHOSEN] = asked if asked in notebooks else default.id
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            _("Notebook"),
            list(notebooks),
            key=_CHOSEN,
            format_func=lambda one: f"{notebook_name(notebooks[one])} ({number(len(notebooks[one].entries))})",
            on_change=when_changed(
                _CHOSEN, st.session_state[_CHOSEN], lambda: open_in_address("notebook", st.session_state[_CHOSEN])
            ),
            persist_state="session",
            width=340,
        )
        show_opened()
        notebook = notebooks[st.session_state[_CHOSEN]]
        own = owns(person, notebook.owner)
        with st.popover(_("New"), icon=":material/add:", type="tertiary", key=_MAKING, on_change="rerun"):
            st.text_input(_("Name"), key=_NEW)
            st.button(_("Create"), key="notebook create", on_click=_create, args=(workspace,))
        if notebook.shared_by and not own:
            st.caption(
                _(":material/group: Shared by {name}. You can read it.").format(name=escape(notebook.shared_by)),
                width="content",
            )
        if own:
            _draw_acts(workspace, notebook, removable=notebook.id != default.id)
    return notebook


def _draw_acts(workspace: Path, notebook: Notebook, *, removable: bool) -> None:
    """Draw the sharing, renaming and deletion of the person's notebook."""
    person = resources.person()
    draw_sharing(
        f"notebook shared {notebook.id}",
        _("Others can read it, and cannot change it."),
        lambda shared: share_notebook(workspace, notebook.id, person, shared=shared),
        shared=bool(notebook.shared_by),
    )
    with st.popover(_("Rename"), icon=":material/edit:", type="tertiary", key=_RENAMING, on_change="rerun"):
        draw_renaming(
            notebook_name(notebook),
            f"{_RENAMED} {notebook.id}",
            _RENAMING,
            lambda name: rename_notebook(workspace, notebook.id, name, person),
        )
    if removable:
        with st.popover(_("Delete"), icon=":material/delete:", type="tertiary"):
            st.markdown(_("With all its entries. Conversations and documents stay as they are."))
            st.button(
                _("Delete this notebook"),
                icon=":material/delete:",
                type="primary",
                key="delete notebook",
                on_click=_delete,
                args=(workspace, notebook.id),
            )


def _create(workspace: Path) -> None:
    with show_errors():
        created = create_notebook(workspace, st.session_state[_NEW], resources.person())
        st.session_state[_NEW] = ""
        st.session_state[_MAKING] = False
        open_in_address("notebook", created.id)


def _delete(workspace: Path, id: str) -> None:
    with show_errors():
        deleted = delete_notebook(workspace, id, resources.person())
        if deleted is not None:

            def restored() -> None:
                open_in_address("notebook", restore_notebook(workspace, deleted, resources.person()).id)

            title = escape(notebook_name(deleted))
            keep_way_back(_UNDO, to_translate("Deleted “{title}”."), restored, title=title)
        open_in_address("notebook")
        del st.session_state[_CHOSEN]
