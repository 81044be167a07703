"""The dataset for a person to take away."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ingestion.acts.context import ActContext
from ingestion.acts.register import act
from ingestion.dataset.export import Exported, export
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def export_dataset(context: ActContext, file: Path) -> Exported:
    """Write the dataset to a file, in the format of its suffix."""
    return export(file, list(context.store.records().values()), workspace=context.workspace)


@act("reader")
def exported_bytes(context: ActContext, suffix: str, words: Wording = ENGLISH) -> bytes:
    """Return the dataset in the format of the suffix, without links to files of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"dataset{suffix}"
        export(file, list(context.store.records().values()), words=words)
        return file.read_bytes()
