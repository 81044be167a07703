"""Form for a test question: its words, and the passages that answer it, if any do."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from ingestion.acts.evaluation import put_question
from pages._shared import resources
from pages._shared.elements import act_button, translated_dialog
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, to_translate
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.gold import Quote

_EXPECTED = {
    True: to_translate("The collection answers this"),
    False: to_translate("The collection does not answer this"),
}
_NEW = AnswerQuestion("", "", "", "", "", (), ())


@translated_dialog(to_translate("Test question"), width="large", icon=":material/fact_check:")
def edit_question(question: AnswerQuestion | None, words: str = "") -> None:
    """Open the form for a question, else for a new one with these words, and keep it once saved."""
    before, id = question or _NEW, question.id if question else "new"
    asked = st.text_area(_("Question"), before.question or words, key=f"asked {id}", max_chars=2000)
    answerable: bool = st.radio(
        _("Expected"),
        list(_EXPECTED),
        index=int(bool(question) and not before.answerable),
        key=f"expected {id}",
        format_func=lambda one: _(_EXPECTED[one]),
        horizontal=True,
        label_visibility="collapsed",
    )
    passages: tuple[Quote, ...] = ()
    answer = before.answer
    if answerable:
        passages = _draw_passages(before, id)
        answer = st.text_area(
            _("Reference answer (optional)"),
            before.answer,
            key=f"answer {id}",
            help=_("Only a judge reads it: a second language model that compares answers with it."),
            max_chars=5000,
        )
    filters = before.filters
    if filters and not st.checkbox(_("Ask with the filters that were set"), value=True, key=f"filtered {id}"):
        filters = {}
    if act_button("put_question", _("Save"), key=f"save question {id}", type="primary", icon=":material/check:"):
        with show_errors():
            changed = AnswerQuestion(
                before.id,
                before.language if asked == before.question else "",
                before.kind,
                asked,
                answer,
                passages,
                before.keywords,
                before.split,
                filters,
            )
            put_question(resources.context(), changed, answerable=answerable)
            st.session_state.pop(f"passages {id}", None)
            st.rerun()


def _draw_passages(before: AnswerQuestion, id: str) -> tuple[Quote, ...]:
    """Draw the passages that answer, each with its document and quote, and return those with words."""
    titles = {document.file: document.shown_title for document in resources.engine().collection.documents()}
    known = [*titles, *dict.fromkeys(quote.document for quote in before.passages if quote.document not in titles)]
    count_key = f"passages {id}"
    count: int = st.session_state.setdefault(count_key, max(len(before.passages), 1))
    st.caption(_("Passages of one document answer together; another document answers on its own."))
    drawn = [_draw_passage(before, id, place, known, titles) for place in range(count)]
    if st.button(_("Add a passage"), key=f"add passage {id}", icon=":material/add:", type="tertiary"):
        st.session_state[count_key] = count + 1
        st.rerun(scope="fragment")
    return tuple(one for one in drawn if one.quote.strip())


def _draw_passage(before: AnswerQuestion, id: str, place: int, known: list[str], titles: Mapping[str, str]) -> Quote:
    given = before.passages[place] if place < len(before.passages) else Quote("", 0, "")
    with st.container(border=True):
        document = st.selectbox(
            _("Document"),
            known,
            index=known.index(given.document) if given.document else None,
            format_func=lambda file: titles.get(file, file),
            key=f"document {id} {place}",
            placeholder=_("Choose the document that answers"),
        )
        quote = st.text_area(
            _("Passage"),
            given.quote,
            key=f"quote {id} {place}",
            placeholder=_("Its words, copied from the document; leave empty to drop this passage"),
            max_chars=5000,
        )
        page = st.number_input(
            _("Page"),
            min_value=1,
            value=given.page or None,
            key=f"page {id} {place}",
            placeholder=_("Found by its words"),
        )
    return Quote(document or "", int(page or 0), quote)
