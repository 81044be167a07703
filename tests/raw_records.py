"""Records of a workspace as the database holds them, behind what reads and writes them."""

from __future__ import annotations

from pathlib import Path

from rag_engine.storage.records import bodies, reading, write_record, writing
from rag_engine.workspace import records_file


def raw_records(workspace: Path, kind: str) -> dict[str, str]:
    """Return the records of a kind by id, as JSON."""
    with reading(workspace) as connection:
        return bodies(connection, kind)


def overwrite(workspace: Path, kind: str, id: str, body: str) -> None:
    """Put something else in the place of a record."""
    with writing(workspace) as connection:
        write_record(connection, kind, id, body)


def record_bytes(workspace: Path) -> bytes:
    """Return the file of the records, with what SQLite may have left in it of former ones."""
    return records_file(workspace).read_bytes()
