"""Address of a place in a document: the query of a link that opens it there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_engine.text.sentences import Span

DOCUMENT, PAGE, PASSAGE = "document", "page", "passage"

_NUMBER = re.compile(r"[0-9]{1,9}")
_SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A document by its id, a page of it (0: none named), and characters [start, end) of its text."""

    document_id: str
    page: int = 0
    passage: Span | None = None

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the address, without unknown ones."""
        passage = f"{self.passage[0]}-{self.passage[1]}" if self.passage else ""
        named = {DOCUMENT: self.document_id, PAGE: str(self.page or ""), PASSAGE: passage}
        return {name: value for name, value in named.items() if value}


def read_address(parameters: Mapping[str, str]) -> DocumentPlace:
    """Return the place that the parameters of an address name; unreadable values are ignored.

    >>> read_address({"document": "D1", "page": "3"})
    DocumentPlace(document_id='D1', page=3, passage=None)
    """
    page = _NUMBER.fullmatch(parameters.get(PAGE, ""))
    span = _SPAN.fullmatch(parameters.get(PASSAGE, ""))
    passage = (int(span[1]), int(span[2])) if span else None
    return DocumentPlace(
        parameters.get(DOCUMENT, ""),
        int(page[0]) if page else 0,
        passage if passage and passage[0] < passage[1] else None,
    )


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """A place in a list: its words with marks, their language, a note, and its depth.

    `words` are pieces, each with whether it is marked. `depth` counts how far the line is indented.
    """

    place: DocumentPlace
    words: tuple[tuple[str, bool], ...]
    language: str
    note: str = ""
    depth: int = 0
    current: bool = False
