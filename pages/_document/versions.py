"""Versions and translations of a document, and what changed between two versions."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._document.open_document import changes_between, paged_text
from pages._document.page_view import draw_text
from pages._document.places import draw_places
from pages._shared import resources
from pages._shared.filter_widgets import display_text
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, known_date
from rag_engine.storage.indexer import page_at
from rag_engine.types.document import UNDATED, DocumentRecord
from rag_engine.viewer.address import DocumentPlace, PlaceLink
from rag_engine.viewer.pages import TextParagraph
from rag_engine.viewer.versions import ChangedParagraph, VersionChanges, documents_of_work

_ELEMENTS = {"same": "", "removed": "del", "added": "ins"}


def draw_versions(document: DocumentRecord) -> None:
    """Draw the links to the other documents of the work, and the comparison with another version."""
    work = documents_of_work(document, resources.engine().collection.documents())
    others = [one for one in work.versions if one.key != document.key]
    listed = [_listed(one, _version_name(one)) for one in others]
    listed += [_listed(one, display_text("language", one.metadata.language)) for one in work.translations]
    if listed:
        draw_places(listed, _("Versions and translations"), f"document versions {document.key}")
    else:
        st.caption(_("No other version or translation is in the collection."))
    if not others:
        return
    other = st.selectbox(
        _("Compare with"), others, index=len(others) - 1, format_func=_version_name, key="document compared"
    )
    older, newer = sorted((document, other), key=work.versions.index)
    with st.spinner(_("Comparing the versions …")):
        changes = changes_between(older, newer)
    _draw_changes(older, newer, changes)


def _listed(other: DocumentRecord, note: str) -> PlaceLink:
    metadata = other.metadata
    return PlaceLink(DocumentPlace(other.document_id), ((other.shown_title, False),), metadata.language, note)


def _version_name(document: DocumentRecord) -> str:
    metadata = document.metadata
    name = metadata.version or known_date(metadata.date) or document.file
    if metadata.superseded == UNDATED:
        return _("{name} (superseded)").format(name=name)
    told = _("{name} (superseded {when})") if metadata.superseded else _("{name} (newest)")
    return told.format(name=name, when=known_date(metadata.superseded))


def _draw_changes(older: DocumentRecord, newer: DocumentRecord, changes: VersionChanges) -> None:
    names = {"older": escape(_version_name(older)), "newer": escape(_version_name(newer))}
    if not changes.sections:
        st.caption(_("From {older} to {newer}: the text is the same.").format(**names))
        return
    st.caption(
        _("From {older} to {newer}: {removed}, {added}.").format(
            **names,
            removed=counted("{n} word removed", "{n} words removed", changes.removed),
            added=counted("{n} word added", "{n} words added", changes.added),
        )
    )
    links: list[DocumentPlace] = []
    paragraphs: list[TextParagraph] = []
    for section in changes.sections:
        links.append(_place(older, newer, section.paragraphs))
        title = section.heading or _("Before the first heading")
        paragraphs.append(TextParagraph("heading", ((title, "", len(links) - 1),)))
        paragraphs += [_paragraph(one) for one in section.paragraphs]
    draw_text(paragraphs, _("Changes"), newer.metadata.language, links, f"changes {older.key} {newer.key}")


def _place(older: DocumentRecord, newer: DocumentRecord, paragraphs: Sequence[ChangedParagraph]) -> DocumentPlace:
    """Return the place of the first changed paragraph: in the newer version, else in the older."""
    first = next((one for one in paragraphs if not one.removed), paragraphs[0])
    document = older if first.removed else newer
    words = sum(len(one.text) for one in first.pieces if one.kind != ("added" if first.removed else "removed"))
    page = page_at(paged_text(document).lines, first.start)
    return DocumentPlace(document.document_id, page, (first.start, first.start + words))


def _paragraph(changed: ChangedParagraph) -> TextParagraph:
    runs: list[tuple[str, str, None]] = []
    for piece in changed.pieces:
        runs += [(piece.text, _ELEMENTS[piece.kind], None), (" ", "", None)]
    return TextParagraph("text", tuple(runs))
