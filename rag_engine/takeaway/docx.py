"""An exported text as a Word document with footnotes, by python-docx."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Any

from rag_engine.takeaway import exported_text
from rag_engine.text.excerpt import shortened
from rag_engine.text.wording import ENGLISH, Wording

# A4 and its margins, in millimetres.
_WIDTH, _HEIGHT, _MARGIN = 210, 297, 25
_LISTS = {"bullet": "List Bullet", "numbered": "List"}

_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
# Word draws these two above the notes of a page; the settings name them too.
_SEPARATORS = {-1: "separator", 0: "continuationSeparator"}
_TEXT, _REFERENCE = "FootnoteText", "FootnoteReference"
# Half points.
_SIZE = "18"

# What follows the reading direction in a paragraph's properties (CT_PPrBase, ECMA-376 part 1, A.1).
_AFTER_DIRECTION = ("w:adjustRightInd", "w:snapToGrid", "w:spacing", "w:ind", "w:contextualSpacing", "w:jc", "w:rPr")


def to_docx(text: exported_text.ExportedText, made: datetime, words: Wording = ENGLISH) -> bytes:
    """Return the bytes of a .docx: title and questions as headings, answers and quotes with footnotes."""
    from docx import Document
    from docx.shared import Mm

    document = Document()
    page = document.sections[0]
    page.page_width, page.page_height = Mm(_WIDTH), Mm(_HEIGHT)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Mm(_MARGIN)
    properties = document.core_properties
    properties.title = shortened(exported_text.in_one_line(text.title), exported_text.LONGEST_TITLE)
    properties.author = properties.last_modified_by = "Sextant"
    properties.comments = ""
    properties.created = properties.modified = made
    footnotes = DocxFootnotes(document)
    write_words(document.add_paragraph(style="Title"), exported_text.in_one_line(text.title))
    for number, section in enumerate(text.sections, start=1):
        _add_section(document, section, _SectionMarks(footnotes, number, section, words))
    footnotes.close()
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


class _SectionMarks:
    """The marks of one section: each source that it cites has one footnote, however often it is cited."""

    def __init__(
        self, footnotes: DocxFootnotes, number: int, section: exported_text.ExportedSection, words: Wording
    ) -> None:
        self._footnotes, self._number = footnotes, number
        self._texts = exported_text.footnote_texts(section, words)

    def write(self, paragraph: Any, runs: tuple[exported_text.AnswerRun, ...], *, bold: bool = False) -> None:
        """Add runs to a paragraph; a mark without a citation stays as text."""
        # An empty cell has no runs.
        for run, following in zip(runs, (*runs[1:], None), strict=False):
            footnote = self._cited(run)
            if footnote is not None:
                self._footnotes.cite(paragraph, (self._number, run.n), footnote)
            else:
                # A footnote's mark follows its word without a blank.
                text = run.text if self._cited(following) is None else run.text.rstrip()
                write_words(paragraph, text, bold=bold or run.bold)

    def _cited(self, run: exported_text.AnswerRun | None) -> str | None:
        """Return the text of the footnote to which a run leads."""
        return self._texts.get(run.n) if run and run.n is not None else None


def _add_section(document: Any, section: exported_text.ExportedSection, marks: _SectionMarks) -> None:
    if section.heading:
        write_words(document.add_paragraph(style="Heading 1"), exported_text.in_one_line(section.heading))
    if section.details:
        write_words(document.add_paragraph(), exported_text.in_one_line(" · ".join(section.details)), italic=True)
    for line in exported_text.answer_lines(exported_text.visible_text(section.text)):
        if line.cells:
            _add_table(document, line.cells, marks)
        elif line.runs:
            _add_runs(document.add_paragraph(style=_style_of(line)), line, marks)
    if section.table:
        _add_table(document, [_form_row(list(map(exported_text.in_one_line, row))) for row in section.table], marks)
    for quote in section.quotes:
        paragraph = document.add_paragraph(style="Quote")
        marks.write(
            paragraph,
            (
                exported_text.AnswerRun(f"“{exported_text.in_one_line(quote.quote)}”"),
                exported_text.AnswerRun("", n=quote.n),
            ),
        )
    for written in filter(None, map(str.strip, exported_text.visible_text(section.remark).splitlines())):
        write_words(document.add_paragraph(), written)
    for note in section.notes:
        write_words(document.add_paragraph(), exported_text.in_one_line(note), italic=True)


def _style_of(line: exported_text.AnswerLine) -> str:
    if line.kind == "heading":
        return "Heading 2"
    if line.kind == "text":
        return "Normal"
    return _LISTS[line.kind] + (f" {line.depth + 1}" if line.depth else "")


def _add_runs(paragraph: Any, line: exported_text.AnswerLine, marks: _SectionMarks) -> None:
    if line.kind == "numbered":
        # As the answer numbers its items: Word would go on counting from the list before.
        paragraph.add_run(f"{line.number}.\t")
    marks.write(paragraph, line.runs)


def _form_row(row: Sequence[str]) -> list[tuple[exported_text.AnswerRun, ...]]:
    """Return a row of a form, whose last column cites."""
    return [*((exported_text.AnswerRun(cell),) for cell in row[:-1]), exported_text.answer_runs(row[-1])]


def _add_table(
    document: Any, rows: Sequence[Sequence[tuple[exported_text.AnswerRun, ...]]], marks: _SectionMarks
) -> None:
    """Add a table whose first row is its header."""
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for number, row in enumerate(rows):
        for cell, runs in zip(table.add_row().cells, row, strict=True):
            marks.write(cell.paragraphs[0], runs, bold=number == 0)
    # A paragraph separates the next content from the table.
    document.add_paragraph()


class DocxFootnotes:
    """The footnotes of one document of python-docx, numbered from 1 in the order of their first mark."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._root = _element("footnotes")
        self._numbers: dict[Hashable, int] = {}
        for id, kind in _SEPARATORS.items():
            note = _element("footnote", type=kind, id=id)
            note.append(_within("p", _within("r", _element(kind))))
            self._root.append(note)
        _add_styles(document)

    def cite(self, paragraph: Any, key: Hashable, text: str) -> None:
        """Add a mark to a paragraph: of a new footnote, or of the key's existing one."""
        if number := self._numbers.get(key):
            _refer(paragraph, number)
            return
        number = self._numbers[key] = len(self._numbers) + 1
        # Later marks of the same note refer to a bookmark around the mark.
        bookmark = paragraph._p  # noqa: SLF001 python-docx names its elements so
        bookmark.append(_element("bookmarkStart", id=number, name=_bookmark(number)))
        _mark(paragraph, _element("footnoteReference", id=number))
        bookmark.append(_element("bookmarkEnd", id=number))
        self._root.append(_note(number, text))

    def close(self) -> None:
        """Put the part into the document's package and name the separators in its settings."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.opc.oxml import serialize_part_xml
        from docx.opc.packuri import PackURI
        from docx.opc.part import Part

        package = self._document.part.package
        part = Part(PackURI("/word/footnotes.xml"), _CONTENT_TYPE, serialize_part_xml(self._root), package)
        self._document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        properties = _element("footnotePr")
        for id in _SEPARATORS:
            properties.append(_element("footnote", id=id))
        settings = self._document.settings.element
        settings.find(f"{{{_NAMESPACE}}}compat").addprevious(properties)


def _note(number: int, text: str) -> Any:
    """Return a footnote: its own number, a blank and its text."""
    from docx.text.paragraph import Paragraph

    paragraph = _within("p", _within("pPr", _element("pStyle", val=_TEXT)))
    note = _element("footnote", id=number)
    note.append(paragraph)
    wrapped = Paragraph(paragraph, None)
    _mark(wrapped, _element("footnoteRef"))
    write_words(wrapped, f" {text}")
    return note


def _refer(paragraph: Any, number: int) -> None:
    """Add a field that repeats the mark of a footnote and leads to it; Word updates its number."""
    _mark(paragraph, _element("fldChar", fldCharType="begin"))
    instruction = _element("instrText")
    instruction.text = f" NOTEREF {_bookmark(number)} \\f \\h "
    instruction.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    _mark(paragraph, instruction)
    _mark(paragraph, _element("fldChar", fldCharType="separate"))
    shown = _element("t")
    shown.text = str(number)
    _mark(paragraph, shown)
    _mark(paragraph, _element("fldChar", fldCharType="end"))


def _mark(paragraph: Any, element: Any) -> None:
    properties = _within("rPr", _element("rStyle", val=_REFERENCE))
    # Some readers do not look into the style.
    properties.append(_element("vertAlign", val="superscript"))
    run = paragraph.add_run()
    run._r.append(properties)  # noqa: SLF001
    run._r.append(element)  # noqa: SLF001


def _bookmark(number: int) -> str:
    # Names that begin with an underscore are hidden from Word's list of bookmarks.
    return f"_Ref{number:09}"


def _add_styles(document: Any) -> None:
    from docx.enum.style import WD_STYLE_TYPE

    text = document.styles.add_style("footnote text", WD_STYLE_TYPE.PARAGRAPH, builtin=True)
    text.element.set(f"{{{_NAMESPACE}}}styleId", _TEXT)
    text.base_style = document.styles["Normal"]
    text.paragraph_format.space_after = 0
    text.element.get_or_add_rPr().append(_element("sz", val=_SIZE))
    reference = document.styles.add_style("footnote reference", WD_STYLE_TYPE.CHARACTER, builtin=True)
    reference.element.set(f"{{{_NAMESPACE}}}styleId", _REFERENCE)
    reference.font.superscript = True


def _within(tag: str, child: Any) -> Any:
    element = _element(tag)
    element.append(child)
    return element


def _element(tag: str, **attributes: str | int) -> Any:
    from docx.oxml import OxmlElement

    element = OxmlElement(f"w:{tag}")
    for name, value in attributes.items():
        element.set(f"{{{_NAMESPACE}}}{name}", str(value))
    return element


def write_words(paragraph: Any, text: str, *, bold: bool = False, italic: bool = False) -> None:
    """Add words to a paragraph; words that begin in a right-to-left script are set so."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    begun = bool(paragraph.text.strip())
    run = paragraph.add_run(exported_text.visible_text(text))
    run.bold, run.italic = bold or None, italic or None
    # The first letter says which way the script runs.
    directions = (unicodedata.bidirectional(sign) for sign in text)
    if next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L":
        run.font.rtl = True
        properties = paragraph._p.get_or_add_pPr()  # noqa: SLF001 python-docx names its elements so
        if not begun and properties.find(qn("w:bidi")) is None:
            properties.insert_element_before(OxmlElement("w:bidi"), *_AFTER_DIRECTION)
