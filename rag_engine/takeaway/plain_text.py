"""Answers and quotes as plain text with their references, ready to be pasted."""

from __future__ import annotations

from collections.abc import Iterable

from rag_engine.answering.reference_list import references_of
from rag_engine.takeaway.exported_text import (
    AnswerLine,
    AnswerRun,
    ExportedSection,
    answer_lines,
    answer_runs,
    visible_text,
)
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types import Citation

_INDENT = "    "


def plain_section(section: ExportedSection, words: Wording = ENGLISH) -> str:
    """Return the answer of a section, its sources numbered as in "[1]", and below it their references.

    A table has a tab between two cells, as spreadsheets read it.
    """
    cited = {one.n for one in section.citations}
    cells = (
        (*(" ".join(cell.split()) for cell in row[:-1]), _words(answer_runs(row[-1]), cited)) for row in section.table
    )
    blocks = ("\n".join(_plain(line, cited) for line in answer_lines(section.text)), "\n".join(map("\t".join, cells)))
    return visible_text("\n\n".join(filter(None, (*blocks, plain_references(section.citations, words)))))


def plain_references(citations: Iterable[Citation], words: Wording = ENGLISH) -> str:
    """Return the references, one a line: "[1][3] Parliament, Flood Act, 2016, pages 3, 5"."""
    references = references_of(citations)
    return visible_text(
        "\n".join(f"{''.join(f'[{n}]' for n in one.numbers)} {one.describe(words)}" for one in references)
    )


def plain_quotes(citations: Iterable[Citation], words: Wording = ENGLISH) -> str:
    """Return each quote on a line with its reference: “six years” (Parliament, Flood Act, 2016, page 3)."""
    quotes = ((" ".join(one.quote.split()), references_of([one])[0].describe(words)) for one in citations)
    return visible_text("\n".join(f"“{quote}” ({reference})" for quote, reference in quotes))


def _plain(line: AnswerLine, cited: set[int]) -> str:
    words = _words(line.runs, cited)
    match line.kind:
        case "bullet":
            return f"{_INDENT * line.depth}- {words}"
        case "numbered":
            return f"{_INDENT * line.depth}{line.number}. {words}"
        case "heading" | "text":
            return words


def _words(runs: Iterable[AnswerRun], cited: set[int]) -> str:
    return "".join(f"[{run.n}]" if run.n in cited else run.text for run in runs)
