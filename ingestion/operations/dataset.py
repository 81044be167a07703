"""The dataset for a person to take away, with what each document was asked."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ingestion.dataset.answer_sheets import of_present
from ingestion.dataset.answer_store import AnsweredForm, AnswerStore
from ingestion.dataset.export import Exported, export
from ingestion.operations.acts import act
from ingestion.operations.desk import Desk
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def export_dataset(desk: Desk, file: Path) -> Exported:
    """Write the dataset to a file, in the format of its suffix."""
    return export(file, list(desk.store.records().values()), workspace=desk.workspace, answers=answered_forms(desk))


@act("reader")
def exported_bytes(desk: Desk, suffix: str, words: Wording = ENGLISH) -> bytes:
    """Return the dataset in the format of the suffix, without links to files of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"dataset{suffix}"
        export(file, list(desk.store.records().values()), answers=answered_forms(desk), words=words)
        return file.read_bytes()


@act("reader")
def answered_forms(desk: Desk) -> list[AnsweredForm]:
    """Return the questions that were asked of each document, with the replies of those that the collection has."""
    present = [record.document_id for record in desk.engine.collection.documents()]
    return of_present(AnswerStore(desk.engine.catalog).forms(), present)
