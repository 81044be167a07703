"""Office file as it looks: its pages, drawn from what LibreOffice makes of it."""

from __future__ import annotations

import json
from concurrent.futures import Future, wait
from typing import Any

import streamlit as st

from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from rag_engine.reading.pages import PagedText
from rag_engine.text.sentences import Span
from rag_engine.types import Box, DocumentRecord

_WIDTH = 1000
# Seconds that a step may take before its place says so, and between looks whether it is done.
_PATIENCE = 5.0
_LOOK_SECONDS = 1.0
# Characters of a passage by which its place is found: more would run over a line that is set in another way.
_FOUND_BY = 60


def draw_layout(document: DocumentRecord, text: PagedText, page: int, passage: Span | None) -> bool:
    """Draw a page of an office file as it looks; return False where its text is to be shown instead."""
    key = f"document layout {document.key}"
    if not resources.engine().has_layout(document) or not st.toggle(_("Original layout"), value=True, key=key):
        return False
    with show_errors():
        return _draw(document, page, passage, _words(text, passage))
    return False


def _draw(document: DocumentRecord, page: int, passage: Span | None, words: str) -> bool:
    """Draw the page of the layout on which words are, else the one of this number, or say that it takes longer."""
    engine = resources.engine()
    making = engine.layout(document)
    if _is_late(making):
        return True
    finding = engine.find_in_layout(document, making.result(), page, words)
    if _is_late(finding):
        return True
    found = json.loads(finding.result())
    pages, at = int(found["pages"]), min(int(found["page"]), int(found["pages"]))
    # A key for each place: another passage leads to its own page.
    key = f"document layout {document.key} {page} {passage}"
    shown = int(st.number_input(_("Page of the layout"), 1, pages, at, key=key)) if pages > 1 else 1
    marks = [Box(*box) for box in found["boxes"]] if shown == at else []
    drawing = engine.draw_layout(document, making.result(), shown, marks, width=_WIDTH)
    if not _is_late(drawing):
        alt = _("Page {n} of {pages} of {title}, in its original layout")
        alt = alt.format(n=shown, pages=pages, title=document.shown_title)
        st.image(drawing.result(), width="stretch", alt=alt)
        if words and not found["boxes"]:
            st.caption(_(":material/info: The passage was not found in this layout; the extracted text shows it."))
    return True


def _words(text: PagedText, passage: Span | None) -> str:
    """Return the words by which the passage is found in the layout."""
    return text.text[slice(*passage)].strip().partition("\n")[0][:_FOUND_BY].strip() if passage else ""


def _is_late(step: Future[Any]) -> bool:
    """Return whether a step is not done yet, which is said; the page is drawn again once it is."""
    late = bool(wait([step], _PATIENCE).not_done)
    if late:
        st.info(_("This page takes longer to draw …"), icon=":material/hourglass_top:")
        st.fragment(_await, run_every=_LOOK_SECONDS)(step)
    return late


def _await(step: Future[Any]) -> None:
    if step.done():
        st.rerun()
