"""Toolbar of the Document page: turning pages, going to one, zoom."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._ask.answer import page_word
from pages._document.opened import go_to
from pages._document.page_view import FIT, ZOOMS
from rag_engine.reading.address import DocumentPlace
from rag_engine.types import DocumentRecord

_NUMBER = "document page number"


def draw_toolbar(document: DocumentRecord, place: DocumentPlace, page: int, *, drawn: bool) -> str | float:
    """Draw the buttons to turn pages and the zoom of a page that is drawn; return the zoom chosen."""
    zoom: str | float = FIT
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="document toolbar"):
        if document.pages > 1:
            _draw_turning(document, place, page)
        if drawn:
            zoom = st.selectbox(
                "Zoom",
                list(ZOOMS),
                format_func=ZOOMS.__getitem__,
                key="document zoom",
                width=110,
                persist_state="session",
            )
    return zoom


def _draw_turning(document: DocumentRecord, place: DocumentPlace, page: int) -> None:
    word = page_word(document.file)
    _draw_turn("Previous", ":material/chevron_left:", place, page - 1, disabled=page <= 1)
    st.session_state[_NUMBER] = page
    st.number_input(
        f"{word.capitalize()} of {document.pages:,}",
        1,
        document.pages,
        key=_NUMBER,
        on_change=_turn_to_number,
        args=(place,),
        width=120,
    )
    _draw_turn("Next", ":material/chevron_right:", place, page + 1, disabled=page >= document.pages)


def _draw_turn(label: str, icon: str, place: DocumentPlace, page: int, *, disabled: bool) -> None:
    st.button(
        label, icon=icon, key=f"document {label}", disabled=disabled, on_click=go_to, args=(replace(place, page=page),)
    )


def _turn_to_number(place: DocumentPlace) -> None:
    go_to(replace(place, page=int(st.session_state[_NUMBER])))
