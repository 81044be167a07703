"""Licence statements of a document: on its first and last pages, and in an imprint on any other."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.licence.patterns import read_statements
from ingestion.licence.table import load_licences
from ingestion.types import LicenceMark
from rag_engine.text.folding import fold_in_place
from rag_engine.types import ExtractedText

# A text without pages of its own is read in parts of this length.
_PART = 15_000
# How many different words of an imprint (ISBN, publisher, layout ...) a page must have to be one.
_FEWEST_WORDS = 3
_LONGEST_IMPRINT = 6_000


def document_statements(extracted: ExtractedText) -> list[LicenceMark]:
    """Return what a document says of its licence, in the order of its pages, each mark with its page.

    Pages between the first two and the last two count only where they are an imprint: elsewhere a document speaks of
    the licences of others.
    """
    pages = pages_of(extracted)
    own = {1, 2, len(pages) - 1, len(pages)}
    return [
        mark
        for number, (name, text) in enumerate(pages, start=1)
        if number in own or is_imprint(text)
        for mark in read_statements(text, name)
    ]


def pages_of(extracted: ExtractedText) -> list[tuple[str, str]]:
    """Return the texts of all pages with their names; of a file without pages its parts."""
    if extracted.pages <= 1 or not extracted.blocks:
        return list(_parts(extracted.text))
    texts: list[list[str]] = [[] for _ in range(extracted.pages)]
    for block in extracted.blocks:
        texts[block.page - 1].append(extracted.text[block.start : block.end])
    return [(f"page {number}", "\n\n".join(blocks)) for number, blocks in enumerate(texts, start=1)]


def is_imprint(text: str) -> bool:
    """Return whether a page tells who published, printed and laid out the document, by different words of that kind."""
    if len(text) > _LONGEST_IMPRINT:
        return False
    found = load_licences().phrases["imprint"].findall(fold_in_place(text))
    return len(set(found)) >= _FEWEST_WORDS


def _parts(text: str) -> Iterator[tuple[str, str]]:
    if len(text) <= 2 * _PART:
        yield "text", text
        return
    cuts = range(0, len(text), _PART)
    for number, start in enumerate(cuts, start=1):
        name = "beginning" if number == 1 else "end" if number == len(cuts) else f"part {number}"
        yield name, text[start : start + _PART]
