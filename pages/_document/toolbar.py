"""Toolbar of the Document page: turning pages, going to one, zoom."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._document.opened import go_to
from pages._document.page_view import FIT, ZOOMS
from pages._shared.elements import when_changed
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import percent
from pages._shared.shown_names import page_noun
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
                _("Zoom"),
                list(ZOOMS),
                format_func=lambda one: _("Fit") if one == FIT else percent(float(one)),
                key="document zoom",
                width=110,
                persist_state="session",
            )
    return zoom


def _draw_turning(document: DocumentRecord, place: DocumentPlace, page: int) -> None:
    _draw_turn(_("Previous"), "document previous", ":material/chevron_left:", place, page - 1, disabled=page <= 1)
    st.session_state[_NUMBER] = page
    st.number_input(
        _("{place} of {total}").format(place=page_noun(document.file), total=document.pages),
        1,
        document.pages,
        key=_NUMBER,
        on_change=when_changed(_NUMBER, page, _turn_to_number, place),
        width=120,
    )
    _draw_turn(_("Next"), "document next", ":material/chevron_right:", place, page + 1, disabled=page >= document.pages)


def _draw_turn(label: str, key: str, icon: str, place: DocumentPlace, page: int, *, disabled: bool) -> None:
    st.button(label, icon=icon, key=key, disabled=disabled, on_click=go_to, args=(replace(place, page=page),))


def _turn_to_number(place: DocumentPlace) -> None:
    go_to(replace(place, page=int(st.session_state[_NUMBER])))
