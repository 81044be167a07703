"""Shown page of a document: a picture under text that can be selected, or as text."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from pages._document.layout_view import (
    draw_layout_switch,
    find_in_layout,
    is_late,
    layout_label,
    say_not_found,
    say_not_there,
    sought_in,
)
from pages._document.open_document import address_of, followed, outline_of, paged_text, references_in
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._shared.page_names import page_place
from pages._shared.shown_names import page_noun
from rag_engine.answering.page_image import regions
from rag_engine.storage.cross_references import PlacedReference
from rag_engine.text.file_kinds import page_kind
from rag_engine.text.sentences import Span
from rag_engine.types.document import Box, DocumentRecord
from rag_engine.viewer.address import DocumentPlace
from rag_engine.viewer.layout_place import layout_links
from rag_engine.viewer.levels import paragraph_levels
from rag_engine.viewer.pages import (
    PagedText,
    TextParagraph,
    fitting_paragraphs,
    page_paragraphs,
    shown_paragraph,
    text_layer,
)

FIT = "fit"
ZOOMS: tuple[str | float, ...] = (FIT, 0.75, 1.0, 1.25, 1.5, 2.0)
# Pixels across a drawn page: sharp at 100 %, and above.
_WIDTH, _LARGE = 1000, 1600
_KEY = "document page view"
# Characters up to which a passage is marked as a quotation is.
_LONGEST_QUOTE = 400

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
    links = [
        reference for reference in references_in(document) if reference.start < span[1] and reference.end > span[0]
    ]
    with show_errors():
        if text.is_drawn:
            _draw_picture(document, text, page, passage, links, zoom)
        elif not (draw_layout_switch(document) and _draw_layout(document, text, page, passage, zoom)):
            _draw_text(document, text, page, passage, links)


def _draw_picture(
    document: DocumentRecord,
    text: PagedText,
    page: int,
    passage: Span | None,
    links: Sequence[PlacedReference],
    zoom: str | float,
) -> None:
    width = _width(zoom)
    marks = _boxes(text, page, passage) if passage else []
    # A whole section is only tinted: under the colour of a quotation it would be hard to read.
    long = passage is not None and passage[1] - passage[0] > _LONGEST_QUOTE
    soft, strong = (marks, ()) if long else ((), marks)
    drawing, measured = resources.engine().drawings.draw_page(document, page, soft, strong, width=width)
    if is_late(drawing, measured):
        return
    if drawing.exception() or measured.exception():
        with show_errors():
            drawing.result(), measured.result()
        _draw_text(document, text, page, passage, links)
        return
    across, down = measured.result().split()
    placed = [(link, _boxes(text, page, (link.start, link.end))) for link in links]
    shown = [(link, boxes) for link, boxes in placed if boxes]
    lines = [(line.text, line.box) for line in text_layer(text, page)]
    data = _picture_data(drawing.result(), (float(across), float(down)), zoom, lines, marks)
    _mount(document, page, passage, [one[0] for one in shown], data, [one[1] for one in shown])
    _draw_neighbours(document, text, page, width)


def _draw_layout(document: DocumentRecord, text: PagedText, page: int, passage: Span | None, zoom: str | float) -> bool:
    """Draw the page of an office file's layout on which the passage, the slide or the sheet begins.

    Return False where the text is to be shown instead.
    """
    with show_errors():
        sought = sought_in(document, text, page, passage)
        place = find_in_layout(document, sought)
        if place is None:
            return True
        if not place.is_there:
            say_not_there()
            return False
        shown = place.page
        # Where each slide or sheet is one page, the toolbar turns them.
        if place.pages > 1 and not (place.pages == text.pages and place.part == range(page, page + 1)):
            # A key for each place: another passage leads to its own page.
            key = f"document layout {document.key} {page} {passage}"
            shown = int(st.number_input(_("Page of the layout"), 1, place.pages, shown, key=key))
        marks = place.boxes.get(shown, ())
        layout = place.layout
        drawing, reading = resources.engine().drawings.draw_layout(document, layout, shown, marks, width=_width(zoom))
        if is_late(drawing, reading):
            return True
        read = json.loads(reading.result())
        lines = [(str(line), Box(*box)) for line, *box in read["lines"]]
        data = _picture_data(drawing.result(), (read["width"], read["height"]), zoom, lines, marks)
        data |= {
            "label": layout_label(document, shown, place.pages),
            "target": f"{document.document_id} {shown} {passage}",
        }
        links = list(layout_links(lines, text.text, references_in(document)))
        _mount(document, page, passage, [link[0] for link in links], data, [link[1] for link in links])
        if sought.marked and sought.words != sought.sheet:
            say_not_found([place])
        return True
    return False


def _width(zoom: str | float) -> int:
    return _LARGE if isinstance(zoom, float) and zoom > 1 else _WIDTH


def _picture_data(
    picture: bytes,
    size: tuple[float, float],
    zoom: str | float,
    lines: Sequence[tuple[str, Box]],
    marks: Sequence[Box],
) -> dict[str, Any]:
    """Return what the component draws a page of: its picture, width and height in points, lines and marks."""
    return {
        "picture": b64encode(picture).decode(),
        "width": size[0],
        "height": size[1],
        "zoom": zoom if zoom != FIT else 0,
        "lines": [[text, *astuple(box)] for text, box in lines],
        "marks": [astuple(box) for box in marks],
    }


def _draw_neighbours(document: DocumentRecord, text: PagedText, page: int, width: int) -> None:
    """Have the pages before and after drawn as well, so that they are there when they are turned to."""
    for neighbour in (page + 1, page - 1):
        if neighbour == text.clamp_page(neighbour):
            resources.engine().drawings.draw_page(document, neighbour, width=width)


def _draw_text(
    document: DocumentRecord, text: PagedText, page: int, passage: Span | None, links: Sequence[PlacedReference]
) -> None:
    st.caption(_(":material/info: Extracted text, not the original layout."))
    found = page_paragraphs(text, page)
    shown = fitting_paragraphs(text.text, found, passage)
    if shown is not found:
        st.caption(_("Only a part of it is shown; the rest can be found and cited, and is in the original file."))
    marks, spans = [passage] if passage else [], [(link.start, link.end) for link in links]
    depths = {entry.start: entry.depth for entry in outline_of(document)}
    levels = paragraph_levels(text.text, shown, depths)
    paragraphs = [
        replace(shown_paragraph(text, paragraph, marks, spans), level=level)
        for paragraph, level in zip(shown, levels, strict=True)
    ]
    if not paragraphs:
        st.info(_("There is no text here."), icon=":material/draft:")
        return
    data = {"paragraphs": [astuple(paragraph) for paragraph in paragraphs], "zoom": 0}
    _mount(document, page, passage, links, data, [[]] * len(links))


def draw_text(
    paragraphs: Sequence[TextParagraph], label: str, language: str, links: Sequence[DocumentPlace], key: str
) -> None:
    """Draw paragraphs of a document's language with links to places."""
    named = [{"label": _("Open this place"), "address": address_of(link), "boxes": []} for link in links]
    data = {"paragraphs": [astuple(paragraph) for paragraph in paragraphs], "zoom": 0, "target": "", "links": named}
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
        "label": _name(document, page),
        "target": f"{document.document_id} {page} {passage}",
        "links": [
            {
                "label": _("Refers to {place}").format(
                    place=f"{link.label}, {page_place(document.file, document.named_page(link.target_page))}"
                ),
                "address": address_of(target),
                "boxes": [astuple(box) for box in those],
            }
            for link, target, those in zip(links, targets, boxes, strict=True)
        ],
    }
    _view(key=_KEY, data=common | data, on_followed_change=partial(followed, _KEY, targets))


def _name(document: DocumentRecord, page: int) -> str:
    """Return what a reader of the screen calls the page; a text without pages is one."""
    if document.pages == 1 and not page_kind(document.file):
        return document.shown_title
    return _("{noun} {n} of {title}").format(noun=page_noun(document.file), n=page, title=document.shown_title)


def _boxes(text: PagedText, page: int, span: Span) -> list[Box]:
    return [region.box for region in regions(text.page_lines(page), *span)]
