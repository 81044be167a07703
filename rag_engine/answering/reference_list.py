"""References of an answer, made from the catalog, to find and reuse the cited documents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag_engine.text.file_kinds import pages_text
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import Citation

# As licences are named in the catalog: "CC BY-NC-ND 4.0", "Reproduction authorised (NC)".
_LIMIT = re.compile(r"(?<![A-Za-z])(?:NC|ND)(?![A-Za-z])")
_LIMITS = ("NC", "ND")


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document that an answer cites: its source numbers, quoted pages and limits.

    `page_labels` are the numbers printed on those pages. `sections` are the headings that the quotes stand under, as
    far as they are known.
    """

    numbers: tuple[int, ...]
    document_id: str
    file: str
    authority: str
    title: str
    year: int | None
    pages: tuple[int, ...]
    licence: str
    sections: tuple[str, ...] = ()
    page_labels: tuple[str | None, ...] = ()

    @property
    def named_pages(self) -> dict[int, str | None]:
        """The pages with the numbers printed on them, as `pages_text` takes them."""
        return dict(zip(self.pages, self.page_labels or (None,) * len(self.pages), strict=True))

    @property
    def marks(self) -> str:
        """The marks by which the answer names it."""
        return "".join(f"[Source {number}]" for number in self.numbers)

    @property
    def text(self) -> str:
        """Authority, title, year, pages and licence with its limits in English, as far as they are known."""
        return self.describe()

    def describe(self, words: Wording = ENGLISH) -> str:
        """Return authority, title, year, pages and licence with its limits, as far as they are known.

        Of a file without pages the sections are named instead.
        """
        headings = ", ".join(f"“{section}”" for section in self.sections)
        place = pages_text(self.file, self.named_pages, words) or headings
        known = (self.authority, self.title, year_text(self.year, words), place)
        return ", ".join(filter(None, (*known, licence_text(self.licence, words))))


def references_of(citations: Iterable[Citation]) -> tuple[CitedDocument, ...]:
    """Return the documents that are cited, each once, in the order of their first citation."""
    grouped: dict[str, list[Citation]] = {}
    for citation in citations:
        grouped.setdefault(citation.document_id, []).append(citation)
    return tuple(
        CitedDocument(
            numbers=tuple(sorted({one.n for one in of})),
            document_id=document,
            file=of[0].file,
            authority=of[0].authority,
            title=of[0].title,
            year=of[0].year,
            pages=tuple(pages),
            page_labels=tuple(pages.values()),
            licence=of[0].licence,
            sections=tuple(dict.fromkeys(one.section for one in of if one.section)),
        )
        for document, of in grouped.items()
        for pages in [dict(sorted({one.page: one.page_label for one in of}.items()))]
    )


def year_text(year: int | None, words: Wording = ENGLISH) -> str:
    """Return a document's year in words; that it is undated, without one."""
    return str(year) if year else words.message("undated")


def limits_of(licence: str) -> tuple[str, ...]:
    """Return "NC" and "ND" as far as the licence forbids commercial use and changes.

    >>> limits_of("CC BY-NC-ND 4.0")
    ('NC', 'ND')
    """
    found = set(_LIMIT.findall(licence))
    return tuple(limit for limit in _LIMITS if limit in found)


def limits_text(licence: str, words: Wording = ENGLISH) -> tuple[str, ...]:
    """Return the limits of a licence in words."""
    return tuple(
        words.message("no commercial use") if limit == "NC" else words.message("no changes")
        for limit in limits_of(licence)
    )


def licence_text(licence: str, words: Wording = ENGLISH) -> str:
    """Return a licence with its limits in words: "CC BY-NC 4.0 (no commercial use)"."""
    limits = ", ".join(limits_text(licence, words))
    return f"{licence} ({limits})" if limits else licence
