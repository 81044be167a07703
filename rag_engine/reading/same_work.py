"""The other documents of a work: its versions and translations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag_engine.types import UNDATED, DocumentRecord


@dataclass(frozen=True, slots=True)
class SameWork:
    """The versions of a document in its own language, the oldest first and itself among them, and its translations."""

    versions: tuple[DocumentRecord, ...]
    translations: tuple[DocumentRecord, ...]


def documents_of_work(document: DocumentRecord, documents: Iterable[DocumentRecord]) -> SameWork:
    """Return the documents that share the document's work; it is alone where it has none."""
    work, language = document.metadata.work, document.metadata.language
    same = [one for one in documents if work and one.metadata.work == work and one.key != document.key]
    versions = [document, *(one for one in same if one.metadata.language == language)]
    translations = [one for one in same if one.metadata.language != language]
    return SameWork(
        tuple(sorted(versions, key=_age)), tuple(sorted(translations, key=lambda one: one.metadata.language))
    )


def newer_version(document: DocumentRecord, documents: Iterable[DocumentRecord]) -> DocumentRecord | None:
    """Return the newest version of a superseded document; None for one that is not, or where that is not there."""
    if not document.metadata.superseded:
        return None
    newest = documents_of_work(document, documents).versions[-1]
    return None if newest.metadata.superseded else newest


def _age(document: DocumentRecord) -> tuple[bool, str, str, int]:
    """Return what orders versions: superseded ones first, by that date, then by their own date."""
    superseded = document.metadata.superseded
    return not superseded, superseded.replace(UNDATED, ""), document.metadata.date, document.key
