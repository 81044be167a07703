"""Buttons to take a text away as a file, in each of its formats."""

from __future__ import annotations

from collections.abc import Callable

from ingestion.file_names import download_name
from pages._shared import resources
from pages._shared.elements import draw_download
from pages._shared.filter_widgets import WORDING
from rag_engine.takeaway.exported_text import ExportedText
from rag_engine.takeaway.formats import FORMATS, export_file


def draw_exports(make: Callable[[], ExportedText], title: str, key: str) -> None:
    """Draw a download button for each format.

    `make` gives the text once a file is asked for. Files bear the title.
    """
    documents = resources.engine().collection.documents
    for suffix, name in FORMATS.items():

        def written(suffix: str = suffix) -> bytes:
            return export_file(make(), suffix, documents(), WORDING)

        draw_download(name, written, f"{download_name(title)}{suffix}", f"{key} {suffix}")
