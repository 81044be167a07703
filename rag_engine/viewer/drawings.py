"""Drawings of documents: their pages, their texts as plain sheets, and the layouts of office files."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from rag_engine import workspace as paths
from rag_engine.answering.page_image import page_marks, sheet
from rag_engine.backends.drawing.page_cache import PageCache
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.backends.drawing.passage_finder import SoughtPassage
from rag_engine.backends.office.layout import OfficeLayouts, is_office_file
from rag_engine.backends.office.program import office_program
from rag_engine.storage.collection import Collection
from rag_engine.types.document import Box, DocumentRecord


class Drawings:
    """Drawings of the documents of a collection, made in confined processes and kept in its workspace."""

    def __init__(self, collection: Collection) -> None:
        """Draw from the originals and texts of the collection; processes start at the first drawing."""
        self._collection = collection
        cache = PageCache(paths.drawings(collection.workspace))
        self._page_renderer, self._layouts = PageRenderer(cache), OfficeLayouts(cache)

    def start(self) -> None:
        """Start a process that draws, so that the first page does not wait for it."""
        self._page_renderer.start()

    def close(self) -> None:
        """End the processes that draw."""
        self._layouts.close()
        self._page_renderer.close()

    def page_image(
        self, document: DocumentRecord, start: int, end: int, quotes: tuple[tuple[int, int], ...] = (), *, page: int = 0
    ) -> Future[bytes]:
        """Draw the page of the text [start, end) of a document, it and its quotes marked, as a PNG.

        `page` chooses another page; an empty passage marks nothing. A format without page geometry is drawn as a
        plain sheet. The future fails with a SextantError where the page cannot be drawn within the limits.
        """
        lines = self._collection.catalog.lines(document.key)
        if not any(line.box for line in lines):
            return self.text_image(document, start, end, quotes)
        file = self._collection.stored_file(document)
        return self._page_renderer.page(file, *page_marks(lines, start, end, quotes, page), content=document.sha256)

    def text_image(
        self, document: DocumentRecord, start: int, end: int, quotes: tuple[tuple[int, int], ...] = ()
    ) -> Future[bytes]:
        """Draw the text around [start, end) as a plain sheet: in the place of a page that cannot be drawn."""
        return self._page_renderer.text(*sheet(self._collection.catalog.text(document.key), start, end, quotes))

    def draw_page(
        self,
        document: DocumentRecord,
        page: int,
        passage: Sequence[Box] = (),
        quotes: Sequence[Box] = (),
        *,
        width: int,
    ) -> tuple[Future[bytes], Future[bytes]]:
        """Draw a page of a format that has pages, `width` pixels wide, boxes marked, and measure it.

        Return the PNG, and width and height of the page in points ("595.0 842.0"). Both fail as `page_image` does.
        """
        file, content = self._collection.stored_file(document), document.sha256
        drawn = self._page_renderer.page(file, page, passage, quotes, width=width, content=content)
        return drawn, self._page_renderer.size(file, page, content=content)

    def has_layout(self, document: DocumentRecord) -> bool:
        """Return whether a document is an office file that LibreOffice is there to draw."""
        return is_office_file(document.file) and office_program() is not None

    def layout(self, document: DocumentRecord) -> Future[Path]:
        """Make a PDF of an office file; WorkspaceError where LibreOffice cannot in time."""
        return self._layouts.pdf(self._collection.stored_file(document), document.sha256)

    def find_in_layout(self, document: DocumentRecord, layout: Path, sought: SoughtPassage) -> Future[bytes]:
        """Find a passage in the layout of an office file, as `PageRenderer.find` does."""
        return self._page_renderer.find(layout, sought, content=document.sha256)

    def draw_layout(
        self, document: DocumentRecord, layout: Path, page: int, marks: Sequence[Box], *, width: int
    ) -> tuple[Future[bytes], Future[bytes]]:
        """Draw a page of an office file as a PNG, and read its lines; both fail as `page_image` does."""
        drawn = self._page_renderer.page(layout, page, (), marks, width=width, content=document.sha256)
        return drawn, self._page_renderer.lines(layout, page, content=document.sha256)
