"""HTML by lxml: what a reader came for, without the page's furniture."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.html_notes import MARK, NOTE, take_notes
from ingestion.extraction.formats.html_written import write_out
from ingestion.extraction.formats.zip_container import Element
from ingestion.extraction.formulas import formula
from ingestion.extraction.runs import Look, Run, left_out, note_mark, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.web.html import clean, is_hidden, main_content, parse
from ingestion.web.styles import inline_styles

_HEADING = re.compile("h[1-6]")
_LINE_THROUGH = re.compile(r"text-decoration[a-z-]{0,5}\s{0,4}:[^;]{0,99}line-through", re.IGNORECASE)
_SHIFTED = re.compile(r"vertical-align\s{0,4}:\s{0,4}([a-z]+)", re.IGNORECASE)
_SHIFTS = Look.RAISED | Look.LOWERED
_LOOKS = {"del": Look.STRUCK, "s": Look.STRUCK, "strike": Look.STRUCK, "sup": Look.RAISED, "sub": Look.LOWERED}
# The number of a paragraph or the letter of a point, where it is set in a place of its own.
_LABEL = re.compile(
    r"\(?(?:\d{1,3}[a-z]?|[a-z]{1,2}|[A-Z]|[ivxlc]{1,6})[.)]|\d{1,3}(?:\.\d{1,3})+\.?|[–—•‣▪-]|§{1,2}\s?\d{1,4}[a-z]?\.?"
)
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


def html_blocks(raw: bytes, prepare: Callable[[Element], None] = lambda _: None) -> Draft:
    """Return the blocks and the title of a page given as bytes; `prepare` may change its tree before."""
    root = parse(raw)
    if root is None:
        return Draft([])
    prepare(root)
    inline_styles(root)
    notes = take_notes(root)
    write_out(root)
    clean(root, hidden=False)
    blocks = list(_with_labels(_blocks(main_content(root), notes)))
    first = next((block.lines[0].text for block in blocks if block.kind == "heading"), "")
    declared = root.findtext(".//title") or ""
    # The page's title usually ends in the name of the site; the first heading inside it does not.
    return Draft(blocks, first if first and one_line(first) in one_line(declared) else declared)


def _with_labels(blocks: Iterable[DraftBlock]) -> Iterator[DraftBlock]:
    """Yield the blocks, each label that stands by itself in front of the paragraph that follows it."""
    label: DraftBlock | None = None
    for block in blocks:
        is_text = block.kind == "text" and bool(block.lines)
        if label is not None and is_text:
            words = f"{one_line(label.lines[0].text)} {block.lines[0].text}"
            out = (*label.left_out, *block.left_out)
            yield replace(block, lines=(replace(block.lines[0], text=words),), left_out=out)
            label = None
            continue
        if label is not None:
            yield label
        label = block if is_text and _LABEL.fullmatch(one_line(block.lines[0].text)) else None
        if label is None:
            yield block
    if label is not None:
        yield label


def _blocks(container: Element, notes: Mapping[str, Element]) -> Iterator[DraftBlock]:
    """Yield blocks in document order; inline text between two block elements is a paragraph by itself.

    A note follows the block with its mark.
    """
    inline: list[Run] = []
    marked: list[Element] = []
    for event in [*_events(container), None]:
        if isinstance(event, Run):
            inline.append(event)
            continue
        if event is not None and not isinstance(event, DraftBlock):
            marked.append(event)
            continue
        if any(run.text.strip() for run in inline):
            yield paragraph(inline)
        inline = []
        if event is not None:
            yield event
        for mark in marked:
            body = _runs(notes[mark.get(NOTE, "")])
            yield paragraph([note_mark(mark.get(MARK, "")), Run(" "), *body], kind="note")
        marked = []


def _events(element: Element) -> Iterator[Run | DraftBlock | Element | None]:
    """Yield the runs and blocks below an element, and None for a break.

    The first mark of each note comes behind its run. Pages nest deeper than calls may.
    """
    look = Look.PLAIN
    yield Run(element.text or "")
    open_elements: list[tuple[Iterator[Element], Element | None, Look]] = [(iter(element), None, look)]
    while open_elements:
        children, owner, around = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            if owner is not None:
                if _BREAK.fullmatch(owner.tag):
                    yield None
                look = around
                yield Run(owner.tail or "", look)
        elif _HEADING.fullmatch(child.tag) or (child.tag == "table" and child.find(".//table") is None):
            yield from (mark for mark in child.iter("a") if mark.get(NOTE))
            yield from _whole_blocks(child, look)
            yield Run(child.tail or "", look)
        elif (written := _written(child)) is not None:
            yield Run(written.text, look | written.look)
            if child.get(NOTE):
                yield child
            yield Run(child.tail or "", look)
        else:
            if _BREAK.fullmatch(child.tag):
                yield None
            open_elements.append((iter(child), child, look))
            look |= _look_of(child)
            yield Run(child.text or "", look)


def _written(element: Element) -> Run | None:
    """Return the run of an element that is one as a whole: a formula, or the mark of a note."""
    if element.tag == "math":
        return Run(f" {formula(element)} ")
    mark = element.get(MARK)
    return note_mark(mark) if mark else None


def _look_of(element: Element) -> Look:
    """Return the look that an element gives to its words, by its name or by its style."""
    look = _LOOKS.get(element.tag, Look.PLAIN)
    if is_hidden(element):
        look |= Look.HIDDEN
    if style := element.get("style"):
        style = style[:500]
        look |= Look.STRUCK if _LINE_THROUGH.search(style) else Look.PLAIN
        if found := _SHIFTED.search(style):
            look = look & ~_SHIFTS | {"super": Look.RAISED, "sub": Look.LOWERED}.get(found[1].lower(), Look.PLAIN)
    return look


def _whole_blocks(element: Element, look: Look) -> Iterator[DraftBlock]:
    """Yield a heading, or the caption and the rows of a table.

    The rows of a table that sets out a list are its items.
    """
    if element.tag != "table":
        yield paragraph(_runs(element, look), kind="heading")
        return
    if (caption := element.find("caption")) is not None:
        yield paragraph(_runs(caption, look))
    rows = list(element.iter("tr"))
    named = list(takewhile(_names_columns, rows))
    cells = [_cells(row, look) for row in rows]
    if not named and cells and all(_is_item(row) for row in cells):
        for row in cells:
            out = tuple(run for cell in row for run in cell.left_out)
            yield replace(paragraph(" ".join(cell.text for cell in row)), left_out=out)
        return
    yield table_block(table_of(cells, len(named) or None))


def _is_item(row: Sequence[GridCell]) -> bool:
    """Return whether a row of a table is an item of a list: its label, and a cell with its text."""
    texts = [cell.text for cell in row if cell.text]
    return len(texts) == 2 and _LABEL.fullmatch(texts[0]) is not None and len(texts[1].split()) > 1


def _names_columns(row: Element) -> bool:
    """Return whether a row of a table is in its head or has only head cells."""
    parent = row.getparent()
    return row.find("td") is None or (parent is not None and parent.tag == "thead")


def _cells(row: Element, look: Look) -> list[GridCell]:
    made = []
    look |= _look_of(row)
    for cell in row:
        if cell.tag in ("td", "th"):
            runs = list(_runs(cell, look))
            spans = _span(cell, "colspan"), _span(cell, "rowspan")
            made.append(GridCell(one_line(standing(runs)), *spans, bold=_is_bold(cell), left_out=left_out(runs)))
    return made


def _span(cell: Element, name: str) -> int:
    found = _SPAN.match(cell.get(name) or "")
    return max(1, int(found[0])) if found else 1


def _is_bold(cell: Element) -> bool:
    """Return whether the whole of a cell is bold."""
    text = _on_one_line(cell)
    bold = list(cell.iter("b", "strong"))
    return cell.tag == "th" or (bool(text) and len(bold) == 1 and _on_one_line(bold[0]) == text)


def _on_one_line(element: Element) -> str:
    """Return the element's words that stand, with a space where a line or a paragraph ends."""
    return one_line(standing(_runs(element)))


def _runs(element: Element, around: Look = Look.PLAIN) -> Iterator[Run]:
    """Yield the runs of an element, whose look adds to that of the elements around it."""
    look = around | _look_of(element)
    yield Run(element.text or "", look)
    open_elements: list[tuple[Iterator[Element], str, Look]] = [(iter(element), "", look)]
    while open_elements:
        children, ending, around = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            look = around
            yield Run(ending, look)
            continue
        if (written := _written(child)) is not None:
            yield Run(written.text, look | written.look)
            yield Run(child.tail or "", look)
            continue
        gap = " " if _BREAK.fullmatch(child.tag) or _HEADING.fullmatch(child.tag) else ""
        open_elements.append((iter(child), gap + (child.tail or ""), look))
        look |= _look_of(child)
        if gap:
            yield Run(gap)
        yield Run(child.text or "", look)
