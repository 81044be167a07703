"""Tabs below the page: details, licence, versions, citations and segmentation."""

from __future__ import annotations

import streamlit as st

from ingestion.indexing.phase import code_of
from ingestion.records.source_record import SourceRecord
from pages._admin.source_detail import draw_licence, draw_relation
from pages._document.cited_in import draw_citations
from pages._document.details import draw_details
from pages._document.segmentation import draw_segmentation
from pages._document.stated_licence import draw_stated_licence
from pages._document.versions import draw_versions
from pages._shared import resources
from pages._shared.interface_language import _
from rag_engine.types import DocumentRecord


def draw_below(document: DocumentRecord, page: int) -> None:
    """Draw the tabs; what is in them is computed for the open one alone."""
    details, licence, versions, citations, segmentation = st.tabs(
        [_("Details"), _("Licence"), _("Versions"), _("Citations"), _("Segmentation")],
        key="document tabs",
        on_change="rerun",
    )
    record = _source_record(document)
    with details:
        if details.open:
            draw_details(document)
    with licence:
        if licence.open:
            _draw_licence(document, record)
    with versions:
        if versions.open:
            draw_versions(document)
            if record is not None and record.relation is not None:
                draw_relation(record)
    with citations:
        if citations.open:
            draw_citations(document)
    with segmentation:
        if segmentation.open:
            draw_segmentation(document, page)


def _source_record(document: DocumentRecord) -> SourceRecord | None:
    """Return the source on the list that the document came from; None for a file and for a former version."""
    return None if document.is_former else resources.records().get(code_of(document))


def _draw_licence(document: DocumentRecord, record: SourceRecord | None) -> None:
    if record is not None:
        draw_licence(record)
    else:
        draw_stated_licence(document)
