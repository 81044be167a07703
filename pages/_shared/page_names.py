"""Pages of files as they are cited, in the language of the interface."""

from __future__ import annotations

from collections.abc import Mapping

from pages._shared.filter_widgets import WORDING
from rag_engine.text.file_kinds import pages_text
from rag_engine.types.answer import Citation


def page_place(file: str, pages: Mapping[int, str | None]) -> str:
    """Return pages of a file as they are cited: "page 3", "p. 5 (sheet 9)"; "" where it has none."""
    return pages_text(file, pages, WORDING)


def title_place(title: str, file: str, pages: Mapping[int, str | None]) -> str:
    """Return the title of a document with pages of its file.

    >>> title_place("Flood Act", "act.pdf", {3: None})
    'Flood Act, page 3'
    """
    return ", ".join(filter(None, (title, page_place(file, pages))))


def page_choice(file: str, pages: Mapping[int, str | None], page: int) -> str:
    """Return the name of one of some pages in a choice: its number, or its printed number with its sheet."""
    label = pages.get(page)
    return str(page) if label is None else page_place(file, {page: label})


def citation_page(citation: Citation) -> str:
    """Return the page of a citation."""
    return page_place(citation.file, citation.named_page)


def citation_place(citation: Citation) -> str:
    """Return the title and page of a citation."""
    return title_place(citation.title, citation.file, citation.named_page)
