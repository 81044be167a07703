"""A comparison as a workbook: the table, and a sheet with the evidence of each cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

from ingestion.dataset.comparison.comparison import (
    NOT_ASKED,
    Comparison,
    ComparisonCell,
    cell_text,
    cells_in_order,
    state_text,
)
from ingestion.dataset.comparison.short_text import without_marks
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_workbook
from rag_engine.answering.reference_list import limits_text
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.errors import InputError
from rag_engine.takeaway.exported_text import attribute_text
from rag_engine.text.file_kinds import page_cell
from rag_engine.text.neutralise import one_line
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import QUOTED, Attribute, AttributeContent, Citation
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.address import DocumentPlace

_COLUMN_WIDTH = 44


def comparison_workbook(
    comparison: Comparison, documents: Sequence[DocumentRecord], base: str = "", words: Wording = ENGLISH
) -> bytes:
    """Return a workbook with the table and the evidence.

    Links open the passage in its document where `base` is the address of the pages ("http://127.0.0.1:8501/"), else
    the page that the document came from. Of a form, the evidence has a row for each record and a column for each value.
    """
    sources = {document.document_id: document.metadata.source_url for document in documents}
    evidence = Sheet(words.message("Evidence"), _evidence_columns(comparison.form, words))
    for question, column, cell in cells_in_order(comparison):
        evidence.rows.extend(_evidence_rows(question, column.label, cell, comparison.form, sources, base, words))
    return to_workbook([_table(comparison, words), evidence])


def require_workbook_path(path: Path) -> None:
    """Raise InputError if no workbook can be written: before a model has worked for hours."""
    if path.suffix.lower() != ".xlsx":
        raise InputError("{file} does not name a workbook.", help="End it in .xlsx.", file=path.name)
    if not path.parent.is_dir():
        raise InputError(
            "{file} cannot be written: there is no folder {parent}.",
            help="Give another place.",
            file=path,
            parent=path.parent,
        )


def _field_names(form: AnswerSchema) -> list[str]:
    return [attribute.name for attribute in (*form.entities, *form.attributes)]


def _evidence_columns(form: AnswerSchema | None, words: Wording) -> tuple[tuple[str, int], ...]:
    answer = [(storable(name), 36) for name in _field_names(form)] if form else [(words.message("Answer"), 60)]
    return (
        (words.message("Question"), 36), (words.message("Column"), 30), (words.message("Status"), 16),
        (words.message("Decided by"), 20), (words.message("Note"), 30),
        *answer, (words.message("Authority"), 28), (words.message("Title"), 40),
        (words.message("Year"), 8), (words.message("Page"), 8), (words.message("Licence"), 20),
        (words.message("Licence limits"), 22), (words.message("Quote"), 80), (words.message("Link"), 44),
        (words.message("Searched"), 40), (words.message("Model"), 18), (words.message("Asked (UTC)"), 18),
        (words.message("Warnings"), 40),
    )  # fmt: skip


def _table(comparison: Comparison, words: Wording) -> Sheet:
    """Return a row for each question; below an answer without findings, the extent of the search."""
    headings = [(storable(column.label), _COLUMN_WIDTH) for column in comparison.columns]
    sheet = Sheet(words.message("Comparison"), ((words.message("Question"), 40), *headings))
    for question in comparison.questions:
        row = [Cell(storable(question))]
        for column in comparison.columns:
            cell = comparison.cells.get((question, column.key))
            row.append(Cell(storable(cell_text(cell, words)), grey=cell is None or not cell.is_answer))
        sheet.rows.append(row)
    return sheet


def _evidence_rows(
    question: str,
    column: str,
    cell: ComparisonCell | None,
    form: AnswerSchema | None,
    sources: dict[str, str],
    base: str,
    words: Wording,
) -> Iterator[list[Cell]]:
    """Yield a row for each quote, and one for a cell without any; nearest passages are no evidence."""
    if cell is None:
        yield _cells((question, column, state_text(NOT_ASKED, words)))
        return
    decided = cell.decided
    written = cell.shown if cell.generator == QUOTED or cell.state == "corrected" else without_marks(cell.text)
    answer = written if cell.is_answer or cell.status != "nothing found" else ""
    by, note = (decided.author, decided.note) if decided else ("", "")
    before = (question, column, state_text(cell.state, words), by, note)
    warnings = "\n".join(map(words.kept, cell.warnings))
    after = (cell.effort.describe(words), cell.generator, cell.asked[:19].replace("T", " "), warnings)
    for number, citation in enumerate(cell.evidence):
        said = _field_values(form, cell.records[number]) if form else (answer,)
        page = page_cell(citation.file, citation.page, citation.page_label, words)
        limits = "; ".join(limits_text(citation.licence, words))
        named = (citation.authority, citation.title, citation.year, page, citation.licence, limits)
        quoted_from = (*named, one_line(citation.quote, limit=None))
        yield _cells((*before, *said, *quoted_from), _link(citation, sources, base), after)
    if not cell.evidence:
        said = _field_values(form, ()) if form else (answer,)
        yield _cells((*before, *said, "", "", None, None, "", "", ""), Cell(""), after)


def _field_values(form: AnswerSchema, record: Sequence[Attribute]) -> tuple[AttributeContent, ...]:
    held = {attribute.name: attribute.value for attribute in record}
    return tuple(map(held.get, _field_names(form)))


def _link(citation: Citation, sources: dict[str, str], base: str) -> Cell:
    if base:
        place = DocumentPlace(citation.document_id, citation.page, (citation.start, citation.end))
        address = f"{base}document?{urlencode(place.parameters())}"
        return Cell(address, address)
    source = sources.get(citation.document_id, "")
    return Cell(storable(source), source if source.startswith(("http://", "https://")) else "")


def _cells(
    before: Sequence[AttributeContent], link: Cell | None = None, after: Sequence[AttributeContent] = ()
) -> list[Cell]:
    return [*map(_cell, before), *([link] if link else []), *map(_cell, after)]


def _cell(value: AttributeContent) -> Cell:
    """Return numbers as numbers, nothing as nothing, and everything else as the text that fits in a cell."""
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return Cell(value)
    return Cell(storable(attribute_text(value)))
