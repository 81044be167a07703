"""Parts of a PDF besides its print: attached files, fields, forms that no page shows (XFA)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pymupdf
from lxml import etree
from pymupdf import mupdf

from ingestion.extraction.assemble import DraftBlock, one_line, paragraph, unread_files
from ingestion.extraction.formats.zip_container import Element, parse_xml
from ingestion.extraction.layout.text_rows import PrintedLine
from ingestion.extraction.table_grid import around
from ingestion.types.outcome import Refusal
from rag_engine.messages import Message
from rag_engine.types.document import Box

_WRITTEN = (pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.PDF_WIDGET_TYPE_COMBOBOX)
_TICKED = (pymupdf.PDF_WIDGET_TYPE_CHECKBOX, pymupdf.PDF_WIDGET_TYPE_RADIOBUTTON)
_PASSWORD = 1 << 13
_REFERENCE = re.compile(r"(\d{1,9}) \d{1,5} R")
# A page that only asks the reader to wait, or to get another program, has less text in any language.
_SHELL = 2_000
_MOST_FIELDS = 1_000
_LARGEST_FORM = 50_000_000
_LONGEST_NAME = 200
# Points by which the box of a label may reach into its field.
_TOUCHING = 2.0
_UNSEEN = ("hidden", "invisible", "inactive")


XFA_FORM = Message(
    "It is an XFA form that its pages do not show; its labels and values were read without their places."
)


def pinned_files(page: pymupdf.Page) -> Iterator[str]:
    """Yield the names of the files that are pinned to a page."""
    for xref, kind, _ in page.annot_xrefs() if page.parent.is_pdf else ():
        if kind == pymupdf.PDF_ANNOT_FILE_ATTACHMENT:
            stated = (page.parent.xref_get_key(xref, f"FS/{key}") for key in ("UF", "F"))
            yield next((_shown(name) for of, name in stated if of == "string" and _shown(name)), "?")


def unread_attachments(document: pymupdf.Document, pinned: Sequence[str]) -> tuple[Message, ...]:
    """Return warnings that name the files in a PDF; a portfolio is nothing but a folder of such files."""
    if not document.is_pdf:
        return ()
    names = list(_embedded_files(document))
    is_portfolio = document.xref_get_key(document.pdf_catalog(), "Collection")[0] != "null"
    told = Message("It is a PDF portfolio: save the documents in it as files and add those.")
    return (*([told] if is_portfolio and names else []), *unread_files([*names, *pinned]))


def _embedded_files(document: pymupdf.Document) -> Iterator[str]:
    """Yield the names of the files embedded in a PDF: PyMuPDF lists only those of a tree without branches."""
    pdf = mupdf.pdf_document_from_fz_document(document.this)
    tree = mupdf.pdf_load_name_tree(pdf, mupdf.pdf_new_name("EmbeddedFiles"))
    for at in range(mupdf.pdf_dict_len(tree)):
        file, key = mupdf.pdf_dict_get_val(tree, at), mupdf.pdf_dict_get_key(tree, at)
        stated = (mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(file, kind)) for kind in ("UF", "F"))
        yield next(filter(None, map(_shown, (*stated, mupdf.pdf_to_name(key)))), "?")


def _shown(name: str) -> str:
    return one_line(name)[:_LONGEST_NAME]


def with_drawn_fields(page: pymupdf.Page) -> pymupdf.Page:
    """Return the page with the values of its fields, also of those that their program left to be drawn."""
    fields = list(islice(page.widgets(types=_WRITTEN), _MOST_FIELDS))
    words = page.get_text("words") if fields else []
    drawn = {(word[0] + word[2], word[1] + word[3]) for word in words}
    undrawn = [
        field.xref
        for field in fields
        if field.field_value
        and not field.field_flags & _PASSWORD
        and not any(_holds(field.rect, x / 2, y / 2) for x, y in drawn)
    ]
    for xref in undrawn:
        # MuPDF draws what has no drawing.
        page.parent.xref_set_key(xref, "AP", "null")
    return page.parent.reload_page(page) if undrawn else page


def _holds(box: pymupdf.Rect | Box, x: float, y: float) -> bool:
    return bool(box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form on its page; `mark` is "[x]" or "[ ]" for a box to tick, else empty."""

    box: Box
    mark: str = ""


def fields_of(page: pymupdf.Page, turn: pymupdf.Matrix | None) -> list[Field]:
    """Return the fields of a page that people write in or tick."""
    if page.first_widget is None:
        return []
    return [
        Field(
            Box(*(field.rect if turn is None else field.rect * turn)),
            "" if field.field_type in _WRITTEN else "[x]" if _is_ticked(field) else "[ ]",
        )
        for field in islice(page.widgets(types=(*_WRITTEN, *_TICKED)), _MOST_FIELDS)
    ]


def _is_ticked(field: pymupdf.Widget) -> bool:
    kind, state = field.parent.parent.xref_get_key(field.xref, "AS")
    # A value belongs to all the buttons of a choice.
    return bool(state != "/Off" if kind == "name" else field.field_value == field.on_state())


def beside_labels(lines: Sequence[PrintedLine], fields: Sequence[Field]) -> list[PrintedLine]:
    """Return the lines of a form with each value behind its label and each mark beside it.

    A page has all of these below its print.
    """
    if not fields:
        return list(lines)
    owned = [(line, _around(line, fields)) for line in lines]
    labels = [line for line, field in owned if field is None]
    filled = dict(enumerate(labels))
    rest: list[PrintedLine] = []
    for line, field in owned:
        if field is not None and not field.mark:
            at = _label_of(field.box, labels)
            if at is None:
                rest.append(line)
            else:
                filled[at] = _joined(filled[at], f"{filled[at].text} {line.text}", line.box)
    for field in fields:
        if field.mark and (at := _beside(field.box, labels)) is not None:
            leads = field.box.x0 < labels[at].box.x0
            text = filled[at].text
            filled[at] = _joined(filled[at], f"{field.mark} {text}" if leads else f"{text} {field.mark}", field.box)
    return [*filled.values(), *rest]


def _joined(label: PrintedLine, text: str, box: Box) -> PrintedLine:
    return replace(label, text=text, box=around((label.box, box)))


def _around(line: PrintedLine, fields: Sequence[Field]) -> Field | None:
    """Return the field that the middle of a line is in."""
    x, y = (line.box.x0 + line.box.x1) / 2, (line.box.y0 + line.box.y1) / 2
    return next((field for field in fields if _holds(field.box, x, y)), None)


def _label_of(field: Box, labels: Sequence[PrintedLine]) -> int | None:
    """Return the nearest label to the left of a field, else the one right above it."""
    left = (
        (field.x0 - label.box.x1, at)
        for at, label in enumerate(labels)
        if label.box.x1 < field.x0 + _TOUCHING and label.box.y0 < field.y1 and label.box.y1 > field.y0
    )
    above = (
        (field.y0 - label.box.y1, at)
        for at, label in enumerate(labels)
        if abs(field.y0 - label.box.y1) < label.size and label.box.x0 < field.x1 and label.box.x1 > field.x0
    )
    nearest = min(left, default=None) or min(above, default=None)
    return nearest[1] if nearest else None


def _beside(field: Box, labels: Sequence[PrintedLine]) -> int | None:
    """Return the label nearest to a field at its height, on either side."""
    gaps = (
        (max(field.x0 - label.box.x1, label.box.x0 - field.x1), at)
        for at, label in enumerate(labels)
        if label.box.y0 < (field.y0 + field.y1) / 2 < label.box.y1
    )
    nearest = min(gaps, default=None)
    return nearest[1] if nearest else None


def xfa_blocks(document: pymupdf.Document, path: Path) -> list[DraftBlock]:
    """Return the labels and values of an XFA form that no page shows; empty for any other PDF.

    Refusal "no_text" if there are no words in it.
    """
    packets = _packets(document) if document.is_pdf else None
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
    """Yield the labels of a form in order with their values, then the values without a label."""
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
