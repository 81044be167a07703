"""HTML by lxml: what a reader came for, without the page's furniture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.zip_container import Element
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.web.html import clean, main_content, parse

_HEADING = re.compile("h[1-6]")
_SPAN = re.compile(r"\d{1,3}")
_BREAK = re.compile(
    "address|article|blockquote|body|br|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|"
    "header|hr|html|li|main|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)


def extract_html(path: Path) -> Draft:
    """Return the blocks of a page's main part and its title.

    Headers, menus, forms and scripts are left out.
    """
    return html_blocks(path.read_bytes())


def html_blocks(raw: bytes) -> Draft:
    """Return the blocks and the title of a page given as bytes."""
    root = parse(raw)
    if root is None:
        return Draft([])
    clean(root)
    blocks = list(_blocks(main_content(root)))
    first = next((block.lines[0].text for block in blocks if block.kind == "heading"), "")
    declared = root.findtext(".//title") or ""
    # The page's title usually ends in the name of the site; the first heading inside it does not.
    return Draft(blocks, first if first and one_line(first) in one_line(declared) else declared)


def _blocks(container: Element) -> Iterator[DraftBlock]:
    """Yield blocks in document order; inline text between two block elements is a paragraph by itself."""
    inline: list[str] = []
    for kind, value in _events(container):
        if kind == "text":
            assert isinstance(value, str)
            inline.append(value)
            continue
        if text := one_line("".join(inline)):
            yield paragraph(text)
        inline = []
        if isinstance(value, DraftBlock):
            yield value
    if text := one_line("".join(inline)):
        yield paragraph(text)


def _events(element: Element) -> Iterator[tuple[str, str | DraftBlock | None]]:
    """Yield the texts, breaks and blocks below an element; pages nest deeper than calls may."""
    if element.text:
        yield "text", element.text
    open_elements: list[tuple[Iterator[Element], Element | None]] = [(iter(element), None)]
    while open_elements:
        children, owner = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            if owner is not None and _BREAK.fullmatch(owner.tag):
                yield "break", None
            if owner is not None and owner.tail:
                yield "text", owner.tail
        elif _HEADING.fullmatch(child.tag) or (child.tag == "table" and child.find(".//table") is None):
            yield from (("block", block) for block in _whole_blocks(child))
            if child.tail:
                yield "text", child.tail
        else:
            if _BREAK.fullmatch(child.tag):
                yield "break", None
            if child.text:
                yield "text", child.text
            open_elements.append((iter(child), child))


def _whole_blocks(element: Element) -> Iterator[DraftBlock]:
    """Yield a heading, or the caption and the rows of a table."""
    if element.tag != "table":
        yield paragraph(_on_one_line(element), kind="heading")
        return
    if (caption := element.find("caption")) is not None:
        yield paragraph(_on_one_line(caption))
    rows = list(element.iter("tr"))
    named = list(takewhile(_names_columns, rows))
    yield table_block(table_of(map(_cells, rows), len(named) or None))


def _names_columns(row: Element) -> bool:
    """Return whether a row of a table is in its head or has only head cells."""
    parent = row.getparent()
    return row.find("td") is None or (parent is not None and parent.tag == "thead")


def _cells(row: Element) -> list[GridCell]:
    return [
        GridCell(_on_one_line(cell), _span(cell, "colspan"), _span(cell, "rowspan"), bold=_is_bold(cell))
        for cell in row
        if cell.tag in ("td", "th")
    ]


def _span(cell: Element, name: str) -> int:
    found = _SPAN.match(cell.get(name) or "")
    return max(1, int(found[0])) if found else 1


def _is_bold(cell: Element) -> bool:
    """Return whether the whole of a cell is bold."""
    text = _on_one_line(cell)
    bold = list(cell.iter("b", "strong"))
    return cell.tag == "th" or (bool(text) and len(bold) == 1 and _on_one_line(bold[0]) == text)


def _on_one_line(element: Element) -> str:
    """Return the element's words, with a space where a line or a paragraph ends."""
    return one_line("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    open_elements: list[tuple[Iterator[Element], str]] = [(iter(element), "")]
    while open_elements:
        children, ending = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            yield ending
            continue
        gap = " " if _BREAK.fullmatch(child.tag) or _HEADING.fullmatch(child.tag) else ""
        yield gap + (child.text or "")
        open_elements.append((iter(child), gap + (child.tail or "")))
