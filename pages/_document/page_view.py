"""The shown page of a document: drawn, with text that can be selected over it, or its text where it has no pages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from pages._document.layout_view import draw_layout
from pages._document.opened import address_of, followed, paged_text, references_in
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._shared.shown_names import page_noun, page_place
from rag_engine.answering.page_image import regions
from rag_engine.reading.address import DocumentPlace
from rag_engine.reading.pages import PagedText, fitting_paragraphs, page_paragraphs, text_layer
from rag_engine.reading.runs import TextParagraph, text_runs
from rag_engine.storage.cross_references import PlacedReference
from rag_engine.text.sentences import Span
from rag_engine.types import Box, DocumentRecord

FIT = "fit"
ZOOMS: tuple[str | float, ...] = (FIT, 0.75, 1.0, 1.25, 1.5, 2.0)
# Pixels across a drawn page: sharp at 100 %, and above.
_WIDTH, _LARGE = 1000, 1600
_KEY = "document page view"
# Characters up to which a passage is marked as a quotation is.
_LONGEST_QUOTE = 400
# Seconds that a page may take before its place says so, and between looks whether it is there.
_PATIENCE = 5.0
_LOOK_SECONDS = 1.0

_FOLDER = Path(__file__).parent
_view = st.components.v2.component(
    "document page",
    css=(_FOLDER / "page_view.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "page_view.js").read_text(encoding="utf-8"),
)


def draw_page_view(document: DocumentRecord, page: int, passage: Span | None, zoom: str | float) -> None:
    """Draw the page with the passage on it marked and the references on it as links."""
    text = paged_text(document)
    span = text.page_span(page)
    links = [one for one in references_in(document) if one.start < span[1] and one.end > span[0]]
    with show_errors():
        if text.is_drawn:
            _draw_picture(document, text, page, passage, links, zoom)
        elif not draw_layout(document, text, page, passage):
            _draw_text(document, text, page, passage, links)


def _draw_picture(
    document: DocumentRecord,
    text: PagedText,
    page: int,
    passage: Span | None,
    links: Sequence[PlacedReference],
    zoom: str | float,
) -> None:
    width = _LARGE if isinstance(zoom, float) and zoom > 1 else _WIDTH
    marks = _boxes(text, page, passage) if passage else []
    # A whole section is only tinted: under the colour of a quotation it would be hard to read.
    long = passage is not None and passage[1] - passage[0] > _LONGEST_QUOTE
    soft, strong = (marks, ()) if long else ((), marks)
    drawing, measured = resources.engine().draw_page(document, page, soft, strong, width=width)
    if wait([drawing, measured], _PATIENCE).not_done:
        st.info(_("This page takes longer to draw …"), icon=":material/hourglass_top:")
        st.fragment(_await_drawing, run_every=_LOOK_SECONDS)(drawing)
        return
    if drawing.exception() or measured.exception():
        with show_errors():
            drawing.result(), measured.result()
        _draw_text(document, text, page, passage, links)
        return
    across, down = measured.result().split()
    placed = [(link, _boxes(text, page, (link.start, link.end))) for link in links]
    shown = [(link, boxes) for link, boxes in placed if boxes]
    data: dict[str, Any] = {
        "picture": b64encode(drawing.result()).decode(),
        "width": float(across),
        "height": float(down),
        "zoom": zoom if zoom != FIT else 0,
        "lines": [[line.text, *astuple(line.box)] for line in text_layer(text, page)],
        "marks": [astuple(box) for box in marks],
    }
    _mount(document, page, passage, [one[0] for one in shown], data, [one[1] for one in shown])
    _draw_neighbours(document, text, page, width)


def _draw_neighbours(document: DocumentRecord, text: PagedText, page: int, width: int) -> None:
    """Have the pages before and after drawn as well, so that they are there when they are turned to."""
    for neighbour in (page + 1, page - 1):
        if neighbour == text.clamp_page(neighbour):
            resources.engine().draw_page(document, neighbour, width=width)


def _draw_text(
    document: DocumentRecord, text: PagedText, page: int, passage: Span | None, links: Sequence[PlacedReference]
) -> None:
    st.caption(_(":material/info: Extracted text, not the original layout."))
    found = page_paragraphs(text, page)
    shown = fitting_paragraphs(text.text, found, passage)
    if shown is not found:
        st.caption(_("Only a part of it is shown; the rest can be found and cited, and is in the original file."))
    marks, spans = [passage] if passage else [], [(link.start, link.end) for link in links]
    paragraphs = [
        TextParagraph(
            one.kind,
            tuple(
                (text.text[run.start : run.end], "mark" if run.marked else "", run.link)
                for run in text_runs((one.start, one.end), marks, spans)
            ),
        )
        for one in shown
    ]
    if not paragraphs:
        st.info(_("There is no text here."), icon=":material/draft:")
        return
    data = {"paragraphs": [astuple(one) for one in paragraphs], "zoom": 0}
    _mount(document, page, passage, links, data, [[]] * len(links))


def draw_text(
    paragraphs: Sequence[TextParagraph], label: str, language: str, links: Sequence[DocumentPlace], key: str
) -> None:
    """Draw paragraphs of a document's language with links to places, under a name for those who do not see it."""
    named = [{"label": _("Open this place"), "address": address_of(one), "boxes": []} for one in links]
    data = {"paragraphs": [astuple(one) for one in paragraphs], "zoom": 0, "target": "", "links": named}
    _view(
        key=key,
        data=data | {"label": label, "language": language},
        on_followed_change=partial(followed, key, links),
    )


def _mount(
    document: DocumentRecord,
    page: int,
    passage: Span | None,
    links: Sequence[PlacedReference],
    data: dict[str, Any],
    boxes: Sequence[Sequence[Box]],
) -> None:
    """Draw the component with what every kind of page has: its language, its name and its links."""
    targets = [
        DocumentPlace(document.document_id, link.target_page, (link.target_start, link.target_end)) for link in links
    ]
    common = {
        "language": document.metadata.language,
        "label": _("{noun} {n} of {title}").format(noun=page_noun(document.file), n=page, title=document.shown_title),
        "target": f"{document.document_id} {page} {passage}",
        "links": [
            {
                "label": _("Refers to {place}").format(
                    place=f"{link.label}, {page_place(document.file, link.target_page)}"
                ),
                "address": address_of(target),
                "boxes": [astuple(box) for box in those],
            }
            for link, target, those in zip(links, targets, boxes, strict=True)
        ],
    }
    _view(key=_KEY, data=common | data, on_followed_change=partial(followed, _KEY, targets))


def _boxes(text: PagedText, page: int, span: Span) -> list[Box]:
    return [one.box for one in regions(text.page_lines(page), *span)]


def _await_drawing(drawing: Future[bytes]) -> None:
    if drawing.done():
        st.rerun()
