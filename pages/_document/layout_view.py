"""Office file as it looks: where a passage is in what LibreOffice makes of it, and a page of that as a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import streamlit as st

from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from rag_engine.storage.indexer import page_at
from rag_engine.text.sentences import Span
from rag_engine.types import Box, DocumentRecord

_WIDTH = 1000
# Seconds that a step may take before its place says so, and between looks whether it is done.
_PATIENCE = 5.0
_LOOK_SECONDS = 1.0
# Characters of a passage by which its place is found: more would run over a line that is set in another way.
_FOUND_BY = 60


def draw_layout_switch(document: DocumentRecord) -> bool:
    """Draw the choice between the layout of an office file and its text; return whether the layout is shown."""
    return resources.engine().has_layout(document) and st.toggle(
        _("Original layout"), value=True, key=_switch(document)
    )


def shows_layout(document: DocumentRecord) -> bool:
    """Return what the switch says, known before it is drawn."""
    return resources.engine().has_layout(document) and bool(st.session_state.get(_switch(document), True))


def find_in_layout(document: DocumentRecord, page: int, words: str) -> tuple[Path, int, int, list[Box]] | None:
    """Return the layout, the number of its page on which words are, that of all, and the boxes of the words.

    Else the page of this number, without boxes. None where it takes longer, which is said: it is drawn again then.
    """
    engine = resources.engine()
    making = engine.layout(document)
    if is_late(making):
        return None
    finding = engine.find_in_layout(document, making.result(), page, words)
    if is_late(finding):
        return None
    found = json.loads(finding.result())
    pages = int(found["pages"])
    return making.result(), min(int(found["page"]), pages), pages, [Box(*box) for box in found["boxes"]]


def layout_label(document: DocumentRecord, page: int, pages: int) -> str:
    """Return the name of a page of the layout, for those who do not see it."""
    label = _("Page {n} of {pages} of {title}, in its original layout")
    return label.format(n=page, pages=pages, title=document.shown_title)


def draw_layout_image(document: DocumentRecord, quotes: Sequence[Span], page: int) -> bool:
    """Draw the layout of a page of an office file as a picture, where the first quote of it is, with quotes marked.

    Return False where its text is to be shown, also meanwhile.
    """
    engine = resources.engine()
    if not engine.has_layout(document):
        return False
    with show_errors():
        text, lines = engine.catalog.text(document.key), engine.catalog.lines(document.key)
        sought = [sought_words(text, quote) for quote in quotes if page_at(lines, quote[0]) == page]
        found = find_in_layout(document, page, sought[0] if sought else "")
        if found is None:
            return False
        layout, shown, pages, marks = found
        for words in sought[1:]:
            other = find_in_layout(document, shown, words)
            marks += other[3] if other is not None and other[1] == shown else []
        drawing, _lines = engine.draw_layout(document, layout, shown, marks, width=_WIDTH)
        if is_late(drawing):
            return False
        st.image(drawing.result(), width="stretch", alt=layout_label(document, shown, pages))
        if sought and not marks:
            say_not_found()
        return True
    return False


def say_not_found() -> None:
    """Say that the words of a passage are set in another way than they were read."""
    st.caption(_(":material/info: The passage was not found in this layout; the extracted text shows it."))


def sought_words(text: str, passage: Span) -> str:
    """Return the words by which a passage of a text is found in the layout."""
    return text[slice(*passage)].strip().partition("\n")[0][:_FOUND_BY].strip()


def is_late(*steps: Future[Any]) -> bool:
    """Return whether a step is not done yet, which is said; the page is drawn again once it is."""
    late = wait(steps, _PATIENCE).not_done
    for step in list(late)[:1]:
        st.info(_("This page takes longer to draw …"), icon=":material/hourglass_top:")
        st.fragment(_await, run_every=_LOOK_SECONDS)(step)
    return bool(late)


def _switch(document: DocumentRecord) -> str:
    return f"document layout {document.key}"


def _await(step: Future[Any]) -> None:
    if step.done():
        st.rerun()
