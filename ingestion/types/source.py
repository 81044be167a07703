"""A source: as a list names it, as it was fetched, read, judged and described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ingestion.types.licence import LicenceMark
from rag_engine.messages import NO_MESSAGE, Message


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A row of the analyst's list, a document found under one, or a file of the analyst's own.

    `code` identifies it permanently (Document_Code). `path` is set instead of `url` for a local file. `parent` is the
    code of the portal it was found under. `origin` says where the row stood ("sources.xlsx, Sheet1, row 7"). `title`,
    `authority`, `notes` and `licence` are the words of the list and may be empty.
    """

    code: str
    url: str = ""
    path: str = ""
    title: str = ""
    authority: str = ""
    notes: str = ""
    licence: str = ""
    parent: str = ""
    origin: Message = NO_MESSAGE

    @property
    def shown_title(self) -> str:
        """Its title, or its address or path where the list gives none."""
        return self.title or self.url or self.path


PageKind = Literal["directory", "landing", "content", "file"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Answer of an address. Exactly one of `body` (in memory) and `path` (streamed to a file) is set.

    `urls` are all hops, the one asked for first, the final one last. `media_type` is the declared one without
    parameters, in lower case; `charset` its charset parameter or "". `status` is 304 where nothing has changed.
    `how` tells a plain request from a browser.
    """

    urls: tuple[str, ...]
    status: int
    media_type: str
    charset: str
    body: bytes
    path: str = ""
    size: int = 0
    sha256: str = ""
    etag: str = ""
    last_modified: str = ""
    file_name: str = ""
    how: Literal["http", "browser"] = "http"

    @property
    def url(self) -> str:
        """The final address."""
        return self.urls[-1]


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators of a conditional request."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """A local file of a source: `path` is relative to the workspace (downloads/ADM001_flood-plan.pdf).

    `urls` lead from the source's address to the file's, through landing pages and redirects. `title` is what the
    page or link called it. `how` is "local" for a file that the analyst had.
    """

    path: str
    urls: tuple[str, ...]
    sha256: str
    size: int
    media_type: str
    kind: PageKind
    retrieved: str
    title: str = ""
    etag: str = ""
    last_modified: str = ""
    how: Literal["http", "browser", "local"] = "http"


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that a portal offers; becomes a source with the portal's code as parent."""

    url: str
    title: str = ""
    authority: str = ""
    licence: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True)
class PortalFindings:
    """Result of exploring a portal: documents in order, pages visited, and omissions."""

    found: tuple[FoundDocument, ...]
    visited: tuple[str, ...]
    left_out: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """Summary of a file that was read; its text with positions is in the workspace's readings/ folder.

    `text_hash` is the SHA-256 of the cleaned text (the paper's content hash); `characters` and `cleaned_characters`
    count the analyst's text and the encoder's. `licence_marks` are the document's statements on its licence, if they
    contradict its page. `in_force` is the day from which it has effect.
    """

    text_hash: str
    media_type: str
    pages: int
    ocr_pages: int
    unread_pages: int
    characters: int
    cleaned_characters: int
    title: str
    language: str
    size: int
    warnings: tuple[Message, ...] = ()
    licence_marks: tuple[LicenceMark, ...] = ()
    other_languages: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    in_force: str = ""


@dataclass(frozen=True, slots=True)
class Quality:
    """The score 0-100 and its four parts (Buriasco 2026).

    Length has at most 50, chunks 20, sections 15, cleaning 15.
    `readability` is the share 0..1 of words that look like words of the text's language; 1 where no OCR was used.
    """

    score: float
    length: float
    chunks: float
    sections: float
    cleaning: float
    readability: float = 1.0
    sections_found: tuple[str, ...] = ()
    key_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """Relation of a source to the others: copy, version, translation.

    `work` is the code of the work's preferred member, itself included. `translation_of` is the preferred translation's
    code, or "". `version` is a label ("2016", "rev. 2", "draft"), or "". `superseded` is the ISO date (or its prefix)
    from which a newer version replaces it. It is "unknown" without a date, and "" for the newest. `duplicate_of` is the
    code of the source that is kept instead of this one, or "". `similarity` is 0..1, of the part that `how` names
    ("title", "text", "address", "meaning").
    """

    work: str
    translation_of: str = ""
    version: str = ""
    superseded: str = ""
    duplicate_of: str = ""
    how: str = ""
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Indexed:
    """Entry of a source in the index."""

    document_id: str
    children: int
    fingerprint: str
