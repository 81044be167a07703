"""Titles that a document may have: printed, declared by the file, of the list or the link."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.extraction.assemble import one_line
from ingestion.extraction.layout.title import (
    STRONG,
    is_printed,
    is_workbook,
    looks_like_title,
    printed_titles,
    whole_line,
)
from ingestion.file_reading import FileProperties
from ingestion.types.description import FieldValue, surest
from ingestion.types.source import ListedSource
from rag_engine.types.document import ExtractedText

_SITE = re.compile(r"\s(?:\||-|–|—|::|»|·|•)\s")
_MOST = 6
# The last is a web archive.
WEB_PAGES = frozenset({"text/html", "application/xhtml+xml", "multipart/related"})


def find_titles(extracted: ExtractedText, source: ListedSource, declared: FileProperties) -> list[FieldValue]:
    """Return the titles that the document may have, the likeliest first.

    The title of the extraction is among them.

    A declared title that is also printed is the surest. A declared title that is not printed may be left over from
    another document, and gives way to a line that stands out.
    """
    found = (*_declared(extracted, declared), *_printed(extracted), *_listed(source), *_extracted(extracted, declared))
    return sorted(surest(value for value in found if value.value), key=lambda value: -value.confidence)[:_MOST]


def without_site(title: str, text: str) -> str:
    """Return a page's title without the name of its site: the part that is printed, else the longer end."""
    parts = [part.strip() for part in _SITE.split(title) if part.strip()]
    if len(parts) < 2:
        return title
    printed = [part for part in parts if looks_like_title(part) and is_printed(part, text)]
    if is_printed(title, text) or not (printed or looks_like_title(parts[0])):
        return title
    return max(printed, key=len) if printed else parts[0]


def _declared(extracted: ExtractedText, declared: FileProperties) -> Iterator[FieldValue]:
    title = one_line(declared.title)
    if extracted.media_type in WEB_PAGES or " | " in title:
        title = without_site(title, extracted.text)
    if looks_like_title(title):
        if printed := is_printed(title, extracted.text):
            title = whole_line(title, extracted.text, extracted.blocks)
        reason = f"The file declares the title “{declared.title}”."
        page = 1 if printed else None
        yield FieldValue("title", title, "rule", title if printed else reason, page, 0.95 if printed else 0.6)


def _printed(extracted: ExtractedText) -> Iterator[FieldValue]:
    if not extracted.blocks or is_workbook(extracted.blocks):
        return
    for rank, title in enumerate(printed_titles(extracted.text, extracted.blocks)[:_MOST]):
        sure = 0.55 if title.strength < STRONG else min(0.9, 0.62 + 0.07 * (title.strength - STRONG))
        yield FieldValue("title", title.text, "rule", title.text, title.page, round(sure - 0.1 * min(rank, 4), 2))


def _listed(source: ListedSource) -> Iterator[FieldValue]:
    # What a portal's link says is no title that the analyst gave.
    if (title := one_line(source.title)) and not source.parent:
        yield FieldValue("title", title, "list", source.title, None, 1.0)


def _extracted(extracted: ExtractedText, declared: FileProperties) -> Iterator[FieldValue]:
    """Yield the title that the extraction chose.

    It is a file's name where it is neither in the text nor in the properties.
    """
    title = extracted.title
    known = is_printed(title, extracted.text) or one_line(declared.title) == title
    yield FieldValue("title", title, "rule", title if known else "The file has this name.", None, 0.5 if known else 0.2)
