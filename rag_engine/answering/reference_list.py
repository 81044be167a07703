"""References of an answer, made from the catalog: what a reader needs to find and to reuse what is cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rag_engine.types import Citation

# As licences are named in the catalog: "CC BY-NC-ND 4.0", "Reproduction authorised (NC)".
_LIMIT = re.compile(r"(?<![A-Za-z])(?:NC|ND)(?![A-Za-z])")
LIMITS: Mapping[str, str] = {"NC": "no commercial use", "ND": "no changes"}


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document that an answer cites: the numbers of its sources, the pages of the quotes, and its limits."""

    numbers: tuple[int, ...]
    document_id: str
    file: str
    authority: str
    title: str
    year: int | None
    pages: tuple[int, ...]
    licence: str

    @property
    def marks(self) -> str:
        """The marks by which the answer names it."""
        return "".join(f"[Source {number}]" for number in self.numbers)

    @property
    def text(self) -> str:
        """Authority, title, year, pages and licence with its limits, as far as they are known."""
        shown = pages_text(self.pages)
        return ", ".join(
            filter(None, (self.authority, self.title, str(self.year or ""), shown, licence_text(self.licence)))
        )


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
            pages=tuple(sorted({one.page for one in of})),
            licence=of[0].licence,
        )
        for document, of in grouped.items()
    )


def limits_of(licence: str) -> tuple[str, ...]:
    """Return "NC" and "ND" as far as the licence forbids commercial use and changes."""
    found = set(_LIMIT.findall(licence))
    return tuple(limit for limit in LIMITS if limit in found)


def licence_text(licence: str) -> str:
    """Return a licence with what it forbids in words: "CC BY-NC 4.0 (no commercial use)"."""
    limits = ", ".join(LIMITS[limit] for limit in limits_of(licence))
    return f"{licence} ({limits})" if limits else licence


def pages_text(pages: Iterable[int]) -> str:
    """Return "page 3" or "pages 3, 5–7"."""
    runs: list[list[int]] = []
    for page in sorted(set(pages)):
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    shown = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return f"page{'s' if sum(map(len, runs)) > 1 else ''} {shown}" if runs else ""
