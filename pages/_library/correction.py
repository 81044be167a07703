"""Correction of the metadata of one or several documents in one form, and how to undo it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from ingestion.acts.corrections import agree, correct, describe_records, undo, vocabulary
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import shown_values
from ingestion.types.description import ALL_FIELDS, FieldName
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, in_own_place, known_author, translated_dialog
from pages._shared.errors import show_errors
from pages._shared.field_inputs import LONG, draw_field, heading_of, value_text
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from rag_engine.text.excerpt import shortened
from rag_engine.types.document import DocumentRecord

_DONE = "documents corrected"
# Different values of a field that are listed below its input.
_LISTED = 4
# Characters of one of them.
_VALUE = 80

_Values = tuple[str, ...]


def note_done(sources: Sequence[str], entered: Sequence[Correction], what: str) -> None:
    """Have the page say what was done to documents, with the button to undo just that."""
    if entered:
        st.session_state[_DONE] = tuple(sources), entered[0].batch, what


def agree_with(sources: Sequence[str], fields: Sequence[FieldName] = ()) -> None:
    """Confirm the extracted values of documents, those of the fields or all, and have the page say so."""
    with show_errors():
        entered = agree(resources.context(), sources, known_author(), fields)
        note_done(sources, entered, counted("{n} value confirmed.", "{n} values confirmed.", len(entered)))
        st.rerun()


def forget_done(batch: str) -> None:
    """Have the page no longer offer to undo an act of which a part was undone elsewhere."""
    if st.session_state.get(_DONE, ((), "", ""))[1] == batch:
        del st.session_state[_DONE]


@in_own_place
def draw_done(source: str = "") -> None:
    """Draw what was last done to documents, or to the one of the page, with the button to undo it."""
    if _DONE not in st.session_state:
        return
    sources, batch, what = st.session_state[_DONE]
    if source and source not in sources:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="correction done"):
        st.markdown(f":material/check_circle: {what}", width="content")
        if act_button("undo", _("Undo"), icon=":material/undo:", key="undo corrections"):
            with show_errors():
                undo(resources.context(), sources, known_author(), batch=batch)
                del st.session_state[_DONE]
                st.rerun()
        if st.button("", icon=":material/close:", type="tertiary", key="correction seen", help=_("Close")):
            del st.session_state[_DONE]
            st.rerun()


@translated_dialog(to_translate("Correct"), width="large", icon=":material/edit:")
def draw_correction(documents: Sequence[DocumentRecord]) -> None:
    """Draw one form for the documents, in which only what is changed counts; it tells of differing values."""
    described, labels = describe_records(resources.context(), documents), vocabulary()
    if len(documents) == 1:
        st.markdown(f"**{escape(documents[0].metadata.title or documents[0].file)}**")
    else:
        st.caption(
            counted(
                "{n} document. Fields you leave as they are do not change.",
                "{n} documents. Fields you leave as they are do not change.",
                len(documents),
            )
        )
    author = draw_author()
    key = f"correct {hash(tuple(document.key for document in documents))} {resources.engine().catalog.change()}"
    before, after = _common(described), dict[FieldName, _Values]()
    with st.form(f"{key} form", border=False):
        top = st.container()
        left, right = st.columns(2)
        short = [field for field in before if field not in (*LONG, "title")]
        for field in ("title", *short, *(one for one in before if one in LONG)):
            given = before[field]
            hint = counted("{n} different value", "{n} different values", len(given)) if len(given) > 1 else ""
            common = next(iter(given)) if len(given) == 1 else ()
            side = (
                (left, right)[short.index(field) % 2] if field in short else top if field == "title" else st.container()
            )
            with side:
                after[field] = tuple(
                    draw_field(heading_of(field), field, common, labels.get(field, ()), f"{key} {field}", hint)
                )
                if len(given) > 1:
                    st.caption(_differing(given, partial(value_text, field)))
        note = st.text_input(_("Note"), placeholder=_("Where it is stated, why it is correct"), key=f"{key} note")
        saved = act_button(
            "correct", _("Save"), in_form=True, type="primary", icon=":material/save:", key="save documents"
        )
    if not saved:
        return
    with show_errors():
        changed = _changed(before, after)
        values = {document.source: changed for document in documents}
        entered = correct(resources.context(), values, author, note) if changed else ()
        note_done([document.source for document in documents], entered, describe_corrected(entered))
        st.rerun()


def describe_corrected(entered: Sequence[Correction]) -> str:
    """Return how many values were corrected in how many documents.

    >>> describe_corrected([Correction("EEA001", "title", ("Flood plan",)), Correction("EEA001", "tags", ())])
    '2 values corrected in 1 document.'
    """
    documents = len({correction.code for correction in entered})
    return counted(
        "{n} value corrected in {documents}.",
        "{n} values corrected in {documents}.",
        len(entered),
        documents=counted("{n} document", "{n} documents", documents),
    )


def _common(described: Sequence[SourceRecord]) -> dict[FieldName, Counter[_Values]]:
    """Return the values of each field that all documents have, each with its number of documents."""
    shown = [shown_values(record) for record in described]
    fields = [field for field in ALL_FIELDS if all(field in one for one in shown)]
    return {field: Counter(one[field] for one in shown) for field in fields}


def _changed(
    before: Mapping[FieldName, Counter[_Values]], after: Mapping[FieldName, _Values]
) -> dict[FieldName, _Values]:
    """Return the inputs that a person changed; one over different values begins empty."""
    begun = {field: next(iter(given)) if len(given) == 1 else () for field, given in before.items()}
    return {field: values for field, values in after.items() if _cleaned(values) != _cleaned(begun[field])}


def _cleaned(values: _Values) -> set[str]:
    return {value.strip() for value in values if value.strip()}


def _differing(given: Counter[_Values], shown: Callable[[str], str]) -> str:
    empty = _("(empty)")
    listed = [
        f"{escape(shortened('; '.join(map(shown, values)), _VALUE)) or empty} ({number(count)})"
        for values, count in given.most_common(_LISTED)
    ]
    if len(given) > _LISTED:
        listed.append(counted("and {n} more", "and {n} more", len(given) - _LISTED))
    return _("Now: {values}").format(values=" · ".join(listed))
