"""An exported text as a Word document with footnotes, by python-docx."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from rag_engine.takeaway.answer_lines import AnswerLine, AnswerRun, answer_lines, answer_runs
from rag_engine.takeaway.docx_footnotes import DocxFootnotes
from rag_engine.takeaway.docx_words import write_words
from rag_engine.takeaway.exported_text import (
    LONGEST_TITLE,
    ExportedSection,
    ExportedText,
    footnote_text,
    in_one_line,
    visible_text,
)
from rag_engine.text.excerpt import shortened
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types import Citation

# A4 and its margins, in millimetres.
_WIDTH, _HEIGHT, _MARGIN = 210, 297, 25
_LISTS = {"bullet": "List Bullet", "numbered": "List"}


def to_docx(text: ExportedText, made: datetime, words: Wording = ENGLISH) -> bytes:
    """Return the bytes of a .docx: title and questions as headings, answers and quotes with footnotes."""
    from docx import Document
    from docx.shared import Mm

    document = Document()
    page = document.sections[0]
    page.page_width, page.page_height = Mm(_WIDTH), Mm(_HEIGHT)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Mm(_MARGIN)
    _describe(document.core_properties, text.title, made)
    footnotes = DocxFootnotes(document)
    write_words(document.add_paragraph(style="Title"), in_one_line(text.title))
    for number, section in enumerate(text.sections, start=1):
        _add_section(document, section, _SectionMarks(footnotes, number, section, words))
    footnotes.close()
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


class _SectionMarks:
    """The marks of one section: each source that it cites has one footnote, however often it is cited."""

    def __init__(self, footnotes: DocxFootnotes, number: int, section: ExportedSection, words: Wording) -> None:
        self._footnotes, self._number = footnotes, number
        self._texts: Mapping[int, str] = {
            **_footnote_texts(section.quotes, words, quoted=False),
            **_footnote_texts(section.citations, words, quoted=True),
        }

    def write(self, paragraph: Any, runs: tuple[AnswerRun, ...], *, bold: bool = False) -> None:
        """Add runs to a paragraph; a mark without a citation stays as it is written."""
        for run, following in zip(runs, (*runs[1:], None), strict=True):
            footnote = self._cited(run)
            if footnote is not None:
                self._footnotes.cite(paragraph, (self._number, run.n), footnote)
            else:
                # A footnote's mark follows its word without a blank.
                text = run.text if self._cited(following) is None else run.text.rstrip()
                write_words(paragraph, text, bold=bold or run.bold)

    def _cited(self, run: AnswerRun | None) -> str | None:
        """Return the text of the footnote to which a run leads."""
        return self._texts.get(run.n) if run and run.n is not None else None


def _footnote_texts(citations: Iterable[Citation], words: Wording, *, quoted: bool) -> dict[int, str]:
    grouped: dict[int, list[Citation]] = {}
    for citation in citations:
        grouped.setdefault(citation.n, []).append(citation)
    return {n: footnote_text(cited, words, quoted=quoted) for n, cited in grouped.items()}


def _describe(properties: Any, title: str, made: datetime) -> None:
    properties.title = shortened(in_one_line(title), LONGEST_TITLE)
    properties.author = properties.last_modified_by = "Sextant"
    properties.comments = ""
    properties.created = properties.modified = made


def _add_section(document: Any, section: ExportedSection, marks: _SectionMarks) -> None:
    if section.heading:
        write_words(document.add_paragraph(style="Heading 1"), in_one_line(section.heading))
    if section.details:
        write_words(document.add_paragraph(), in_one_line(" · ".join(section.details)), italic=True)
    for line in answer_lines(visible_text(section.text)):
        if line.runs:
            _add_runs(document.add_paragraph(style=_style_of(line)), line, marks)
    if section.table:
        _add_table(document, section.table, marks)
    for quote in section.quotes:
        paragraph = document.add_paragraph(style="Quote")
        marks.write(paragraph, (AnswerRun(f"“{in_one_line(quote.quote)}”"), AnswerRun("", n=quote.n)))
    for written in filter(None, map(str.strip, visible_text(section.remark).splitlines())):
        write_words(document.add_paragraph(), written)
    for note in section.notes:
        write_words(document.add_paragraph(), in_one_line(note), italic=True)


def _style_of(line: AnswerLine) -> str:
    if line.kind == "heading":
        return "Heading 2"
    if line.kind == "text":
        return "Normal"
    return _LISTS[line.kind] + (f" {line.depth + 1}" if line.depth else "")


def _add_runs(paragraph: Any, line: AnswerLine, marks: _SectionMarks) -> None:
    if line.kind == "numbered":
        # As the answer numbers its items: Word would go on counting from the list before.
        paragraph.add_run(f"{line.number}.\t")
    marks.write(paragraph, line.runs)


def _add_table(document: Any, rows: tuple[tuple[str, ...], ...], marks: _SectionMarks) -> None:
    """Add a table whose first row is its header, and whose last column cites."""
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for number, row in enumerate(rows):
        cells = table.add_row().cells
        for cell, text in zip(cells[:-1], row[:-1], strict=True):
            write_words(cell.paragraphs[0], in_one_line(text), bold=number == 0)
        marks.write(cells[-1].paragraphs[0], answer_runs(in_one_line(row[-1])), bold=number == 0)
    # A paragraph keeps what follows apart from the table.
    document.add_paragraph()
