"""Footnotes of a Word document: the part that holds them, their styles, and the marks in the text.

python-docx has none. Their parts are those of ECMA-376 part 1, 17.11.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from rag_engine.takeaway.docx_words import write_words

_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
# Word draws these two above the notes of a page; the settings name them too.
_SEPARATORS = {-1: "separator", 0: "continuationSeparator"}
_TEXT, _REFERENCE = "FootnoteText", "FootnoteReference"
# Half points.
_SIZE = "18"


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
        """Add a mark to a paragraph: of a new footnote, or of the one that the key has already."""
        if number := self._numbers.get(key):
            _refer(paragraph, number)
            return
        number = self._numbers[key] = len(self._numbers) + 1
        # A bookmark around the mark is what later marks of the same note refer to.
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
