"""DOCX, read from its XML: paragraphs, tables and notes, with the numbers that Word counts itself.

Of "Article 3", "(b)" or "2.1." nothing is in the text of a document: Word counts while it shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph, unread_comments
from ingestion.extraction.formats.pictures.package_pictures import Finder, drawings_in
from ingestion.extraction.formats.word.changes import accept_changes, drop_instructions
from ingestion.extraction.formats.word.markup import FALLBACK, HIDDEN, MC, NUMBER, W, is_on, value_of
from ingestion.extraction.formats.word.numbers import WRITERS, write_numbers
from ingestion.extraction.formats.zip_container import Element, Package, open_package, parts_outside, whole_number
from ingestion.extraction.formulas import formula
from ingestion.extraction.runs import PLAIN, Look, Run, left_out, note_mark, standing
from ingestion.extraction.symbols import in_unicode
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits
from rag_engine.messages import Message

_HEADING_STYLE = re.compile(r"(heading|überschrift|titre|título|titolo|başlık|title|subtitle)\s*\d*$", re.IGNORECASE)
# A text box is stored twice, for new and old programs; deleted and moved text and field codes are not on the page.
# Text boxes stand behind the paragraph that they are fixed to.
_BOX = f"{W}txbxContent"
_SKIPPED = {FALLBACK, f"{W}del", f"{W}moveFrom", f"{W}instrText", _BOX}
_CONTAINERS = {
    *(f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")),
    f"{MC}AlternateContent",
    f"{MC}Choice",
}
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# An attribute of ours: the mark of a note at its reference.
_MARK = "mark"
_EQUATION = re.compile(rb'ProgID="[^"]{0,40}(?:Equation|Math)')
# Properties of a run, kept as attributes of ours with the name of the look, and the elements of Word that set them.
_PROPERTIES = {
    "struck": (f"{W}strike", f"{W}dstrike"),
    HIDDEN: (f"{W}vanish",),
    "shift": (f"{W}vertAlign", f"{W}position"),
}
_LOOKS = (*_PROPERTIES, NUMBER)
_P, _R, _T, _FONTS = f"{W}p", f"{W}r", f"{W}t", f"{W}rPr/{W}rFonts"
_SHIFTS = {"superscript": Look.RAISED, "subscript": Look.LOWERED}
# Half points by which a raised run is moved at least.
_LEAST_MOVE = 4
# Styles that are based on each other.
_DEEPEST = 9
# The names of looks, by property and style.
Styles = dict[str, dict[str, str]]
# Word makes no table of more.
_MOST_COLUMNS = 63


def extract_docx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of a DOCX, with the numbers that Word counts itself, and its declared title.

    Headers come first and footers last, each once; a note follows the paragraph with its mark.
    """
    with open_package(path, limits) as package:
        styles, numbering = package.find("word/styles.xml"), package.find("word/numbering.xml")
        headings, looks = {} if styles is None else _heading_styles(styles), _looks(styles)
        main = _main_part(package)
        body = package.xml(main).find(f"{W}body")
        content: list[DraftBlock] = []
        if body is not None:
            _prepare(body, looks)
            if numbering is not None:
                write_numbers(body, numbering, styles)
            content = list(_blocks(body, headings, _notes(package, body, looks), drawings_in(package, main)))
        headers, footers = (_edge(package, kind, looks) for kind in ("header", "footer"))
        core = package.find("docProps/core.xml")
        title = core.findtext("{http://purl.org/dc/elements/1.1/}title") if core is not None else ""
        comments = package.count(r"word/comments\.xml", f"{W}comment")
    unread = sum(1 for _ in body.iter(f"{W}altChunk")) if body is not None else 0
    told = Message("Parts in the format of another program, which were not read: {count}.", count=unread)
    warnings = (*(told for _ in range(bool(unread))), *unread_comments(comments))
    return Draft([*headers, *content, *footers], title or "", warnings=warnings)


def _prepare(part: Element, looks: Styles) -> None:
    """Leave in a part what is on its pages, and write to its runs how they look."""
    accept_changes(part)
    drop_instructions(part)
    _mark_runs(part, looks)


def _notes(package: Package, body: Element, looks: Styles) -> dict[tuple[str, str], DraftBlock]:
    """Return the notes by the kind and number of their references, to which their marks are written."""
    settings = package.find("word/settings.xml")
    notes: dict[tuple[str, str], DraftBlock] = {}
    for kind, usual in (("footnote", "decimal"), ("endnote", "lowerRoman")):
        part = package.find(f"word/{kind}s.xml")
        if part is None:
            continue
        _prepare(part, looks)
        written = {note.get(f"{W}id", ""): note for note in part}
        for reference, mark in _marks(body, kind, settings, usual):
            note = written.get(reference.get(f"{W}id", ""))
            if note is None:
                continue
            runs = list(_runs(note))
            # A mark of its own is in the text beside the reference, and begins the note.
            if mark:
                reference.set(_MARK, mark)
                runs = [note_mark(mark), Run(" "), *runs]
            notes[kind, reference.get(f"{W}id", "")] = paragraph(runs, kind="note")
    return notes


def _marks(body: Element, kind: str, settings: Element | None, usual: str) -> Iterator[tuple[Element, str]]:
    """Yield the references to notes of a kind with their marks, "" where a mark is typed.

    Notes are counted as the first section says that says it, else the settings.
    """
    stated = [*body.iterfind(f".//{W}sectPr/{W}{kind}Pr"), *(() if settings is None else settings.iter(f"{W}{kind}Pr"))]

    def setting(name: str) -> str:
        return next(filter(None, (value_of(one, name) for one in stated)), "")

    write = WRITERS.get(setting("numFmt") or usual, str)
    first, each_section = whole_number(setting("numStart"), 1), setting("numRestart") == "eachSect"
    number, ended = first, False
    for element in body.iter(f"{W}p", f"{W}{kind}Reference"):
        if element.tag == f"{W}p":
            number = first if ended and each_section else number
            ended = element.find(f"{W}pPr/{W}sectPr") is not None
        elif next(element.iterancestors(*_SKIPPED), None) is None:
            typed = element.get(f"{W}customMarkFollows") in ("1", "true", "on")
            yield element, "" if typed else write(number)
            number += not typed


def _main_part(package: Package) -> str:
    for override in package.xml("[Content_Types].xml"):
        kind = override.get("ContentType", "")
        if kind.endswith("main+xml") and ("wordprocessingml" in kind or "ms-word" in kind):
            return override.get("PartName", "").lstrip("/")
    return "word/document.xml"


def _heading_styles(styles: Element) -> dict[str, bool]:
    """Return which style is a heading, by its outline level or name, or those of its nearest base."""
    own = {style.get(f"{W}styleId", ""): style for style in styles.iterfind(f"{W}style")}
    return {identity: _is_heading(_bases(own, identity)) for identity in own}


def _is_heading(styles: Iterable[Element]) -> bool:
    for style in styles:
        if level := value_of(style, "pPr/outlineLvl"):
            return level < "9"
        if _HEADING_STYLE.match(value_of(style, "name")):
            return True
    return False


def _has_level(element: Element) -> bool:
    return (value_of(element, "pPr/outlineLvl") or "9") < "9"


def _blocks(
    container: Element, headings: Mapping[str, bool], notes: Mapping[tuple[str, str], DraftBlock], drawn: Finder
) -> Iterator[DraftBlock]:
    for element in container:
        if element.tag == f"{W}p":
            heading = _has_level(element) or headings.get(value_of(element, "pPr/pStyle"))
            yield paragraph(_runs(element), kind="heading" if heading else "text")
        elif element.tag == f"{W}tbl":
            rows = list(_rows(element))
            if (cell := _only_cell(rows)) is not None:
                # A frame around what stands in it.
                yield from _blocks(cell, headings, notes, drawn)
                continue
            named = sum(row.find(f"{W}trPr/{W}tblHeader") is not None for row in rows)
            yield table_block(table_of(_merged([list(_cells(row)) for row in rows]), named or None))
        elif element.tag in _CONTAINERS and not _is_placeholder(element):
            yield from _blocks(element, headings, notes, drawn)
        if element.tag in (f"{W}p", f"{W}tbl"):
            yield from drawn(element)
            for box in _boxes(element):
                yield from _blocks(box, headings, notes, drawn)
            yield from _notes_of(element, notes) if notes else ()


def _notes_of(element: Element, notes: Mapping[tuple[str, str], DraftBlock]) -> Iterator[DraftBlock]:
    """Yield the notes whose marks are in an element and in no text box of it."""
    for reference in parts_outside(element, (_BOX,), f"{W}footnoteReference", f"{W}endnoteReference"):
        kind = str(reference.tag).removeprefix(W).removesuffix("Reference")
        if (note := notes.get((kind, reference.get(f"{W}id", "")))) is not None:
            yield note


def _boxes(element: Element) -> Iterator[Element]:
    """Yield the text boxes within an element, without those within them and without second copies."""
    for box in parts_outside(element, (_BOX,), _BOX):
        if next(box.iterancestors(FALLBACK), None) is None:
            yield box


def _only_cell(rows: Sequence[Element]) -> Element | None:
    """Return the cell of a table that has no other."""
    cells = [cell for row in rows for cell in row.iter(f"{W}tc") if cell.getparent() is row]
    return cells[0] if len(cells) == 1 and len(rows) == 1 else None


def _is_placeholder(element: Element) -> bool:
    """Return whether a control holds the prompt of its program in place of a text."""
    return element.tag == f"{W}sdt" and is_on(element.find(f"{W}sdtPr/{W}showingPlcHdr"))


def _rows(element: Element) -> Iterator[Element]:
    """Yield the rows of a table; the text of a table nested in a cell belongs to that cell."""
    for child in element:
        if child.tag == f"{W}tr":
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins"):
            yield from _rows(child)


def _cells(row: Element) -> Iterator[tuple[GridCell, str]]:
    """Yield the cells of a row, each with its part in a vertical merge: "restart", "continue" or ""."""
    hidden = is_on(row.find(f"{W}trPr/{W}hidden"))
    for child in row:
        if child.tag == f"{W}tc":
            merge = child.find(f"{W}tcPr/{W}vMerge")
            part = "" if merge is None else merge.get(f"{W}val", "continue")
            columns = whole_number(value_of(child, "tcPr/gridSpan"), 1)
            runs = list(_runs(child))
            runs = [Run(run.text, run.look | Look.HIDDEN) for run in runs] if hidden else runs
            made = GridCell(one_line(standing(runs)), max(1, columns), bold=_is_bold(child), left_out=left_out(runs))
            yield made, part
        elif child.tag == f"{W}trPr":
            for _ in range(min(_MOST_COLUMNS, whole_number(value_of(child, "gridBefore"), 0))):
                yield GridCell(""), ""
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins"):
            yield from _cells(child)


def _merged(rows: Sequence[Sequence[tuple[GridCell, str]]]) -> list[list[GridCell]]:
    """Return the rows with what continues a cell from above counted into that cell's height."""
    begun: dict[int, tuple[int, int]] = {}
    heights: dict[tuple[int, int], int] = {}
    kept: list[list[tuple[tuple[int, int], GridCell]]] = []
    for number, row in enumerate(rows):
        column = 0
        kept.append([])
        for cell, part in row:
            if part == "continue" and column in begun:
                heights[begun[column]] += 1
            else:
                begun.pop(column, None)
                if part:
                    begun[column] = (number, column)
                heights[number, column] = 1
                kept[-1].append(((number, column), cell))
            column += cell.columns
    return [[replace(cell, rows=heights[place]) for place, cell in row] for row in kept]


def _is_bold(element: Element) -> bool:
    """Return whether all words of an element are bold by themselves, not by their style."""
    if next(element.iter(f"{W}b"), None) is None:
        return False
    runs = [run for run in element.iter(f"{W}r") if any(text.text for text in run.iter(f"{W}t"))]
    return bool(runs) and all(is_on(run.find(f"{W}rPr/{W}b")) for run in runs)


def _runs(element: Element, look: Look = Look.PLAIN, font: str = "") -> Iterator[Run]:
    # What is written above a word comes before it.
    for child in reversed(element) if element.tag == f"{W}ruby" else element:
        tag = child.tag
        if tag == _R:
            fonts = child.find(_FONTS)
            yield from _runs(child, _look_of(child), "" if fonts is None else fonts.get(f"{W}ascii", ""))
        elif (text := _written(child, font)) is not None:
            yield Run(text, look)
        elif mark := child.get(_MARK):
            yield note_mark(mark)
        elif tag not in _SKIPPED and not _is_placeholder(child):
            yield from _runs(child, look, font)
            if tag == _P:
                yield Run(" ")


def _written(element: Element, font: str) -> str | None:
    """Return what an element without runs in it writes; None for others."""
    if element.tag == _T:
        return in_unicode(element.text or "", font) if font else element.text or ""
    match element.tag.removeprefix(W):
        case "tab" | "br" | "cr" | "ptab":
            return " "
        case "noBreakHyphen":
            return "-"
        case "sym":
            return in_unicode(chr(int(element.get(f"{W}char", "0"), 16)), element.get(f"{W}font", ""))
        case "ddList":
            return _chosen(element)
        case "rt":
            # Said beside what it is above, as pages without such print do.
            return f"({''.join(_texts(element))})"
        case "checkBox":
            return "[x] " if _is_ticked(element) else "[ ] "
        case "object" if _EQUATION.search(etree.tostring(element)):
            return " [formula] "
        case _ if element.tag == f"{_M}oMath":
            return f" {formula(element)} "
    return None


def _texts(element: Element) -> Iterator[str]:
    return (text.text or "" for text in element.iter(f"{W}t"))


def _chosen(listed: Element) -> str:
    """Return the entry that is chosen in the list of a form."""
    entries = [entry.get(f"{W}val", "") for entry in listed.iterfind(f"{W}listEntry")]
    place = whole_number(value_of(listed, "result") or value_of(listed, "default"), 0)
    return entries[place] if 0 <= place < len(entries) else ""


def _is_ticked(box: Element) -> bool:
    """Return whether a box of a form is ticked, by the one who filled it in or else from the start."""
    checked = box.find(f"{W}checked")
    return is_on(box.find(f"{W}default") if checked is None else checked)


def _look_of(run: Element) -> Look:
    look = PLAIN
    for name in _LOOKS:
        if named := run.get(name):
            look |= Look[named]
    return look


def _mark_runs(part: Element, looks: Styles) -> None:
    """Write the look of each run of a part to it: its own, that of its style or that of its paragraph's."""
    for name, elements in _PROPERTIES.items():
        for setting in part.iter(*elements):
            # Not the look before a tracked change, nor that of a paragraph's end in a box within a run.
            run = next(islice(setting.iterancestors(), 1, None), None)
            if run is not None and run.tag == f"{W}r" and not run.get(name):
                run.set(name, _set_look(setting))
        if looks[name]:
            for run in part.iter(f"{W}r"):
                above = next(run.iterancestors(f"{W}p"), run)
                styles = value_of(run, "rPr/rStyle"), value_of(above, "pPr/pStyle")
                found = next(filter(None, map(looks[name].get, styles)), "")
                if found and run.get(name) is None:
                    run.set(name, found)


def _set_look(setting: Element) -> str:
    """Return the name of the look that a property of a run or style sets; "" for the usual one."""
    value = setting.get(f"{W}val", "")
    if setting.tag == f"{W}vertAlign":
        look = _SHIFTS.get(value, Look.PLAIN)
    elif setting.tag == f"{W}position":
        moved = whole_number(value, 0)
        look = Look.RAISED if moved >= _LEAST_MOVE else Look.LOWERED if moved <= -_LEAST_MOVE else Look.PLAIN
    elif is_on(setting):
        look = Look.HIDDEN if setting.tag == f"{W}vanish" else Look.STRUCK
    else:
        look = Look.PLAIN
    return look.name or "" if look else ""


def _looks(styles: Element | None) -> Styles:
    """Return for each property the looks of the styles, by themselves or as their base has them."""
    own = {} if styles is None else {one.get(f"{W}styleId", ""): one for one in styles.iterfind(f"{W}style")}
    found: Styles = {name: {} for name in _PROPERTIES}
    if styles is None or next(styles.iter(*chain(*_PROPERTIES.values())), None) is None:
        return found
    for name, elements in _PROPERTIES.items():
        for identity in own:
            for style in _bases(own, identity):
                settings = [one for element in elements for one in style.iterfind(f"{W}rPr/{element}")]
                if settings:
                    found[name][identity] = next(filter(None, map(_set_look, settings)), "")
                    break
    return found


def _bases(styles: Mapping[str, Element], identity: str) -> Iterator[Element]:
    """Yield a style and those that it is based on, from the nearest."""
    for _ in range(_DEEPEST):
        if identity not in styles:
            return
        yield styles[identity]
        identity = value_of(styles[identity], "basedOn")


def _boxed_runs(part: Element) -> Iterator[Run]:
    for box in _boxes(part):
        yield Run(" ")
        yield from _runs(box)


def _edge(package: Package, kind: str, looks: Styles) -> list[DraftBlock]:
    """Headers or footers, each text once.

    A document keeps one for first, odd and even pages of every section.
    """
    parts = [package.xml(name) for name in sorted(package.names) if re.fullmatch(rf"word/{kind}\d*\.xml", name)]
    for part in parts:
        _prepare(part, looks)
    made = (paragraph([*_runs(part), *_boxed_runs(part)], kind="note") for part in parts)
    blocks = {one_line(block.lines[0].text): block for block in made}
    return [block for text, block in blocks.items() if block.left_out or any(map(str.isalpha, text))]
