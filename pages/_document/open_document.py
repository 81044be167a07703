"""The document that is open: its text, its outline and its references, read once for all visitors."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._shared import resources
from pages._shared.shown_names import is_workbook
from rag_engine.config import Strategy
from rag_engine.storage.cross_references import PlacedReference, placed_references
from rag_engine.storage.indexer import page_at
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.address import DocumentPlace
from rag_engine.viewer.outline import OutlineEntry, outline, outline_of_sheets
from rag_engine.viewer.pages import PagedText, read_paged_text
from rag_engine.viewer.segments import Segment, cut_document, stored_segments
from rag_engine.viewer.versions import VersionChanges, VersionText, compare_versions

DocumentState = tuple[int, str, int]

# Texts of documents that stay in memory: some megabytes each for one of 500 pages.
_OPEN = 8


def paged_text(document: DocumentRecord) -> PagedText:
    """Return the text of the document."""
    return _paged_text(_state(document), document)


def outline_of(document: DocumentRecord) -> tuple[OutlineEntry, ...]:
    """Return the headings and sections of the document."""
    return _outline(_state(document), document)


def references_in(document: DocumentRecord) -> tuple[PlacedReference, ...]:
    """Return the references from one section of the document to another."""
    return _references(_state(document), document)


def indexed_segments(document: DocumentRecord) -> tuple[Segment, ...]:
    """Return the passages of the document that are searched."""
    return stored_segments(resources.engine().catalog.document_children(document.key))


def cut_segments(document: DocumentRecord, strategy: Strategy) -> tuple[Segment, ...]:
    """Return the passages that another strategy would make of the document."""
    return _cut_segments(_state(document), strategy, document)


def changes_between(older: DocumentRecord, newer: DocumentRecord) -> VersionChanges:
    """Return what changed from one document to the other."""
    return _changes(_state(older), _state(newer), (older, newer))


def page_of(document: DocumentRecord, place: DocumentPlace) -> int:
    """Return the page on which the passage of a place begins, the first where no passage is named."""
    return page_at(paged_text(document).lines, place.passage[0]) if place.passage else 1


def address_of(place: DocumentPlace) -> str:
    """Return the address of a place as a link of this page.

    >>> address_of(DocumentPlace("d41d8c", passage=(120, 180)))
    '?document=d41d8c&passage=120-180'
    """
    return "?" + "&".join(f"{name}={value}" for name, value in place.parameters().items())


def go_to(place: DocumentPlace) -> None:
    """Put a place into the address; called before the page is drawn, so that it is drawn there."""
    st.query_params.from_dict(place.parameters())


def followed(key: str, places: Sequence[DocumentPlace]) -> None:
    """Go to the place whose link was followed in the component with this key."""
    number = st.session_state[key]["followed"]
    if number is not None and int(number) < len(places):
        go_to(places[int(number)])


def _state(document: DocumentRecord) -> DocumentState:
    """Return the key under which readings of a document are cached.

    It holds the document's hash and the collection's last change: a rebuild cuts a document again under the same id.
    """
    return document.key, document.sha256, resources.engine().catalog.change()


@st.cache_resource(max_entries=_OPEN, show_spinner=False)
def _paged_text(state: DocumentState, _document: DocumentRecord) -> PagedText:  # noqa: ARG001 the cache's key
    return read_paged_text(resources.engine().catalog, _document)


@st.cache_resource(max_entries=_OPEN, show_spinner=False)
def _outline(state: DocumentState, _document: DocumentRecord) -> tuple[OutlineEntry, ...]:  # noqa: ARG001
    if is_workbook(_document.file):
        return outline_of_sheets(paged_text(_document))
    children = resources.engine().catalog.document_children(_document.key)
    parents = {child.parent.key: child.parent for child in children}
    return outline(tuple(parents.values()), paged_text(_document), _document.metadata.title)


@st.cache_resource(max_entries=_OPEN, show_spinner=False)
def _references(state: DocumentState, _document: DocumentRecord) -> tuple[PlacedReference, ...]:  # noqa: ARG001
    return placed_references(resources.engine().catalog, _document)


@st.cache_resource(max_entries=_OPEN, show_spinner=False)
def _cut_segments(state: DocumentState, strategy: Strategy, _document: DocumentRecord) -> tuple[Segment, ...]:  # noqa: ARG001
    engine = resources.engine()
    return cut_document(engine.catalog, _document, strategy, engine.embedder, engine.config.chunking)


@st.cache_resource(max_entries=_OPEN, show_spinner=False)
def _changes(old: DocumentState, new: DocumentState, _both: Sequence[DocumentRecord]) -> VersionChanges:  # noqa: ARG001
    before, after = (VersionText(paged_text(document).text, outline_of(document)) for document in _both)
    return compare_versions(before, after)
