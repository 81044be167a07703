"""The dataset for a person to take away."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ingestion.dataset.export import Exported, export
from ingestion.operations.acts import act
from ingestion.operations.desk import Desk
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def export_dataset(desk: Desk, file: Path) -> Exported:
    """Write the dataset to a file, in the format of its suffix."""
    return export(file, list(desk.store.records().values()), workspace=desk.workspace)


@act("reader")
def exported_bytes(desk: Desk, suffix: str, words: Wording = ENGLISH) -> bytes:
    """Return the dataset in the format of the suffix, without links to files of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"dataset{suffix}"
        export(file, list(desk.store.records().values()), words=words)
        return file.read_bytes()
