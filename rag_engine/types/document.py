"""A document: its text as a file holds it, its description, its row in the catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_engine.messages import Message

BlockKind = Literal["heading", "text", "table", "note"]
# How `Metadata.superseded` says that it is not known since when.
UNDATED = "unknown"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Line:
    """Characters [start, end) of a document's text and their place on a page.

    `box` is None where the format has no page geometry (DOCX, HTML, ...).
    """

    start: int
    end: int
    page: int
    box: Box | None


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, table or note: characters [start, end) of a document's text.

    `rows` are the cells of a table as they are printed, its header first, a merged cell in each place it covers.
    """

    start: int
    end: int
    page: int
    kind: BlockKind
    font_size: float | None = None
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class StruckText:
    """Words that a document shows struck out, at offset `start` of its text but no part of it."""

    start: int
    page: int
    text: str


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """Text of a file in reading order, with the place of every line.

    `text` joins the blocks by a blank line. `lines` and `blocks` are ordered and lie inside `text`.
    `pages` counts pages, slides or sheets (1 for formats without them); `ocr_pages` were read by OCR;
    `unread_pages` had a picture but gave no text. `struck` is in the order of the text. `page_labels` are the numbers
    printed on the pages, "" for a page without; empty if they say what the pages' places say.
    """

    text: str
    pages: int
    lines: tuple[Line, ...]
    blocks: tuple[Block, ...]
    media_type: str
    title: str = ""
    ocr_pages: tuple[int, ...] = ()
    unread_pages: tuple[int, ...] = ()
    warnings: tuple[Message, ...] = ()
    struck: tuple[StruckText, ...] = ()
    page_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metadata:
    """A document described in the controlled taxonomy; empty means not known.

    - `geographical_level`: one of the taxonomy's labels, with "National" for every country
    - `countries`: English names
    - `language`: an ISO 639-1 code; `other_languages` are those of further parts of the document
    - `date`: an ISO date or its prefix; `in_force`: that of effect, where a document states it
    - `work`: shared by the versions and translations of one work, empty for a single document
    - `version`: a label
    - `superseded`: the ISO date or its prefix from which a newer version replaces it, "unknown" without a date, empty
      for the newest
    - `translation_of`: the code of the translation that answers in its place
    - `quality_score`: ingestion's, from 0 to 100; None for a file that was added by itself
    - `identifiers`: official ones, such as CELEX numbers and document symbols
    """

    title: str
    language: str
    authority: str = ""
    hazards: tuple[str, ...] = ()
    geographical_level: str = ""
    countries: tuple[str, ...] = ()
    document_type: str = ""
    year: int | None = None
    date: str = ""
    target: str = ""
    key_criteria: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    description: str = ""
    licence: str = ""
    source_url: str = ""
    notes: str = ""
    work: str = ""
    version: str = ""
    superseded: str = ""
    translation_of: str = ""
    quality_score: float | None = None
    other_languages: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    in_force: str = ""

    @property
    def since(self) -> str:
        """The date from which it stands: that of effect, else of publication; empty if it is undated."""
        return self.in_force or self.date or str(self.year or "")


@dataclass(frozen=True, slots=True)
class Document:
    """One file of the collection, ready to be chunked and indexed.

    `source` is its origin (an absolute path or upload:FOLDER/NAME) and identifies the document across versions of its
    content. `sha256` is the hash of the file's bytes.
    """

    source: str
    file: str
    sha256: str
    metadata: Metadata
    extracted: ExtractedText

    @property
    def document_id(self) -> str:
        """First twelve hex digits of the content hash, the prefix of every child id."""
        return self.sha256[:12]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as the catalog knows it. `key` is its row, never shown to a person.

    `strategy` names how its text was cut into parents and children, `why` the reason. `source` is its origin. The
    source of a version that was superseded by another content ends with the beginning of its hash.
    """

    key: int
    document_id: str
    source: str
    file: str
    sha256: str
    media_type: str
    pages: int
    ocr_pages: int
    parents: int
    children: int
    characters: int
    added: str
    metadata: Metadata
    strategy: str = ""
    why: str = ""
    page_labels: tuple[str, ...] = ()

    @property
    def shown_title(self) -> str:
        """Its title, or the name of its file without one."""
        return self.metadata.title or self.file

    def page_label(self, page: int) -> str | None:
        """Return the number printed on a page, "" if it bears none; None if the file counts them so."""
        return self.page_labels[page - 1] if page <= len(self.page_labels) else None

    def named_page(self, page: int) -> dict[int, str | None]:
        """Return a page with the number printed on it, as `pages_text` takes them."""
        return {page: self.page_label(page)}

    @property
    def origin(self) -> str:
        """Where it came from, the same for every version of a source."""
        return self.source.removesuffix(former_mark(self.sha256))

    @property
    def is_former(self) -> bool:
        """Whether another content of its source has superseded it."""
        return self.source != self.origin


def former_mark(sha256: str) -> str:
    """Return the end of the source of a superseded version with this content.

    >>> "plan.pdf" + former_mark("0123456789abcdef")
    'plan.pdf@0123456789ab'
    """
    return f"@{sha256[:12]}"
