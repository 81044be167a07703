"""The formats in which a text can be taken away, by the suffix of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from rag_engine.errors import InputError
from rag_engine.takeaway.bibliography import to_bibtex, to_ris
from rag_engine.takeaway.cited_sources import cited_entries
from rag_engine.takeaway.docx import to_docx
from rag_engine.takeaway.exported_text import ExportedText
from rag_engine.takeaway.markdown import to_markdown
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types import DocumentRecord

# Each suffix with the name of its format; the last two hold the documents that are cited, and no text.
FORMATS: Mapping[str, str] = {".docx": "Word", ".md": "Markdown", ".bib": "BibTeX", ".ris": "RIS"}


def export_file(
    text: ExportedText, suffix: str, documents: Iterable[DocumentRecord], words: Wording = ENGLISH
) -> bytes:
    """Return the content of a file with this suffix; `documents` describe what is cited.

    InputError for a suffix without a format.
    """
    match suffix:
        case ".docx":
            return to_docx(text, datetime.now(UTC), words)
        case ".md":
            return to_markdown(text, words).encode()
        case ".bib":
            return to_bibtex(cited_entries(text.citations, documents)).encode()
        case ".ris":
            return to_ris(cited_entries(text.citations, documents)).encode()
        case _:
            raise InputError(f"No file that ends in {suffix!r} can be exported.", help=f"Use {', '.join(FORMATS)}.")
