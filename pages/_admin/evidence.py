"""Evidence for decisions: licence evidence, parts of a quality score, the file itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ingestion.operations.decisions import decide
from ingestion.records.quarantine import file_of
from ingestion.records.source_record import SourceRecord
from ingestion.status.views import marks_of, title_beside_code
from ingestion.types import LicenceMark, Light, Quality
from pages._shared import resources
from pages._shared.elements import act_button, draw_download
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.reading.address import DocumentPlace

_LIGHTS: Mapping[str, tuple[str, str]] = {
    "GREEN": ("green", ":material/check_circle:"),
    "YELLOW": ("yellow", ":material/help:"),
    "RED": ("red", ":material/block:"),
}
_LAYERS: Mapping[str, str] = {
    "domain": "known site",
    "mark": "machine-readable mark",
    "pattern": "wording",
    "model": "language model",
    "person": "a person",
}
_SUBJECTS: Mapping[str, str] = {
    "document": "the document",
    "part": "a part of it",
    "data": "data",
    "quoted": "material from elsewhere",
}
# The most that each part of the score can be.
_PARTS = (
    ("Length", "length", 50),
    ("Passages", "chunks", 20),
    ("Sections", "sections", 15),
    ("Cleaning", "cleaning", 15),
)
_SHOWN_MARKS = 12
_PAGE = re.compile(r"page ([0-9]{1,9})")


def light_badge(light: Light | str) -> str:
    """Return the markdown of a licence status: colour, sign and word."""
    colour, sign = _LIGHTS.get(light, ("gray", ":material/help:"))
    return f":{colour}-badge[{sign} {escape(light)}]"


def indexed_document(record: SourceRecord) -> str:
    """Return the id of the source's document in the collection, "" where it is not there."""
    id = record.indexed.document_id if record.indexed else ""
    return id if id and resources.find_document(id) is not None else ""


def page_link(document_id: str, page: int) -> str:
    """Return the number of a page as a link to it, without one where there is no document to open."""
    words = f"page {page}"
    place = urlencode(DocumentPlace(document_id, page).parameters())
    return f"[{words}](document?{place})" if document_id else words


def draw_marks(record: SourceRecord) -> None:
    """Draw each piece of a source's licence evidence with its status, its quote and its place."""
    marks, document = marks_of(record), indexed_document(record)
    if not marks:
        st.caption("No licence statement found.")
    for mark in marks[:_SHOWN_MARKS]:
        layer = _LAYERS.get(mark.layer, mark.layer)
        st.markdown(
            f"{light_badge(mark.light)} **{escape(mark.licence) or 'not named'}** · {_place(document, mark)} · {layer}"
            + (f" · about {_SUBJECTS[mark.subject]}" if mark.subject else "")
            + (f" · rule {escape(mark.rule)}" if mark.rule else "")
            + (f"  \n“{escape(mark.quote)}”" if mark.quote else "")
        )
    if len(marks) > _SHOWN_MARKS:
        st.caption(f"and {len(marks) - _SHOWN_MARKS:,} more")


def _place(document_id: str, mark: LicenceMark) -> str:
    page = _PAGE.fullmatch(mark.place)
    return page_link(document_id, int(page[1])) if page else escape(mark.place)


def draw_quality(quality: Quality) -> None:
    """Draw the quality score and its four parts as bars."""
    st.markdown(f"Quality **{quality.score:.0f} of 100**")
    for place, (name, field, most) in zip(st.columns(4), _PARTS, strict=True):
        value = float(getattr(quality, field))
        place.progress(min(max(value / most, 0.0), 1.0), text=f"{name} {value:.0f}/{most}")
    if quality.readability < 1:
        st.caption(f"{quality.readability:.0%} of the OCR text looks like words.")


def draw_address(record: SourceRecord, key: str) -> None:
    """Draw a source's address as text with a link, or its file's path, and its file."""
    source = record.source
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key} address"):
        st.caption(escape(source.url or source.path), width="content")
        if urlsplit(source.url).scheme in ("http", "https"):
            st.link_button("Open", source.url, icon=":material/open_in_new:", type="tertiary")
        download = record.download
        path = file_of(resources.workspace(), download) if download is not None and download.path else None
        if path is not None:
            draw_download("File", path, path.name, f"{key} file", help=path.name)


def draw_decision(record: SourceRecord, sign: str, caption: str, key: str, author: str) -> None:
    """Draw a decision on a source with the button to undo it."""
    code = record.source.code
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key} {code}"):
        st.markdown(f"{sign}**{escape(code)}** {escape(title_beside_code(record))}  \n{caption}", width="stretch")
        undo = "undo restore" if key == "restored" else "undo"
        if act_button(
            "decide", "Undo", key=f"{undo} {code}", icon=":material/undo:", type="tertiary", disabled=not author
        ):
            with show_errors():
                decide(resources.desk(), [code], "undo", author)
                st.rerun()
