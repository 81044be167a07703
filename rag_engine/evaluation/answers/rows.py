"""The rows of a run of questions, one a question, and the table that they make."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from rag_engine.conversations.erased_documents import REDACTED


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question as it was answered.

    `figures` are by metric, None for a metric without a figure or with a failed judge. `spreads` are the standard
    deviations of figures that were judged several times. `cited` are pages as "file page 3". `failure` is the error of
    a question that could not be answered, or of failed judgements.
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

    def without(self, files: Collection[str]) -> AnswerRow:
        """Return the row, without its answer where this cites one of the files."""
        # A place is the file with its page, if it has pages.
        cites = any(f"{place} ".startswith(f"{file} ") for place in self.cited for file in files)
        return replace(self, answer=REDACTED) if cites else self


def rows_table(rows: Sequence[AnswerRow]) -> tuple[list[str], list[list[str | float | None]]]:
    """Return rows as a table: every field of them, and every figure with its spread."""
    fixed = [field.name for field in fields(AnswerRow) if field.name not in ("figures", "spreads", "failure")]
    metrics = list(dict.fromkeys(metric for row in rows for metric in row.figures))
    headings = [*fixed, *metrics, *(f"{metric} spread" for metric in metrics), "failure"]
    return headings, [
        [
            *(row.id, row.language, row.kind, row.split, "yes" if row.answerable else "no", row.status, row.seconds),
            *(row.question, row.answer, "; ".join(row.cited), row.generator),
            *(row.figures.get(metric) for metric in metrics),
            *(row.spreads.get(metric) for metric in metrics),
            row.failure,
        ]
        for row in rows
    ]
