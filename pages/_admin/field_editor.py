"""Editor of one field of one document: its values with their evidence, and their correction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from ingestion.acts.corrections import correct, undo
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import field_values, shown_values
from ingestion.types.description import FIELDS, LIST_FIELDS, FieldName, FieldValue
from pages._admin.evidence import indexed_document, page_link
from pages._admin.source_detail import draw_events
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.field_inputs import draw_field, heading_of, value_text
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape, escape_paragraphs, quoted
from pages._shared.numbers_and_dates import day, percent

_SOURCES = {
    "model": ("blue", ":material/smart_toy:", to_translate("language model")),
    "rule": ("gray", ":material/rule:", to_translate("rule")),
    "person": ("green", ":material/person:", to_translate("a person")),
    "list": ("gray", ":material/list_alt:", to_translate("source list")),
}


def draw_values(shown: Sequence[SourceRecord], author: str, labels: Mapping[FieldName, Sequence[str]]) -> None:
    """Draw the choice of a document and a field, and the values of that field."""
    by_code = {one.source.code: one for one in shown}
    if st.session_state.get("values document") not in by_code:
        st.session_state["values document"] = next(iter(by_code))
    with st.container(border=True, key="values"):
        code: str = st.selectbox(
            _("Document"),
            by_code,
            format_func=lambda one: f"{one} {by_code[one].metadata.title}",
            key="values document",
        )
        field: FieldName = st.selectbox(_("Field"), FIELDS, format_func=heading_of, key="values field")
        record = by_code[code]
        found = field_values(record, field)
        if not found:
            st.caption(_("This field is empty."))
        for value in found:
            draw_value(value, indexed_document(record))
        _draw_correction(record, field, author, labels.get(field, ()))
        with st.expander(_("History"), icon=":material/history:", key="values history"):
            draw_events(code)


def draw_applied(place: str, told: Callable[[int], str]) -> None:
    """Draw once what `told` says of the number of corrections that were made at this place of the page."""
    if count := st.session_state.pop(place, 0):
        st.markdown(f":material/check_circle: {told(count)}")


def draw_value(value: FieldValue, document_id: str = "") -> None:
    """Draw a value with its origin, its confidence, and the sentence and page that justify it."""
    colour, sign, name = _SOURCES[value.source]
    confidence = _("confidence {share}").format(share=percent(value.confidence))
    badge = f":{colour}-badge[{sign} {_(name)}]"
    sure = "" if value.source == "person" else f" · {confidence}"
    st.markdown(f"**{escape(value_text(value.field, value.value))}**  \n{badge}{sure}")
    if value.sentence:
        page = f" ({page_link(document_id, value.page)})" if value.page is not None else ""
        sentence = escape_paragraphs(value.sentence)
        st.caption(sentence if value.source == "person" else f"{quoted(sentence)}{page}")


def _draw_correction(record: SourceRecord, field: FieldName, author: str, labels: Sequence[str]) -> None:
    code, before = record.source.code, shown_values(record)[field]
    key = f"correct {code} {field} {st.session_state.get('grid batch', 0)}"
    with st.form(f"{key} form", border=False):
        label = _("Correct values") if field in LIST_FIELDS else _("Correct value")
        after = draw_field(label, field, before, labels, key)
        note = st.text_input(
            _("Note"), placeholder=_("Where it is stated, why it is correct"), key=f"{key} note", max_chars=1000
        )
        saved = act_button("correct", _("Save correction"), in_form=True, icon=":material/save:", key="save correction")
    by = next((correction for correction in record.corrections if correction.field == field), None)
    back = False
    if by is not None:
        st.caption(_("Corrected by {name}, {day}.").format(name=escape(by.author), day=escape(day(by.when))))
        back = act_button(
            "undo", _("Undo"), icon=":material/undo:", help=_("Return to the previous value"), key="undo correction"
        )
    if saved or back:
        with show_errors():
            if back:
                undo(resources.context(), [code], author, field)
            else:
                correct(resources.context(), {code: {field: after}}, author, note)
            st.session_state["grid batch"] = st.session_state.get("grid batch", 0) + 1
            st.session_state["corrections saved"] = 1
            st.rerun()
