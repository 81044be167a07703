"""Evidence for decisions: licence evidence, parts of a quality score, the file itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ingestion.acts.decisions import decide
from ingestion.records.quarantine import file_of
from ingestion.records.source_record import SourceRecord
from ingestion.status.views import marks_of, title_beside_code
from ingestion.types.licence import LicenceMark, Light
from ingestion.types.source import Extraction, Quality, Relation
from pages._shared import resources
from pages._shared.elements import act_button, draw_download
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape, quoted
from pages._shared.numbers_and_dates import counted, number, percent
from pages._shared.page_names import page_place
from pages._shared.shown_names import shown_name
from rag_engine.viewer.address import DocumentPlace

_LIGHTS: Mapping[str, tuple[str, str]] = {
    "GREEN": ("green", ":material/check_circle:"),
    "YELLOW": ("yellow", ":material/help:"),
    "RED": ("red", ":material/block:"),
}
_LAYERS: Mapping[str, str] = {
    "domain": to_translate("known site"),
    "mark": to_translate("machine-readable mark"),
    "pattern": to_translate("wording"),
    "model": to_translate("language model"),
    "person": to_translate("a person"),
}
_SUBJECTS: Mapping[str, str] = {
    "document": to_translate("about the document"),
    "part": to_translate("about a part of it"),
    "data": to_translate("about data"),
    "quoted": to_translate("about material from elsewhere"),
}
_SIMILARITIES: Mapping[str, str] = {
    "title": to_translate("Similarity of the titles: {n}"),
    "text": to_translate("Similarity of the texts: {n}"),
    "address": to_translate("Similarity of the addresses: {n}"),
    "meaning": to_translate("Similarity in meaning: {n}"),
    "symbol": to_translate("Similarity of the reference numbers: {n}"),
}
# The most that each part of the score can be.
_PARTS = (
    (to_translate("Length"), "length", 50),
    (to_translate("Passages"), "chunks", 20),
    (to_translate("Sections"), "sections", 15),
    (to_translate("Cleaning"), "cleaning", 15),
)
_SHOWN_MARKS = 12
_PAGE = re.compile(r"page ([0-9]{1,9})")


def light_badge(light: Light | str) -> str:
    """Return the markdown of a licence status: colour, sign and word.

    >>> light_badge("GREEN")
    ':green-badge[:material/check_circle: GREEN]'
    """
    colour, sign = _LIGHTS.get(light, ("gray", ":material/help:"))
    return f":{colour}-badge[{sign} {escape(shown_name(light))}]"


def licence_name(name: str) -> str:
    """Return the markdown of a licence's name, or that none is named.

    >>> licence_name("")
    'no licence named'
    """
    return escape(name) or _("no licence named")


def indexed_document(record: SourceRecord) -> str:
    """Return the id of the source's document in the collection, "" where it is not there."""
    id = record.indexed.document_id if record.indexed else ""
    return id if id and resources.find_document(id) is not None else ""


def page_link(document_id: str, page: int) -> str:
    """Return the number of a page as a link to it, without one where there is no document to open."""
    document = resources.find_document(document_id) if document_id else None
    words = page_place(document.file, document.named_page(page)) if document else page_place("", {page: None})
    words = words or _("Open document")
    place = urlencode(DocumentPlace(document_id, page).parameters())
    return f"[{words}](document?{place})" if document_id else words


def draw_marks(record: SourceRecord) -> None:
    """Draw each piece of a source's licence evidence with its status, its quote and its place."""
    marks, document = marks_of(record), indexed_document(record)
    if not marks:
        st.caption(_("No licence statement found."))
    for mark in marks[:_SHOWN_MARKS]:
        st.markdown(_described(mark, document) + (f"  \n{quoted(escape(mark.quote))}" if mark.quote else ""))
    if len(marks) > _SHOWN_MARKS:
        st.caption(counted("and {n} more", "and {n} more", len(marks) - _SHOWN_MARKS))


def _described(mark: LicenceMark, document_id: str) -> str:
    """Return the status that a mark gives, and what it is, in one line."""
    page = _PAGE.fullmatch(mark.place)
    parts = (
        f"{light_badge(mark.light)} **{licence_name(mark.licence)}**",
        page_link(document_id, int(page[1])) if page else escape(mark.place),
        _(_LAYERS.get(mark.layer, mark.layer)),
        _(_SUBJECTS[mark.subject]) if mark.subject else "",
        _("rule {name}").format(name=escape(mark.rule)) if mark.rule else "",
    )
    return " · ".join(filter(None, parts))


def draw_quality(quality: Quality) -> None:
    """Draw the quality score and its four parts as bars."""
    st.markdown(_("Quality **{score} of 100**").format(score=number(quality.score)))
    for place, (name, field, most) in zip(st.columns(4), _PARTS, strict=True):
        value = float(getattr(quality, field))
        place.progress(min(max(value / most, 0.0), 1.0), text=f"{_(name)} {number(value)}/{most}")
    if quality.readability < 1:
        st.caption(_("{share} of the OCR text looks like words.").format(share=percent(quality.readability)))


def size_of(extraction: Extraction) -> str:
    """Return how much text a file has, and how many of its pages were recognised from pictures.

    >>> size_of(Extraction("", "application/pdf", 12, 3, 0, 25000, 24000, "", "en", 120000))
    '12 pages, 3 pages by OCR, 25,000 characters, 120,000 bytes'
    """
    parts = (
        counted("{n} page", "{n} pages", extraction.pages),
        counted("{n} page by OCR", "{n} pages by OCR", extraction.ocr_pages) if extraction.ocr_pages else "",
        counted("{n} character", "{n} characters", extraction.characters),
        counted("{n} byte", "{n} bytes", extraction.size),
    )
    return ", ".join(filter(None, parts))


def similarity(relation: Relation) -> str:
    """Return how similar a source is to the one that it is related to, and in what.

    >>> similarity(Relation("EEA001", duplicate_of="EEA001", how="title", similarity=0.871))
    'Similarity of the titles: 0.87'
    """
    return _(_SIMILARITIES[relation.how]).format(n=number(relation.similarity, 2))


def draw_address(record: SourceRecord, key: str) -> None:
    """Draw a source's address as text with a link, or its file's path, and its file."""
    source = record.source
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key} address"):
        st.caption(escape(source.url or source.path), width="content")
        if urlsplit(source.url).scheme in ("http", "https"):
            st.link_button(_("Open"), source.url, icon=":material/open_in_new:", type="tertiary")
        download = record.download
        path = file_of(resources.workspace(), download) if download is not None and download.path else None
        if path is not None:
            draw_download(_("File"), path.read_bytes, path.name, f"{key} file", help=path.name)


def draw_decision(record: SourceRecord, sign: str, caption: str, key: str, author: str) -> None:
    """Draw a decision on a source with the button to undo it."""
    code = record.source.code
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key} {code}"):
        st.markdown(f"{sign}**{escape(code)}** {escape(title_beside_code(record))}  \n{caption}", width="stretch")
        undo = "undo restore" if key == "restored" else "undo"
        if act_button(
            "decide", _("Undo"), key=f"{undo} {code}", icon=":material/undo:", type="tertiary", disabled=not author
        ):
            with show_errors():
                decide(resources.context(), [code], "undo", author)
                st.rerun()
