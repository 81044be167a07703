"""Buttons to take a text away as a file, in each of its formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from ingestion.file_names import download_name
from pages._shared import resources
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import in_this_language
from rag_engine.takeaway.exported_text import ExportedText
from rag_engine.takeaway.formats import FORMATS, export_file
from rag_engine.types import DocumentRecord


def draw_exports(make: Callable[[], ExportedText], title: str, key: str) -> None:
    """Draw a button for each format, in which `make` gives the text once it is asked for; files bear the title."""
    documents = resources.engine().collection.documents
    for suffix, name in FORMATS.items():
        st.download_button(
            name,
            in_this_language(partial(_written, make, suffix, documents)),
            f"{download_name(title)}{suffix}",
            # Never a type that the browser would open in place.
            "application/octet-stream",
            key=f"{key} {suffix}",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )


def _written(make: Callable[[], ExportedText], suffix: str, documents: Callable[[], list[DocumentRecord]]) -> bytes:
    return export_file(make(), suffix, documents(), WORDING)
