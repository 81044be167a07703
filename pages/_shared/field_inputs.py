"""Inputs for the fields of a document, by the kind of each field, and what the fields are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ingestion.types import LIST_FIELDS, FieldName

HEADINGS: Mapping[FieldName, str] = {
    "title": "Title",
    "authority": "Authority",
    "document_type": "Document type",
    "hazards": "Hazards",
    "target": "Audience and purpose",
    "key_criteria": "Key criteria",
    "tags": "Tags",
    "description": "Description",
    "language": "Language",
    "date": "Date",
    "geographical_level": "Geographical level",
    "countries": "Countries",
    "notes": "Notes",
}
LONG: frozenset[FieldName] = frozenset({"target", "description", "notes"})


def draw_field(
    label: str, field: FieldName, before: Sequence[str], labels: Sequence[str], key: str, hint: str = ""
) -> list[str]:
    """Draw the input for a field and return the values entered; `hint` stands in an empty one."""
    options = list(dict.fromkeys([*labels, *before]))
    if field in LIST_FIELDS:
        return list(
            st.multiselect(
                label,
                options,
                list(before),
                accept_new_options=not labels,
                placeholder=hint or None,
                key=f"{key} values",
            )
        )
    value = next(iter(before), "")
    if labels:
        index = options.index(value) if value else None
        chosen = st.selectbox(label, options, index, placeholder=hint or "None", key=f"{key} value")
        return [chosen] if chosen else []
    if field in LONG:
        return [st.text_area(label, value, placeholder=hint or None, key=f"{key} value")]
    help = {"date": "2020-12-31, 2020-12 or 2020", "language": "Two letters, such as en or pt"}.get(field)
    return [st.text_input(label, value, key=f"{key} value", placeholder=hint or None, help=help)]
