"""One question to each document: starting it, and what the documents have replied."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion.dataset.answer_store import AnsweredForm
from ingestion.dataset.document_answers import DocumentsRequest
from ingestion.operations.answers import ask_documents, exported_answers, remove_answers
from ingestion.operations.dataset import answered_forms
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING, draw_filters
from pages._shared.interface_language import _, in_this_language
from pages._shared.jobs import draw_runs
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from pages._shared.shown_names import shown_name
from pages._uploads.schema_choice import draw_schema_choice

_REMOVING = "answers to remove"


def draw_document_answers() -> None:
    """Draw how to ask every document the same question, the runs, and the questions asked; none without documents."""
    engine = resources.engine()
    if not engine.collection.documents():
        return
    st.header(_("One question to each document"), anchor=False)
    st.markdown(
        _(
            "Each document is asked on its own and fills in the same form: one row per document, with the page of "
            "every value. The workbook of the dataset has the rows too."
        )
    )
    with st.container(border=True):
        question = st.text_input(_("Question"), key="documents question", max_chars=2000)
        schema = draw_schema_choice(_("Form"), "documents")
        with st.expander(_("Documents"), icon=":material/filter_alt:", key="documents filter"):
            wanted = draw_filters("documents", engine.collection.facets())
        ready = bool(question.strip()) and schema is not None
        if act_button(
            "ask_documents",
            _("Ask each document"),
            type="primary",
            disabled=not ready,
            icon=":material/play_arrow:",
            key="ask each document",
        ):
            assert schema is not None, "the button is disabled without one"
            with show_errors():
                ask_documents(resources.desk(), DocumentsRequest(question.strip(), schema, wanted))
                st.rerun()
    draw_runs()
    for form in answered_forms(resources.desk()):
        _draw_form(form)


def _draw_form(form: AnsweredForm) -> None:
    statuses = [one.status for one in form.answers.values()]
    counts = ", ".join(f"{number(statuses.count(status))} {shown_name(status)}" for status in dict.fromkeys(statuses))
    with st.container(border=True, key=f"form {form.id}"):
        st.markdown(f"**{escape(form.question)}** · {escape(form.schema.title or form.schema.list_name)}")
        st.caption(counted("{n} document: {counts}.", "{n} documents: {counts}.", len(statuses), counts=counts))
        with st.container(horizontal=True):
            st.download_button(
                _("Excel workbook"),
                in_this_language(partial(exported_answers, resources.desk(), form.id, WORDING)),
                "sextant-answers.xlsx",
                "application/octet-stream",
                key=f"answers {form.id}",
                icon=":material/table_view:",
                on_click="ignore",
            )
            _draw_removal(form)


def _draw_removal(form: AnsweredForm) -> None:
    """Draw how to remove the answers, which asks once more: a model may have worked for hours."""
    if st.session_state.get(_REMOVING) != form.id:
        if act_button("remove_answers", _("Remove"), key=f"remove answers {form.id}", icon=":material/delete:"):
            st.session_state[_REMOVING] = form.id
            st.rerun()
        return
    if act_button(
        "remove_answers",
        _("Remove all answers"),
        key=f"remove all answers {form.id}",
        type="primary",
        icon=":material/delete:",
    ):
        remove_answers(resources.desk(), form.id)
        del st.session_state[_REMOVING]
        st.rerun()
    if st.button(_("Cancel"), key=f"keep answers {form.id}"):
        del st.session_state[_REMOVING]
        st.rerun()
