"""Choice of a form: a schema that comes with the program, or an uploaded JSON schema."""

from __future__ import annotations

import streamlit as st

from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._uploads.bounds import offer_upload
from rag_engine.answering.structured.answer_schema import AnswerSchema, parse_schema, read_schema, shipped_schemas

_OWN = "own schema"


def draw_schema_choice(label: str, place: str, *, first: str = "", help: str | None = None) -> AnswerSchema | None:
    """Draw the choice of a schema and return it; None for `first`, or until one is uploaded.

    `first` is the label of a choice without a schema.
    """
    shipped = {read_schema(file).title: file for file in shipped_schemas()}
    chosen = st.selectbox(
        label,
        [*([""] if first else []), *shipped, _OWN],
        key=f"{place} format",
        format_func=lambda one: _("My own schema") if one == _OWN else one or first,
        help=help,
        persist_state="session",
    )
    with show_errors():
        if chosen == _OWN:
            return _draw_own_schema(place)
        return read_schema(shipped[chosen]) if chosen in shipped else None
    return None


def _draw_own_schema(place: str) -> AnswerSchema | None:
    offer_upload()
    file = st.file_uploader(_("JSON schema"), type="json", key=f"{place} schema")
    if file is None:
        st.caption(_("Upload a JSON schema with one list of records whose `citation` is the number of a source."))
        return None
    return parse_schema(file.getvalue().decode("utf-8-sig", "replace"), file.name)
