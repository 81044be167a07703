"""Entries of a notebook: filtered by tag, in the order that a person gives them, and exported."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from pages._notebook.entry import draw_entry, draw_note, draw_origin
from pages._shared import resources
from pages._shared.elements import draw_way_back, keep_way_back
from pages._shared.errors import show_errors
from pages._shared.exports import draw_exports
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from pages._shared.shown_names import notebook_name
from rag_engine.conversations.person import owns
from rag_engine.engine import Engine
from rag_engine.notebook.notebook import Notebook, NotebookEntry, with_entry, with_entry_moved, without_entry
from rag_engine.notebook.store import change_notebook
from rag_engine.takeaway.exported_text import ExportedText, export_notebook

# Entries drawn at once: each has a dozen widgets.
_SHOWN = 20


def draw_entries(engine: Engine, notebook: Notebook) -> None:
    """Draw the entries that have one of the chosen tags, and the button that exports them."""
    workspace = resources.workspace()
    draw_way_back(f"notebook undo {notebook.id}")
    if not notebook.entries:
        st.info(
            _("No entries yet. On the Ask page, “Add to notebook” keeps an answer or a quote here."),
            icon=":material/bookmark_add:",
        )
        return
    shown = _draw_filter(notebook)
    with st.container(horizontal=True, vertical_alignment="center"):
        counts = counted(
            "{shown} of {n} entry", "{shown} of {n} entries", len(notebook.entries), shown=number(len(shown))
        )
        st.caption(counts, width="content")
        with st.popover(_("Export"), icon=":material/download:", type="tertiary", key="notebook export"):
            draw_exports(
                partial(_exported, engine, notebook, shown), notebook_name(notebook), f"notebook {notebook.id}"
            )
    _draw_list(workspace, notebook, shown, _present(engine))


def _draw_filter(notebook: Notebook) -> list[NotebookEntry]:
    """Draw the choice of tags, if there are any; return the entries that have one of those chosen."""
    if not notebook.tags:
        return list(notebook.entries)
    # A key for each set of tags: a chosen one may have gone from all entries.
    key = f"notebook tags {hash(notebook.tags)}"
    chosen = set(st.pills(_("Tags"), notebook.tags, selection_mode="multi", key=key, format_func=escape))
    return [entry for entry in notebook.entries if not chosen or chosen & set(entry.tags)]


def _draw_list(workspace: Path, notebook: Notebook, shown: Sequence[NotebookEntry], present: Collection[str]) -> None:
    id, own = notebook.id, owns(resources.person(), notebook.owner)
    key = f"notebook shown {id}"
    most: int = st.session_state.setdefault(key, _SHOWN)
    for position, entry in enumerate(shown[:most]):
        with st.container(border=True, key=f"entry-{entry.id}"):
            draw_entry(entry, present)
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_origin(workspace, entry)
                if not own:
                    continue
                draw_note(workspace, id, entry)
                _draw_moves(workspace, id, entry, shown, position)
                st.button(
                    _("Remove"),
                    icon=":material/delete:",
                    type="tertiary",
                    key=f"remove {entry.id}",
                    on_click=_remove,
                    args=(workspace, id, entry),
                )
    if len(shown) > most:
        label = counted("Show {n} more entry", "Show {n} more entries", len(shown) - most)
        more = {key: most + _SHOWN}
        st.button(label, icon=":material/expand_more:", type="tertiary", on_click=st.session_state.update, args=(more,))


def _draw_moves(workspace: Path, id: str, entry: NotebookEntry, shown: Sequence[NotebookEntry], position: int) -> None:
    """Draw the buttons that move an entry past its neighbour among those that are shown."""
    first, last = position == 0, position == len(shown) - 1
    # Down is the neighbour's way up.
    above = (entry.id, shown[position - 1].id)
    below = (shown[position + 1].id, entry.id) if not last else above
    for name, key, icon, (moved, before), disabled in (
        (_("Move up"), "move up", ":material/arrow_upward:", above, first),
        (_("Move down"), "move down", ":material/arrow_downward:", below, last),
    ):
        st.button(
            "",
            icon=icon,
            help=name,
            type="tertiary",
            key=f"{key} {entry.id}",
            disabled=disabled,
            on_click=_move,
            args=(workspace, id, moved, before),
        )


def _remove(workspace: Path, id: str, entry: NotebookEntry) -> None:
    with show_errors():
        before = change_notebook(workspace, id, lambda one: without_entry(one, entry.id), resources.person())[0]
        place = next((i for i, one in enumerate(before.entries) if one.id == entry.id), len(before.entries))

    def back() -> None:
        change_notebook(workspace, id, lambda one: with_entry(one, entry, place), resources.person())

    keep_way_back(f"notebook undo {id}", to_translate("Entry removed."), back)


def _move(workspace: Path, id: str, moved: str, before: str) -> None:
    with show_errors():
        change_notebook(workspace, id, lambda one: with_entry_moved(one, moved, before), resources.person())


def _present(engine: Engine) -> set[str]:
    return {record.document_id for record in engine.collection.documents()}


def _exported(engine: Engine, notebook: Notebook, shown: Sequence[NotebookEntry]) -> ExportedText:
    return export_notebook(replace(notebook, name=notebook_name(notebook)), shown, _present(engine), WORDING)
