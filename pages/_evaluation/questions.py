"""Test questions: those of the workspace with the evidence they expect, and the ways to add, edit and remove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten

import streamlit as st

from ingestion.operations.evaluation import (
    RemovedQuestion,
    exported_questions,
    good_answers,
    import_questions,
    keep_good_answers,
    remove_questions,
    restore_questions,
)
from ingestion.status.views import pluralised
from pages._admin.evidence import page_link
from pages._admin.uploaded_file import draw_uploader, leave, stored_preview
from pages._evaluation.editor import edit_question
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import display_text, filter_label
from pages._shared.markdown import escape
from rag_engine.evaluation.answers.own_questions import read_own_questions
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.filters import Filter
from rag_engine.text.folding import fold

# Questions drawn at once: each has several widgets.
_SHOWN = 20
# Characters of a quote that are shown.
_QUOTED = 280
_MOST, _REMOVED, _KEPT = "test questions shown", "test questions removed", "test questions kept"
_IMPORT = "test questions import"


def draw_questions() -> None:
    """Draw the test questions and the ways to add to them."""
    with show_errors():
        questions = read_own_questions(resources.workspace())
        _draw_additions(questions)
        _draw_undo()
        if not questions:
            st.info(
                "No test questions yet. On the Ask page, “Keep as a test question” below a good answer keeps the "
                "question with the passages that the answer cites.",
                icon=":material/fact_check:",
            )
            return
        _draw_list(questions)


def describe_filter(wanted: Filter) -> str:
    """Return a filter in words, "" for none."""
    parts = (
        f"{filter_label(name)}: {', '.join(display_text(name, one) for one in values)}"
        for name, values in wanted.items()
    )
    return "; ".join(parts)


def _draw_additions(questions: Sequence[AnswerQuestion]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Write a question", key="write question", icon=":material/add:"):
            edit_question(None)
        good = good_answers(resources.desk())
        if good:
            label = f"Keep {pluralised(len(good), 'answer')} rated good"
            st.button(label, key="keep good", icon=":material/thumb_up:", on_click=_keep_good)
        with st.popover("Import", icon=":material/upload:", type="tertiary"):
            _draw_import()
        if questions:
            st.download_button(
                "Export",
                lambda: exported_questions(resources.desk()),
                "questions.jsonl",
                "application/octet-stream",
                key="export questions",
                icon=":material/download:",
                type="tertiary",
                on_click="ignore",
                help="One JSON object a line, as `sextant eval answers` reads them.",
            )


def _draw_import() -> None:
    file = draw_uploader(_IMPORT, "Questions, one JSON object a line", ["jsonl"])
    st.caption("The format of `sextant eval answers`; a question with a known id replaces it.")
    if file is not None and st.button("Import questions", key="import", icon=":material/upload:"):
        with show_errors():
            found = import_questions(resources.desk(), stored_preview(_IMPORT, file))
            words = f"{found.added} added, {found.replaced} replaced."
            if found.missing:
                words += f" Not in the collection: {', '.join(found.missing[:3])}."
            st.toast(escape(words))
            leave(_IMPORT)


def _keep_good() -> None:
    with show_errors():
        kept = keep_good_answers(resources.desk())
        st.session_state[_KEPT] = [one.id for one in kept]
        st.session_state.pop(_REMOVED, None)


def _draw_undo() -> None:
    """Draw the way back of what was removed last, or kept in bulk."""
    removed: Sequence[RemovedQuestion] = st.session_state.get(_REMOVED, ())
    kept: Sequence[str] = st.session_state.get(_KEPT, ())
    if not removed and not kept:
        return
    words = f"{pluralised(len(removed or kept), 'question')} {'removed' if removed else 'kept'}."
    with st.container(horizontal=True, vertical_alignment="center", key="test-questions-undo"):
        st.caption(words, width="content")
        st.button("Undo", key="undo question", icon=":material/undo:", type="tertiary", on_click=_undo)


def _undo() -> None:
    with show_errors():
        restore_questions(resources.desk(), st.session_state.pop(_REMOVED, ()))
        remove_questions(resources.desk(), st.session_state.pop(_KEPT, ()))


def _draw_list(questions: Sequence[AnswerQuestion]) -> None:
    files = {one.file: one.document_id for one in resources.engine().collection.documents()}
    sought = st.text_input("Find", key="find question", placeholder="Words of a question", label_visibility="collapsed")
    found = [one for one in reversed(questions) if fold(sought) in fold(one.question)]
    answerable = sum(one.answerable for one in found)
    st.caption(
        f"{pluralised(len(found), 'question')}: {answerable} with an answer in the collection, "
        f"{len(found) - answerable} without."
    )
    most: int = st.session_state.setdefault(_MOST, _SHOWN)
    for question in found[:most]:
        with st.container(border=True, key=f"question {question.id}"):
            _draw_question(question, files)
    if len(found) > most:
        label = f"Show more questions ({len(found) - most:,})"
        st.button(label, icon=":material/expand_more:", type="tertiary", on_click=_show_more)


def _draw_question(question: AnswerQuestion, files: Mapping[str, str]) -> None:
    st.markdown(f"**{escape(question.question)}**")
    if wanted := describe_filter(question.filters):
        st.caption(f":material/filter_alt: {escape(wanted)}")
    if not question.answerable:
        st.caption(":material/search_off: Expected: no answer, since the collection does not answer this.")
    for quote in question.passages:
        place = f"{escape(quote.document)}, {page_link(files.get(quote.document, ''), quote.page)}"
        st.markdown(f":material/format_quote: “{escape(shorten(quote.quote, _QUOTED, placeholder=' …'))}” {place}")
        if quote.document not in files:
            st.caption(f":material/info: No longer in the collection: {escape(quote.document)}")
    with st.container(horizontal=True):
        if st.button("Edit", key=f"edit {question.id}", icon=":material/edit:", type="tertiary"):
            edit_question(question)
        st.button(
            "Remove",
            key=f"remove {question.id}",
            icon=":material/delete:",
            type="tertiary",
            on_click=_remove,
            args=(question.id,),
        )


def _remove(id: str) -> None:
    with show_errors():
        st.session_state[_REMOVED] = remove_questions(resources.desk(), [id])
        st.session_state.pop(_KEPT, None)


def _show_more() -> None:
    st.session_state[_MOST] += _SHOWN
