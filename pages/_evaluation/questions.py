"""Test questions with the evidence they expect, and the ways to add, edit and remove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import shorten

import streamlit as st

from ingestion.acts.evaluation import (
    exported_questions,
    good_answers,
    import_questions,
    keep_good_answers,
    remove_questions,
    restore_questions,
)
from pages._admin.evidence import page_link
from pages._evaluation.editor import edit_question
from pages._shared import resources
from pages._shared.elements import act_button, draw_download, draw_more, draw_way_back, keep_way_back
from pages._shared.errors import show_errors, showing_errors
from pages._shared.filter_widgets import display_text, filter_label
from pages._shared.interface_language import _
from pages._shared.markdown import escape, quoted
from pages._shared.numbers_and_dates import counted, number
from pages._uploads.uploader import draw_preview_uploader, leave, stored_preview
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.test_questions import read_test_questions
from rag_engine.filters import Filter
from rag_engine.text.folding import fold

# Questions drawn at once: each has several widgets.
_SHOWN = 20
# Characters of a quote that are shown.
_QUOTED = 280
_MOST, _UNDO = "test questions shown", "test questions undo"
_IMPORT = "test questions import"


def draw_questions() -> None:
    """Draw the test questions and the ways to add to them."""
    with show_errors():
        questions = read_test_questions(resources.workspace())
        _draw_additions(questions)
        draw_way_back(_UNDO, "put_question")
        if not questions:
            st.info(
                _(
                    "No test questions yet. On the Ask page, “Keep as a test question” below a good answer keeps the "
                    "question with the passages that the answer cites."
                ),
                icon=":material/fact_check:",
            )
            return
        _draw_list(questions)


def describe_filter(wanted: Filter) -> str:
    """Return a filter in words, "" for none.

    >>> describe_filter({"country": ("Italy", "France"), "year": ("2019",)})
    'Country: Italy, France; Year: 2019'
    """
    parts = (
        _("{name}: {value}").format(
            name=filter_label(name), value=", ".join(display_text(name, value) for value in values)
        )
        for name, values in wanted.items()
    )
    return "; ".join(parts)


def _draw_additions(questions: Sequence[AnswerQuestion]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if act_button("put_question", _("Write a question"), key="write question", icon=":material/add:"):
            edit_question(None)
        good = good_answers(resources.context())
        if good:
            label = counted("Keep {n} answer rated good", "Keep {n} answers rated good", len(good))
            act_button(
                "keep_good_answers",
                label,
                key="keep good",
                icon=":material/thumb_up:",
                on_click=showing_errors(_keep_good),
            )
        with st.popover(_("Import"), icon=":material/upload:", type="tertiary"):
            _draw_import()
        if questions:
            help = _("One JSON object a line, as “Import” reads them.")
            read = partial(exported_questions, resources.context())
            draw_download(_("Export"), read, "questions.jsonl", "export questions", help=help)


def _draw_import() -> None:
    file = draw_preview_uploader(_IMPORT, _("Questions, one JSON object a line"), ["jsonl"])
    st.caption(_("The format of “Export”; a question with a known id replaces that one."))
    if file is not None and act_button(
        "import_questions", _("Import questions"), key="import", icon=":material/upload:"
    ):
        with show_errors():
            found = import_questions(resources.context(), stored_preview(_IMPORT, file))
            done = _("{added} added, {replaced} replaced.")
            told = [done.format(added=number(found.added), replaced=number(found.replaced))]
            if found.missing:
                told.append(_("Not in the collection: {names}.").format(names=", ".join(found.missing[:3])))
            st.toast(escape(" ".join(told)))
            leave(_IMPORT)


def _keep_good() -> None:
    kept = [answer.id for answer in keep_good_answers(resources.context())]
    told = counted("{n} question kept.", "{n} questions kept.", len(kept))
    keep_way_back(_UNDO, told, lambda: remove_questions(resources.context(), kept))


def _draw_list(questions: Sequence[AnswerQuestion]) -> None:
    files = {document.file: document.document_id for document in resources.engine().collection.documents()}
    sought = st.text_input(
        _("Find"), key="find question", placeholder=_("Words of a question"), label_visibility="collapsed"
    )
    found = [one for one in reversed(questions) if fold(sought) in fold(one.question)]
    answerable = sum(one.answerable for one in found)
    st.caption(
        counted(
            "{n} question: {answerable} with an answer in the collection, {others} without.",
            "{n} questions: {answerable} with an answer in the collection, {others} without.",
            len(found),
            answerable=number(answerable),
            others=number(len(found) - answerable),
        )
    )
    most: int = st.session_state.setdefault(_MOST, _SHOWN)
    for question in found[:most]:
        with st.container(border=True, key=f"question {question.id}"):
            _draw_question(question, files)
    if len(found) > most:
        label = _("Show more questions ({n})").format(n=number(len(found) - most))
        draw_more(_MOST, label, most + _SHOWN)


def _draw_question(question: AnswerQuestion, files: Mapping[str, str]) -> None:
    st.markdown(f"**{escape(question.question)}**")
    if wanted := describe_filter(question.filters):
        st.caption(f":material/filter_alt: {escape(wanted)}")
    if not question.answerable:
        st.caption(_(":material/search_off: Expected: no answer, since the collection does not answer this."))
    for quote in question.passages:
        place = f"{escape(quote.document)}, {page_link(files.get(quote.document, ''), quote.page)}"
        shown = quoted(escape(shorten(quote.quote, _QUOTED, placeholder=" …")))
        st.markdown(f":material/format_quote: {shown} {place}")
        if quote.document not in files:
            st.caption(_(":material/info: No longer in the collection: {name}").format(name=escape(quote.document)))
    with st.container(horizontal=True):
        if act_button("put_question", _("Edit"), key=f"edit {question.id}", icon=":material/edit:", type="tertiary"):
            edit_question(question)
        act_button(
            "remove_questions",
            _("Remove"),
            key=f"remove {question.id}",
            icon=":material/delete:",
            type="tertiary",
            on_click=showing_errors(_remove, question.id),
        )


def _remove(id: str) -> None:
    removed = remove_questions(resources.context(), [id])
    told = counted("{n} question removed.", "{n} questions removed.", len(removed))
    keep_way_back(_UNDO, told, lambda: restore_questions(resources.context(), removed))
