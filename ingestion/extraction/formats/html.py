"""HTML by lxml: what a reader came for, without the page's furniture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, takewhile
from pathlib import Path

from lxml import html

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.html_notes import MARK, NOTE, take_notes
from ingestion.extraction.formats.html_written import NUMBER, write_out
from ingestion.extraction.formats.zip_container import Element
from ingestion.extraction.formulas import formula
from ingestion.extraction.runs import AT_END, Look, Run, left_out, letters, note_mark, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.web.html import clean, clean_unseen, is_hidden, main_content, parse
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
_POINT = re.compile(r"\w{1,4}[.)]")
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
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
    inline_styles(root)
    return tree_blocks(root)


def tree_blocks(root: html.HtmlElement, *, of_site: bool = True) -> Draft:
    """Return the blocks and the title of a page, whose elements have the styles of its sheets.

    A page that is `of_site` has headers, footers and asides of the site; those of a book are its own.
    """
    notes = take_notes(root)
    write_out(root)
    if of_site:
        clean(root, hidden=False)
        content = main_content(root)
    else:
        clean_unseen(root)
        body = root.find(".//body")
        content = root if body is None else body
    blocks = list(_with_labels(_blocks(content, notes)))
    first = next((block.lines[0].text for block in blocks if block.kind == "heading"), "")
    declared = root.findtext(".//title") or ""
    # The page's title usually ends in the name of the site; the first heading inside it does not.
    return Draft(blocks, first if first and one_line(first) in one_line(declared) else declared)


def _with_labels(blocks: Iterable[DraftBlock]) -> Iterator[DraftBlock]:
    """Yield the blocks, each label that stands by itself in front of the paragraph that follows it."""
    label: DraftBlock | None = None
    for block in blocks:
        is_text = block.kind == "text" and bool(block.lines)
        is_label = is_text and _LABEL.fullmatch(one_line(block.lines[0].text)) is not None
        if label is not None and is_text and not is_label:
            words = f"{one_line(label.lines[0].text)} {block.lines[0].text}"
            before = letters(label.lines[0].text)
            out = (*label.left_out, *(run._replace(after=run.after + before) for run in block.left_out))
            yield replace(block, lines=(replace(block.lines[0], text=words),), left_out=out)
            label = None
            continue
        if label is not None:
            yield label
        label = block if is_label else None
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
        if any(run.text.strip() and not run.look & Look.NUMBER for run in inline):
            yield paragraph(inline)
            inline = []
        # The number of an item is before its first paragraph, or else by itself.
        inline = [run for run in inline if run.look & Look.NUMBER]
        if event is not None:
            yield from (paragraph(run.text) for run in inline)
            inline = []
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
        elif (whole := _as_whole(child, look)) is not None:
            yield from whole
            yield Run(child.tail or "", look)
        else:
            if _BREAK.fullmatch(child.tag):
                yield None
            open_elements.append((iter(child), child, look))
            look |= _look_of(child)
            yield from _begun(child, look)


def _as_whole(child: Element, look: Look) -> Iterable[Run | DraftBlock | Element | None] | None:
    """Return the runs and blocks of an element that is not looked into piece by piece, None for others."""
    if _HEADING.fullmatch(child.tag) or (child.tag == "table" and _is_data(child)):
        return chain((mark for mark in child.iter("a") if mark.get(NOTE)), _whole_blocks(child, look))
    if (written := _written(child)) is not None:
        return [Run(written.text, look | written.look), *([child] if child.get(NOTE) else [])]
    if child.tag == "pre":
        return _typed(child, look)
    return [Run(" ", look)] if child.tag == "br" and _goes_on(child) else None


def _typed(element: Element, look: Look) -> Iterator[Run | Element | None]:
    """Yield the runs of a text that is set as it was typed, whose blank lines part its paragraphs."""
    yield None
    yield from (mark for mark in element.iter("a") if mark.get(NOTE))
    for run in _runs(element, look):
        for number, piece in enumerate(_BLANK_LINES.split(run.text)):
            if number:
                yield None
            yield Run(piece, run.look)
    yield None


def _goes_on(line_break: Element) -> bool:
    """Return whether a sentence goes on behind a break: with a small letter that is no label."""
    text = (line_break.tail or "").lstrip()
    return text[:1].islower() and _POINT.match(text) is None


def _begun(element: Element, look: Look) -> Iterator[Run]:
    """Yield the runs with which an element begins: the number of an item, its first words."""
    if number := element.get(NUMBER):
        yield Run(f"{number} ", look | Look.NUMBER)
        yield Run((element.text or "").lstrip(), look)
    else:
        yield Run(element.text or "", look)


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
    look |= _look_of(element)
    if (caption := element.find("caption")) is not None:
        yield paragraph(_runs(caption, look))
    rows = sorted(_own_rows(element), key=_place)
    named = list(takewhile(_names_columns, rows))
    cells = [_cells(row, look) for row in rows]
    if not named and cells and all(_is_item(row) for row in cells):
        for row in cells:
            out = tuple(run._replace(after=AT_END) for cell in row for run in cell.left_out)
            yield replace(paragraph(" ".join(cell.text for cell in row)), left_out=out)
        return
    yield table_block(table_of(cells, len(named) or None))


def _is_data(table: Element) -> bool:
    """Return whether a table has rows and columns; one around others sets out a page, unless it has names."""
    if table.find(".//table") is None:
        return True
    return any(row.find("th") is not None for row in chain(table.iterfind("tr"), table.iterfind("*/tr")))


def _own_rows(table: Element) -> Iterator[Element]:
    """Yield the rows of a table without those of tables in it."""
    return (row for row in table.iter("tr") if next(row.iterancestors("table")) is table)


def _place(row: Element) -> int:
    """Return where a row is shown: its head is on top and its foot at the end, wherever they are written."""
    parent = row.getparent()
    return {"thead": 0, "tfoot": 2}.get("" if parent is None else str(parent.tag), 1)


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
    around = row.getparent()
    look |= _look_of(row) | (Look.PLAIN if around is None or around.tag == "table" else _look_of(around))
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
    bold = list(cell.iter("b", "strong"))
    whole = len(bold) == 1 and (text := _on_one_line(bold[0])) and text == _on_one_line(cell)
    return cell.tag == "th" or bool(whole)


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
            if ending:
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
        yield from _begun(child, look)
