"""Taking an answer or a quote away: to copy, as a file, or into a notebook."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from pages._ask.turn_key import turn_key
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.exports import draw_exports
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, ngettext
from pages._shared.markdown import escape, escape_paragraphs
from pages._shared.shown_names import notebook_name
from rag_engine.conversations.person import owns
from rag_engine.conversations.store import Conversation
from rag_engine.notebook.notebook import NotebookEntry, answer_entry, quote_entry, with_entry
from rag_engine.notebook.store import change_notebook, list_notebooks
from rag_engine.takeaway.exported_text import (
    export_answer,
    export_conversation,
    plain_quotes,
    plain_references,
    plain_section,
)
from rag_engine.types.answer import Citation

_ICON = ":material/bookmark_add:"


def draw_answer_row(conversation: Conversation, number: int) -> None:
    """Draw what can be done with an answer: copy it or its references, export it, add it to a notebook."""
    turn, key = conversation.turns[number], turn_key(conversation, number)
    answer = export_answer(turn, WORDING)
    references = plain_references(answer.citations, WORDING)
    with st.container(horizontal=True, key=f"{key} row"):
        draw_copy(_("Copy"), ":material/content_copy:", plain_section(answer.sections[0], WORDING), f"{key} copy")
        if references:
            draw_copy(_("References"), ":material/list:", references, f"{key} references")
        with st.popover(_("Export"), icon=":material/download:", type="tertiary", key=f"{key} export"):
            if len(conversation.turns) > 1:
                st.caption(_("This answer"))
            draw_exports(partial(export_answer, turn, WORDING), turn.question, f"{key} export")
            if len(conversation.turns) > 1:
                st.caption(_("Whole conversation"))
                whole = partial(export_conversation, conversation, WORDING)
                draw_exports(whole, conversation.title, f"{key} export whole")
        draw_adding(partial(answer_entry, conversation.id, turn), key)
    if references:
        # Seen on paper alone, where no button opens.
        with st.container(key=f"print-{key} references"):
            st.markdown("**" + _("References") + "**")
            st.markdown(escape_paragraphs(references))


def draw_quote_row(conversation: Conversation, number: int, n: int, citations: tuple[Citation, ...], key: str) -> None:
    """Draw the buttons for the quotes of source `n`: copy with reference, add to a notebook."""
    label = ngettext("Copy quote", "Copy quotes", len(citations))
    draw_copy(label, ":material/format_quote:", plain_quotes(citations, WORDING), f"{key} quote")
    draw_adding(partial(quote_entry, conversation.id, conversation.turns[number], n), key)


def draw_copy(label: str, icon: str, text: str, key: str) -> None:
    """Draw a button behind which a text is, with a button that copies it."""
    with st.popover(label, icon=icon, type="tertiary", key=key):
        st.code(text, language=None, wrap_lines=True)


def draw_adding(make: Callable[[], NotebookEntry], key: str) -> None:
    """Draw the button to add an entry to the notebook, or to one of them."""
    workspace, label = resources.workspace(), _("Add to notebook")
    with show_errors():
        notebooks = [
            one for one in list_notebooks(workspace, resources.person()) if owns(resources.person(), one.owner)
        ]
        if len(notebooks) == 1:
            _draw_button(label, _ICON, workspace, notebooks[0].id, make, key)
            return
        with st.popover(label, icon=_ICON, type="tertiary", key=f"{key} notebooks"):
            for notebook in notebooks:
                _draw_button(escape(notebook_name(notebook)), ":material/book:", workspace, notebook.id, make, key)


def _draw_button(
    label: str, icon: str, workspace: Path, notebook: str, make: Callable[[], NotebookEntry], key: str
) -> None:
    # No callback: a source is a fragment, whose callbacks may draw nothing.
    if st.button(label, icon=icon, type="tertiary", key=f"{key} add {notebook}"):
        _add(workspace, notebook, make)


def _add(workspace: Path, notebook: str, make: Callable[[], NotebookEntry]) -> None:
    with show_errors():
        before, after = change_notebook(workspace, notebook, lambda one: with_entry(one, make()), resources.person())
        name = escape(notebook_name(after))
        known = after == before
        told = _("Already in the notebook {name}.") if known else _("Added to the notebook {name}.")
        st.toast(told.format(name=name), icon=_ICON)
