"""The rows of a run of questions: a CSV that grows by a row a question and is taken up again where it ended."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError

_FIXED = (
    "id",
    "language",
    "kind",
    "split",
    "answerable",
    "status",
    "seconds",
    "question",
    "answer",
    "cited",
    "generator",
)
# Begins of a cell that a spreadsheet would run as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# What stands before such a cell.
GUARD = "'"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question as it was answered.

    `figures` are by metric, None where one says nothing or its judge failed; `spreads` the standard deviations of
    those that were judged several times. `cited` are pages as "file p. 3"; `failure` is the error of a question that
    could not be answered, and of judgements that failed.
    """

    id: str
    language: str
    kind: str
    split: str
    answerable: bool
    status: str
    seconds: float
    question: str
    answer: str
    cited: tuple[str, ...]
    generator: str
    figures: Mapping[str, float | None]
    spreads: Mapping[str, float | None]
    failure: str = ""

    @property
    def failed(self) -> bool:
        """Whether the question could not be answered, and is to be asked again."""
        return self.status == "error"


class RowFile:
    """A CSV with the rows of one run; what an interrupted run has written is kept."""

    def __init__(self, path: Path, metrics: Sequence[str]) -> None:
        """Open the file of a run with these metrics; rows that are cut off or failed are dropped from it."""
        self.path, self._metrics = path, tuple(metrics)
        self._columns = (*_FIXED, *self._metrics, *(f"{metric} spread" for metric in self._metrics), "failure")
        self.rows: dict[str, AnswerRow] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self.rows = {row.id: row for row in self._read() if not row.failed}
        self._write()

    def restart(self) -> None:
        """Drop every row."""
        self.rows = {}
        self._write()

    def _write(self) -> None:
        content = self._line(self._columns) + "".join(self._line(self._cells(row)) for row in self.rows.values())
        write_atomic(self.path, content.encode())

    def append(self, row: AnswerRow) -> None:
        """Write a row, so that it outlives the end of this process."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(self._line(self._cells(row)))
        self.rows[row.id] = row

    def _read(self) -> Iterator[AnswerRow]:
        with self.path.open(encoding="utf-8", errors="replace", newline="") as file:
            lines = list(csv.reader(file))
        if not lines or tuple(lines[0]) != self._columns:
            raise InputError(f"{self.path} is not a table of answers of this kind.", help="Move it, or remove it.")
        for cells in lines[1:]:
            # A process that was killed leaves its last line short.
            if len(cells) == len(self._columns):
                yield self._row(dict(zip(self._columns, map(_plain, cells), strict=True)))

    def _row(self, cell: Mapping[str, str]) -> AnswerRow:
        return AnswerRow(
            cell["id"],
            cell["language"],
            cell["kind"],
            cell["split"],
            cell["answerable"] == "yes",
            cell["status"],
            float(cell["seconds"]),
            cell["question"],
            cell["answer"],
            tuple(filter(None, cell["cited"].split("; "))),
            cell["generator"],
            {metric: _number(cell[metric]) for metric in self._metrics},
            {metric: _number(cell[f"{metric} spread"]) for metric in self._metrics},
            cell["failure"],
        )

    def _cells(self, row: AnswerRow) -> list[str]:
        answerable = "yes" if row.answerable else "no"
        marks = (row.id, row.language, row.kind, row.split, answerable, row.status)
        fixed = (*marks, f"{row.seconds:.3f}", row.question, row.answer)
        figures = [_written(row.figures.get(metric)) for metric in self._metrics]
        spreads = [_written(row.spreads.get(metric)) for metric in self._metrics]
        return [
            *map(_guarded, (*fixed, "; ".join(row.cited), row.generator)),
            *figures,
            *spreads,
            _guarded(row.failure),
        ]

    @staticmethod
    def _line(cells: Sequence[str]) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        return text.getvalue()


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def _written(value: float | None) -> str:
    return "" if value is None else repr(value)


def _guarded(text: str) -> str:
    return f"{GUARD}{text}" if text.startswith(_FORMULA) else text


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith(GUARD) and cell[1:].startswith(_FORMULA) else cell
