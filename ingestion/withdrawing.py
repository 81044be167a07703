"""A document of the list that a person erased: it is gone from the disk and stays out of the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingestion.dossier import Decision
from ingestion.extracted import forget_reading
from ingestion.file_names import file_hash, safe_code
from ingestion.indexing import FROM_LIST
from ingestion.outcomes import PHASES
from ingestion.register import Register, now
from rag_engine import workspace as places
from rag_engine.types import DocumentRecord

_PERSON = "a person"


def withdraw(record: DocumentRecord, register: Register, workspace: Path, *, author: str = "") -> bool:
    """Whether the document came from the list; all files of it, of former versions too, what was read from them and
    what the phases learnt of it are removed, and no run brings it back."""
    code = record.source.removeprefix(FROM_LIST)
    dossier = register.dossiers().get(code) if record.source.startswith(FROM_LIST) else None
    if dossier is None:
        return False
    note = "Erased; restore it to fetch and read it again."
    register.decide(Decision(code, "indexing", "withdraw", author or _PERSON, note, now()))
    for path in _files(workspace, code):
        forget_reading(places.readings(workspace), file_hash(path))
        path.unlink()
    register.erase(code, PHASES[PHASES.index("acquisition") :])
    return True


def _files(workspace: Path, code: str) -> Iterator[Path]:
    """Every file that was ever fetched for the source and is still there."""
    for folder in (places.downloads(workspace), places.quarantine(workspace)):
        if folder.is_dir():
            yield from (path for path in folder.iterdir() if path.name.startswith(f"{safe_code(code)}_"))
