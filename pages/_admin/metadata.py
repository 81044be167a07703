"""Metadata of the documents as a grid for corrections, which win over every extractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ingestion.operations.corrections import correct, vocabulary
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import changed_fields, documents, missing_fields, shown_values, unsure_fields
from ingestion.status.views import pluralised
from ingestion.types import FIELDS, LIST_FIELDS, FieldName
from pages._admin.field_editor import draw_applied, draw_values
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show_errors
from pages._shared.field_inputs import heading_of
from rag_engine.text.folding import fold

_UNSURE = 0.5
_BESIDE = 350
_SAVED = "corrections saved"
_WIDE: Mapping[FieldName, int] = {"title": 260, "authority": 180, "target": 260, "description": 300, "notes": 200}
_ORDER: tuple[FieldName, ...] = (
    "title", "document_type", "authority", "hazards", "geographical_level", "countries", "language", "date",
    "key_criteria", "tags", "target", "description", "notes",
)  # fmt: skip


def draw_metadata() -> None:
    """Draw the grid and, next to it, the evidence for one value."""
    found = documents(resources.records().values())
    if not found:
        st.info("No document has metadata yet. Run the phases up to metadata on the Run tab.")
        return
    author = draw_author()
    draw_applied(_SAVED, "saved. Filters, searches and answers use them from now on.")
    shown = _narrowed(found)
    if not shown:
        st.info("No documents match.", icon=":material/done_all:")
        return
    # Side by side where there is room, one below the other where there is not.
    with st.container(horizontal=True):
        with st.container():
            _draw_grid(shown, author)
        with st.container(width=_BESIDE):
            draw_values(shown, author, vocabulary())


def _narrowed(found: Sequence[SourceRecord]) -> list[SourceRecord]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which: str = st.segmented_control(
            "Show documents",
            ["all", "unsure", "missing"],
            default="all",
            required=True,
            format_func=lambda one: {"all": "All", "unsure": "Low-confidence values", "missing": "Empty fields"}[one],
            key="metadata which",
        )
        field: FieldName | None = st.selectbox(
            "Field", _ORDER, index=None, placeholder="Any field", format_func=heading_of,
            key="metadata narrowed field", width=220,
        )  # fmt: skip
        words = st.text_input("Search", placeholder="Code or title", icon=":material/search:", key="metadata words")
        below = (
            st.slider("Confidence below", 0.1, 1.0, _UNSURE, 0.05, key="metadata unsure", width=220)
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
    st.caption(f"{len(kept):,} of {len(found):,} documents")
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
        alt="Documents and their fields; a cell is changed by a double click",
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
            label = "Save corrections" if not count else f"Save {pluralised(count, 'correction')}"
            if act_button(
                "import_corrections",
                label,
                type="primary",
                icon=":material/save:",
                disabled=not count,
                key="save corrections",
            ):
                st.session_state[_SAVED] = len(correct(resources.desk(), values, author))
                st.session_state["grid batch"] = batch + 1
                st.rerun()
            if st.button("Discard changes", disabled=not changed, key="leave corrections"):
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
    check = ", ".join([f"{unsure} low confidence"] * (unsure > 0) + [f"{empty} empty"] * (empty > 0))
    row: dict[str, str | list[str] | None] = {"code": record.source.code, "check": check}
    for field, values in shown_values(record).items():
        row[field] = list(values) if field in LIST_FIELDS else next(iter(values), None)
    return row


def _columns(shown: Sequence[SourceRecord], labels: Mapping[FieldName, Sequence[str]]) -> dict[str, Any]:
    configured: dict[str, Any] = {"code": st.column_config.TextColumn("Code", width=90, pinned=True)}
    configured["check"] = st.column_config.TextColumn("To check", width=130)
    present = [shown_values(record) for record in shown]
    for field in _ORDER:
        # A value from outside the vocabulary is shown as it is, though nobody can choose it anew.
        options = list(dict.fromkeys([*labels.get(field, ()), *(one for row in present for one in row[field])]))
        if field in LIST_FIELDS:
            configured[field] = st.column_config.MultiselectColumn(
                heading_of(field), options=options, accept_new_options=field not in labels, width=200
            )
        elif field in labels:
            configured[field] = st.column_config.SelectboxColumn(heading_of(field), options=options, width=150)
        else:
            validate = {"date": r"^\d{4}(-\d{2}(-\d{2})?)?$", "language": "^[a-z]{2}$"}.get(field)
            configured[field] = st.column_config.TextColumn(
                heading_of(field), validate=validate, width=_WIDE.get(field, 100)
            )
    return configured
