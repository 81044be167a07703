"""A document of the list that a person erased: it is gone from the disk and stays out of the index."""

from __future__ import annotations

from pathlib import Path

from ingestion.dossier import Decision
from ingestion.extracted import forget_reading
from ingestion.indexing import FROM_LIST
from ingestion.quarantine import remove_file
from ingestion.register import Register, now
from rag_engine import workspace as places
from rag_engine.types import DocumentRecord

_PERSON = "a person"


def withdraw(record: DocumentRecord, register: Register, workspace: Path, *, author: str = "") -> bool:
    """Whether the document came from the list; its file and reading are removed, and no run brings it back."""
    code = record.source.removeprefix(FROM_LIST)
    dossier = register.dossiers().get(code) if record.source.startswith(FROM_LIST) else None
    if dossier is None:
        return False
    note = "Erased; restore it here and run acquisition again to have it back."
    register.decide(Decision(code, "indexing", "withdraw", author or _PERSON, note, now()))
    if dossier.download is not None:
        remove_file(workspace, dossier.download)
        forget_reading(places.readings(workspace), dossier.download.sha256)
    return True
