"""The rows of a run over a workspace's documents, in which no answer outlives the document that it quotes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from rag_engine.conversations.erased_documents import REDACTED, erased_since
from rag_engine.evaluation.answers.accepted_run import KeptRun, accepted_path, write_run
from rag_engine.evaluation.answers.rows import AnswerRow, RowFile


class WorkspaceRows(RowFile):
    """Rows of a run, without the answers that cite a document which was erased, and they with it, since the run began.

    The erasure may be another process's, at any moment of the run.
    """

    def __init__(self, workspace: Path, path: Path, metrics: Sequence[str]) -> None:
        """Open the file of a run with these metrics, as `RowFile` does."""
        self._workspace, self._begun = workspace, datetime.now(UTC).isoformat(timespec="microseconds")
        with answers_locked(workspace):
            super().__init__(path, metrics)

    def append(self, row: AnswerRow) -> None:
        """Write a row, so that it outlives the end of this process."""
        with answers_locked(self._workspace):
            super().append(self._left(row))

    def write(self, path: Path, run: KeptRun) -> KeptRun:
        """Write the run that has these rows as JSON, and return it as it was written."""
        with answers_locked(self._workspace):
            left = replace(run, rows=tuple(map(self._left, run.rows)))
            write_run(path, left)
        return left

    def _left(self, row: AnswerRow) -> AnswerRow:
        erased = {one.file for one in erased_since(self._workspace, self._begun) if one.redact}
        return replace(row, answer=REDACTED) if cites_any_file(row.cited, erased) else row


def cites_any_file(cited: Collection[str], files: Collection[str]) -> bool:
    """Return whether pages, as a row names them, are of one of the files."""
    return any(place.startswith(f"{file} p. ") for place in cited for file in files)


@contextmanager
def answers_locked(workspace: Path) -> Iterator[None]:
    """Keep others, in this process or another, from writing answers of runs meanwhile or taking a document out."""
    folder = accepted_path(workspace).parent
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "answers.lock"):
        yield
