"""Layout of an office file, as LibreOffice makes it: passages found in it, and pages as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, wait
from typing import Any

import streamlit as st

from pages._document.open_document import paged_text
from pages._shared import resources
from pages._shared.elements import draw_when_done
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import counted, number
from pages._shared.shown_names import is_workbook
from rag_engine.backends.drawing.passage_finder import SoughtPassage
from rag_engine.text.sentences import Span
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.layout_place import PlaceInLayout, read_place, sought_passage
from rag_engine.viewer.pages import PagedText

_WIDTH = 1000
# Seconds that a step may take before its place says so, and between looks whether it is done.
_PATIENCE = 5.0
_LOOK_SECONDS = 1.0


def draw_layout_switch(document: DocumentRecord) -> bool:
    """Draw the switch between layout and text of an office file; return whether layout is chosen."""
    return resources.engine().drawings.has_layout(document) and st.toggle(
        _("Original layout"), value=True, key=_switch(document)
    )


def shows_layout(document: DocumentRecord) -> bool:
    """Return what the switch says, known before it is drawn."""
    return resources.engine().drawings.has_layout(document) and bool(st.session_state.get(_switch(document), True))


def find_in_layout(document: DocumentRecord, sought: SoughtPassage) -> PlaceInLayout | None:
    """Return where a passage, or else its slide or sheet, is in the layout.

    None where it takes longer, which is said: it is drawn again then.
    """
    engine = resources.engine()
    making = engine.drawings.layout(document)
    if is_late(making):
        return None
    finding = engine.drawings.find_in_layout(document, making.result(), sought)
    if is_late(finding):
        return None
    return read_place(making.result(), finding.result())


def sought_in(document: DocumentRecord, text: PagedText, page: int, passage: Span | None) -> SoughtPassage:
    """Return the passage that is sought in the layout, or its page if no passage is on it."""
    return sought_passage(text, page, passage, is_workbook=is_workbook(document.file))


def layout_label(document: DocumentRecord, page: int, pages: int) -> str:
    """Return the name of a page of the layout, for those who do not see it."""
    label = _("Page {n} of {pages} of {title}, in its original layout")
    return label.format(n=page, pages=pages, title=document.shown_title)


def draw_layout_image(document: DocumentRecord, quotes: Sequence[Span], page: int, key: str) -> bool:
    """Draw a page of the layout of an office file, with quotes marked.

    With quotes on several pages, draw a choice of the page. Return False where its text is to be shown, also meanwhile.
    """
    engine = resources.engine()
    if not engine.drawings.has_layout(document):
        return False
    with show_errors():
        text = paged_text(document)
        sought = [sought_in(document, text, page, quote) for quote in quotes]
        wanted = [passage for passage in sought if passage.marked]
        places = [find_in_layout(document, passage) for passage in wanted or sought[:1]]
        found = [place for place in places if place is not None]
        if not found or len(found) < len(places):
            return False
        if not found[0].is_there:
            say_not_there()
            return False
        shown = _choose_page(found, key)
        marks = [box for place in found for box in place.boxes.get(shown, ())]
        drawing, _lines = engine.drawings.draw_layout(document, found[0].layout, shown, marks, width=_WIDTH)
        if is_late(drawing):
            return False
        st.image(drawing.result(), width="stretch", alt=layout_label(document, shown, found[0].pages))
        say_not_found(found if wanted else [])
        return True
    return False


def _choose_page(places: Sequence[PlaceInLayout], key: str) -> int:
    """Return the page of the layout to show; draw a choice if quotes are on several pages."""
    pages = sorted({page for place in places for page in place.boxes})
    first = next((place.page for place in places if place.boxes), places[0].page)
    if len(pages) < 2:
        return first
    return st.segmented_control(_("Page of the layout"), pages, default=first, key=f"{key} layout {pages}") or first


def say_not_found(places: Sequence[PlaceInLayout]) -> None:
    """Say if passages are not marked, or only in part, and if pages were not searched."""
    missing = sum(not place.boxes for place in places)
    if missing and len(places) > 1:
        st.caption(
            counted(
                ":material/info: {n} passage was not found in this layout; the extracted text shows it.",
                ":material/info: {n} passages were not found in this layout; the extracted text shows them.",
                missing,
            )
        )
    elif missing:
        st.caption(_(":material/info: The passage was not found in this layout; the extracted text shows it."))
    if any(place.is_partial for place in places):
        partial = _(
            ":material/info: Only part of what is quoted is marked in this layout; the extracted text shows all of it."
        )
        st.caption(partial)
    unread = max((place.unread for place in places if not place.boxes), default=0)
    if unread:
        told = _(":material/info: This layout is long: {n} of its {pages} pages were not searched.")
        st.caption(told.format(n=number(unread), pages=number(places[0].pages)))


def say_not_there() -> None:
    """Say that the layout lacks a sheet or slide, as LibreOffice prints none that is hidden or empty."""
    st.caption(_(":material/info: Hidden and empty sheets and slides are not in the original layout."))


def is_late(*steps: Future[Any]) -> bool:
    """Return whether a step is not done yet, which is said; the page is drawn again once it is."""
    late = wait(steps, _PATIENCE).not_done
    for step in list(late)[:1]:
        st.info(_("This page takes longer to draw …"), icon=":material/hourglass_top:")
        draw_when_done(step, _LOOK_SECONDS)
    return bool(late)


def _switch(document: DocumentRecord) -> str:
    return f"document layout {document.key}"
