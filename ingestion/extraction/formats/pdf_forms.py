"""Parts of a PDF besides its pages: attached files, undrawn fields, and forms that no page shows (XFA)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymupdf
from lxml import etree

from ingestion.extraction.assemble import DraftBlock, one_line, paragraph, unread_files
from ingestion.extraction.formats.zip_container import Element, parse_xml
from ingestion.types.outcome import Refusal
from rag_engine.messages import Message

_WRITTEN = (pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.PDF_WIDGET_TYPE_COMBOBOX, pymupdf.PDF_WIDGET_TYPE_LISTBOX)
_PASSWORD = 1 << 13
_REFERENCE = re.compile(r"(\d{1,9}) \d{1,5} R")
# A page that only asks the reader to wait, or to get another program, has less text in any language.
_SHELL = 2_000
_LARGEST_FORM = 50_000_000
_LONGEST_NAME = 200
_UNSEEN = ("hidden", "invisible", "inactive")


XFA_FORM = Message(
    "It is an XFA form that its pages do not show; its labels and values were read without their places."
)


def pinned_files(page: pymupdf.Page) -> Iterator[str]:
    """Yield the names of the files that are pinned to a page."""
    for xref, kind, _ in page.annot_xrefs():
        if kind == pymupdf.PDF_ANNOT_FILE_ATTACHMENT:
            yield _shown(page.load_annot(xref).file_info.get("filename", ""))


def unread_attachments(document: pymupdf.Document, pinned: Sequence[str]) -> tuple[Message, ...]:
    """Return warnings that name the files in a PDF; a portfolio is nothing but a folder of such files."""
    names = [_shown(document.embfile_info(name).get("ufilename") or name) for name in document.embfile_names()]
    is_portfolio = document.xref_get_key(document.pdf_catalog(), "Collection")[0] != "null"
    told = Message("It is a PDF portfolio: save the documents in it as files and add those.")
    return (*([told] if is_portfolio and names else []), *unread_files([*names, *pinned]))


def _shown(name: str) -> str:
    return one_line(name)[:_LONGEST_NAME] or "?"


def with_drawn_fields(page: pymupdf.Page) -> pymupdf.Page:
    """Return the page with the values of its fields, also of those that their program left to be drawn."""
    content = page.get_textpage()
    undrawn = [
        field.xref
        for field in page.widgets(types=_WRITTEN)
        if field.field_value
        and not field.field_flags & _PASSWORD
        and not page.get_textbox(field.rect, textpage=content).strip()
    ]
    for xref in undrawn:
        # MuPDF draws what has no drawing.
        page.parent.xref_set_key(xref, "AP", "null")
    return page.parent.reload_page(page) if undrawn else page


def xfa_blocks(document: pymupdf.Document, path: Path) -> list[DraftBlock]:
    """Return the labels and values of a form that its pages do not show; none if they do, or there is none.

    Refusal "no_text" if there are no words in it.
    """
    packets = _packets(document)
    if not packets or not _is_shell(document):
        return []
    root = parse_xml(packets)
    labelled = [] if root is None else list(_form_lines(root))
    if not labelled:
        raise Refusal(
            "no_text",
            "{file} is an XFA form, whose pages only its own program draws.",
            help="Open it in Adobe Acrobat or Reader, print it there to a PDF, and add that.",
            file=path.name,
        )
    return [paragraph(line) for line in labelled]


def _packets(document: pymupdf.Document) -> bytes:
    kind, value = document.xref_get_key(document.pdf_catalog(), "AcroForm/XFA")
    if kind not in ("xref", "array"):
        return b""
    content = b""
    for number in map(int, _REFERENCE.findall(value)):
        if 0 < number < document.xref_length() and len(content) < _LARGEST_FORM:
            content += document.xref_stream(number) or b""
    return content


def _is_shell(document: pymupdf.Document) -> bool:
    if document.page_count > 1:
        return False
    page = document[0]
    return page.first_widget is None and len(page.get_text()) < _SHELL


def _form_lines(root: Element) -> Iterator[str]:
    """Yield the labels of a form in order, each with the value that is filled in, then the values without a label."""
    values = _filled_in(root)
    for element in _named(root, "template").iter("{*}draw", "{*}field"):
        if any(one.get("presence") in _UNSEEN for one in (element, *element.iterancestors())):
            continue
        label = _words(element.find("{*}caption/{*}value")).rstrip(": ")
        given = values.pop(element.get("name", ""), None) if element.tag.endswith("}field") else None
        value = ", ".join(given) if given else _words(element.find("{*}value"))
        if line := ": ".join(filter(None, (label, value))):
            yield line
    for name, given in values.items():
        yield f"{name}: {', '.join(given)}"


def _filled_in(root: Element) -> dict[str, list[str]]:
    """Return the values of a form by the names of their fields."""
    values: dict[str, list[str]] = {}
    for element in _named(root, "data").iter("{*}*"):
        if not len(element) and (value := _words(element)):
            values.setdefault(etree.QName(element).localname, []).append(value)
    return values


def _named(root: Element, name: str) -> Element:
    """Return the first element of a name in any namespace, an empty one without it."""
    found = next(root.iter(f"{{*}}{name}"), None)
    return etree.Element(name) if found is None else found


def _words(element: Element | None) -> str:
    return "" if element is None else one_line(" ".join(map(str, element.itertext())))
