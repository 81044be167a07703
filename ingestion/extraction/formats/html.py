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
    """Return the blocks of a page's main part and its title; headers, menus, forms and scripts are left out."""
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
    """Yield blocks in document order; inline text between two block elements is a paragraph of its own."""
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
    if element.text:
        yield "text", element.text
    for child in element:
        tag = child.tag
        if _HEADING.fullmatch(tag):
            yield "block", paragraph(_on_one_line(child), kind="heading")
        elif tag == "table" and child.find(".//table") is None:
            if (caption := child.find("caption")) is not None:
                yield "block", paragraph(_on_one_line(caption))
            rows = list(child.iter("tr"))
            named = list(takewhile(_names_columns, rows))
            yield "block", table_block(table_of(map(_cells, rows), len(named) or None))
        else:
            breaks = _BREAK.fullmatch(tag)
            if breaks:
                yield "break", None
            yield from _events(child)
            if breaks:
                yield "break", None
        if child.tail:
            yield "text", child.tail


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
    """Return the element's words, a space where a line or a paragraph ends and none where only the type changes."""
    return one_line("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        gap = " " if _BREAK.fullmatch(child.tag) or _HEADING.fullmatch(child.tag) else ""
        yield gap
        yield from _pieces(child)
        yield gap + (child.tail or "")
