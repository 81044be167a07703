"""The documents that are cited, as entries of a bibliography."""

from __future__ import annotations

from collections.abc import Iterable

from rag_engine.takeaway.bibliography import BibliographyEntry
from rag_engine.text.folding import fold_title
from rag_engine.types import Citation, DocumentRecord, Metadata


def cited_entries(citations: Iterable[Citation], documents: Iterable[DocumentRecord]) -> list[BibliographyEntry]:
    """Return each document that is cited once, in the order of its first citation.

    Described as the collection describes it, or as the citation does where it is no longer there.
    """
    known = {record.document_id: record.metadata for record in documents}
    cited: dict[str, Metadata] = {}
    for citation in citations:
        cited.setdefault(citation.document_id, known.get(citation.document_id) or _described(citation))
    return [(_key(metadata), metadata) for metadata in cited.values()]


def _described(citation: Citation) -> Metadata:
    return Metadata(citation.title, "", authority=citation.authority, year=citation.year, licence=citation.licence)


def _key(metadata: Metadata) -> str:
    """Return what a bibliography calls a document: "parliament-2016-flood", as far as it is known."""
    authority, title = (fold_title(text).partition(" ")[0] for text in (metadata.authority, metadata.title))
    return "-".join(filter(None, (authority, str(metadata.year or metadata.date[:4]), title)))
