"""Metadata of the documents as a grid for corrections, which win over every extractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from ingestion.acts.corrections import correct, vocabulary
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import changed_fields, documents, missing_fields, shown_values, unsure_fields
from ingestion.types.description import FIELDS, LIST_FIELDS, FieldName
from pages._admin.field_editor import draw_applied, draw_values
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show_errors
from pages._shared.field_inputs import heading_of, value_text
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted, number
from rag_engine.text.folding import fold

_UNSURE = 0.5
_BESIDE = 350
_SAVED = "corrections saved"
_SHOWN = {
    "all": to_translate("All"),
    "unsure": to_translate("Low-confidence values"),
    "missing": to_translate("Empty fields"),
}
_WIDE: Mapping[FieldName, int] = {"title": 260, "authority": 180, "target": 260, "description": 300, "notes": 200}
_ORDER: tuple[FieldName, ...] = (
    "title", "document_type", "authority", "hazards", "geographical_level", "countries", "language", "date",
    "key_criteria", "tags", "target", "description", "notes",
)  # fmt: skip


def draw_metadata() -> None:
    """Draw the grid and, next to it, the evidence for one value."""
    found = documents(resources.records().values())
    if not found:
        st.info(
            _(
                "No source of the list has metadata yet. Run the phases up to metadata on the Run tab; "
                "documents that were added by hand are described in the Library."
            )
        )
        return
    author = draw_author()
    draw_applied(_SAVED, _saved)
    shown = _narrowed(found)
    if not shown:
        st.info(_("No documents match."), icon=":material/done_all:")
        return
    # Side by side where there is room, one below the other where there is not.
    with st.container(horizontal=True):
        with st.container():
            _draw_grid(shown, author)
        with st.container(width=_BESIDE):
            draw_values(shown, author, vocabulary())


def _saved(n: int) -> str:
    return counted(
        "{n} correction saved. Filters, searches and answers use it from now on.",
        "{n} corrections saved. Filters, searches and answers use them from now on.",
        n,
    )


def _narrowed(found: Sequence[SourceRecord]) -> list[SourceRecord]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which: str = st.segmented_control(
            _("Show documents"),
            list(_SHOWN),
            default="all",
            required=True,
            format_func=lambda one: _(_SHOWN[one]),
            key="metadata which",
        )
        field: FieldName | None = st.selectbox(
            _("Field"), _ORDER, index=None, placeholder=_("Any field"), format_func=heading_of,
            key="metadata narrowed field", width=220,
        )  # fmt: skip
        words = st.text_input(_("Find"), placeholder=_("Code or title"), icon=":material/search:", key="metadata words")
        below = (
            st.slider(_("Confidence below"), 0.1, 1.0, _UNSURE, 0.05, key="metadata unsure", width=220)
            if which == "unsure"
            else _UNSURE
        )
    wanted = fold(words).split()
    kept: list[SourceRecord] = []
    for record in found:
        fields = _fields(record, which, below)
        text = fold(f"{record.source.code} {record.metadata.title}")
        if (field in fields if field else fields) and all(word in text for word in wanted):
            kept.append(record)
    st.caption(counted("{shown} of {n} document", "{shown} of {n} documents", len(found), shown=number(len(kept))))
    return kept


def _fields(record: SourceRecord, which: str, below: float) -> Sequence[FieldName]:
    """Return the fields of a document that are as the person wants to see them."""
    if which == "unsure":
        return unsure_fields(record, below)
    return missing_fields(record) if which == "missing" else FIELDS


def _draw_grid(shown: Sequence[SourceRecord], author: str) -> None:
    batch = st.session_state.setdefault("grid batch", 0)
    labels = vocabulary()
    key = f"grid {batch} {hash(tuple(one.source.code for one in shown))}"
    st.data_editor(
        pd.DataFrame([_row(record) for record in shown]),
        hide_index=True,
        disabled=["code", "check"],
        column_order=["code", "check", *_ORDER],
        column_config=_columns(shown, labels),
        height=min(38 + 35 * len(shown), 520),
        key=key,
        alt=_("Documents and their fields; double-click a cell to change it"),
    )
    changed = st.session_state[key]["edited_rows"]
    with show_errors():
        values = _edited(changed, shown)
        count = sum(
            len(changed_fields(one, values[one.source.code], author, labels))
            for one in shown
            if one.source.code in values
        )
        with st.container(horizontal=True):
            saving = counted("Save {n} correction", "Save {n} corrections", count)
            label = saving if count else _("Save corrections")
            if act_button(
                "import_corrections",
                label,
                type="primary",
                icon=":material/save:",
                disabled=not count,
                key="save corrections",
            ):
                st.session_state[_SAVED] = len(correct(resources.context(), values, author))
                st.session_state["grid batch"] = batch + 1
                st.rerun()
            if st.button(_("Discard changes"), disabled=not changed, key="leave corrections"):
                st.session_state["grid batch"] = batch + 1
                st.rerun()


def _edited(
    changed: Mapping[int, Mapping[str, Any]], shown: Sequence[SourceRecord]
) -> dict[str, dict[FieldName, list[str]]]:
    """Return the cells that were edited in the grid, by document and field."""
    return {
        shown[int(position)].source.code: {field: _texts(cells[field]) for field in FIELDS if field in cells}
        for position, cells in changed.items()
    }


def _texts(cell: object) -> list[str]:
    """Return a cell as the values of a field."""
    if isinstance(cell, list | tuple):
        return [str(one) for one in cell]
    return [str(cell)] if cell not in (None, "") else []


def _row(record: SourceRecord) -> dict[str, str | list[str] | None]:
    unsure, empty = len(unsure_fields(record, _UNSURE)), len(missing_fields(record))
    check = (
        counted("{n} low-confidence", "{n} low-confidence", unsure) if unsure else "",
        counted("{n} empty", "{n} empty", empty) if empty else "",
    )
    row: dict[str, str | list[str] | None] = {"code": record.source.code, "check": ", ".join(filter(None, check))}
    for field, values in shown_values(record).items():
        row[field] = list(values) if field in LIST_FIELDS else next(iter(values), None)
    return row


def _columns(shown: Sequence[SourceRecord], labels: Mapping[FieldName, Sequence[str]]) -> dict[str, Any]:
    configured: dict[str, Any] = {"code": st.column_config.TextColumn(_("Code"), width=90, pinned=True)}
    configured["check"] = st.column_config.TextColumn(_("To check"), width=150)
    present = [shown_values(record) for record in shown]
    for field in _ORDER:
        # A value from outside the vocabulary is shown as it is, though nobody can choose it again.
        options = list(dict.fromkeys([*labels.get(field, ()), *(one for row in present for one in row[field])]))
        if field in LIST_FIELDS:
            configured[field] = st.column_config.MultiselectColumn(
                heading_of(field),
                options=options,
                accept_new_options=field not in labels,
                format_func=partial(_shown, field),
                width=200,
            )
        elif field in labels:
            configured[field] = st.column_config.SelectboxColumn(
                heading_of(field), options=options, format_func=partial(_shown, field), width=150
            )
        else:
            validate = {"date": r"^\d{4}(-\d{2}(-\d{2})?)?$", "language": "^[a-z]{2}$"}.get(field)
            configured[field] = st.column_config.TextColumn(
                heading_of(field), validate=validate, width=_WIDE.get(field, 100)
            )
    return configured


def _shown(field: FieldName, value: object) -> str:
    return value_text(field, str(value))
