"""DOCX, read from its XML: paragraphs, tables and notes, with the numbers that Word counts itself.

Of "Article 3", "(b)" or "2.1." nothing is in the text of a document: Word counts while it shows it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from operator import or_
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.pictures.package_pictures import Finder, drawings_in
from ingestion.extraction.formats.zip_container import Element, Package, open_package, whole_number
from ingestion.extraction.formulas import formula
from ingestion.extraction.layout.numerals import COUNTED
from ingestion.extraction.runs import Look, Run, left_out, note_mark, standing
from ingestion.extraction.symbols import in_unicode
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits
from rag_engine.messages import Message

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING_STYLE = re.compile(r"(heading|überschrift|titre|título|titolo|başlık|title|subtitle)\s*\d*$", re.IGNORECASE)
# A text box is stored twice, for new and old programs; deleted and moved text and field codes are not on the page.
_SKIPPED = {_FALLBACK, f"{_W}del", f"{_W}moveFrom", f"{_W}instrText"}
_CONTAINERS = {f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml", f"{_W}ins", f"{_W}moveTo"}
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# An attribute of ours: the mark of a note at its reference.
_MARK = "mark"
_EQUATION = re.compile(rb'ProgID="[^"]{0,40}(?:Equation|Math)')
_PLACE = re.compile(r"%([1-9])")
# Properties of a run, kept as attributes of ours with the name of the look, and the elements of Word that set them.
_PROPERTIES = {
    "struck": (f"{_W}strike", f"{_W}dstrike"),
    "hidden": (f"{_W}vanish",),
    "shift": (f"{_W}vertAlign", f"{_W}position"),
}
_SHIFTS = {"superscript": Look.RAISED, "subscript": Look.LOWERED}
# Half points by which a raised run is moved at least.
_LEAST_MOVE = 4
_LEVELS = 9
# The names of looks, by property and style.
Styles = dict[str, dict[str, str]]
# Word makes no table of more.
_MOST_COLUMNS = 63

_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": COUNTED["1"],
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": COUNTED["a"],
    "upperLetter": COUNTED["A"],
    "lowerRoman": COUNTED["i"],
    "upperRoman": COUNTED["I"],
}


def extract_docx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of a DOCX, with the numbers that Word counts itself, and its declared title.

    Headers come first and footers last, each once; a note follows the paragraph with its mark.
    """
    with open_package(path, limits) as package:
        styles, numbering = package.find("word/styles.xml"), package.find("word/numbering.xml")
        headings, looks = {} if styles is None else _heading_styles(styles), _looks(styles)
        main = _main_part(package)
        body = package.xml(main).find(f"{_W}body")
        content: list[DraftBlock] = []
        if body is not None:
            if numbering is not None:
                _write_numbers(body, numbering, styles)
            _drop_instructions(body)
            _mark_runs(body, looks)
            content = list(_blocks(body, headings, _notes(package, body, looks), drawings_in(package, main)))
        headers, footers = (_edge(package, kind, looks) for kind in ("header", "footer"))
        core = package.find("docProps/core.xml")
        title = core.findtext("{http://purl.org/dc/elements/1.1/}title") if core is not None else ""
    unread = sum(1 for _ in body.iter(f"{_W}altChunk")) if body is not None else 0
    told = Message("Parts in the format of another program, which were not read: {count}.", count=unread)
    return Draft([*headers, *content, *footers], title or "", warnings=(told,) if unread else ())


def _drop_instructions(body: Element) -> None:
    """Empty the texts before the result of a field, which are those of fields within it."""
    instructing: list[bool] = []
    if next(body.iter(f"{_W}fldChar"), None) is None:
        return
    for element in body.iter(f"{_W}fldChar", f"{_W}t"):
        if element.tag == f"{_W}t":
            if any(instructing):
                element.text = ""
            continue
        match element.get(f"{_W}fldCharType"):
            case "begin":
                instructing.append(True)
            case "separate" if instructing:
                instructing[-1] = False
            case "end" if instructing:
                instructing.pop()


def _notes(package: Package, body: Element, looks: Styles) -> dict[tuple[str, str], DraftBlock]:
    """Return the notes by the kind and number of their references, to which their marks are written."""
    settings = package.find("word/settings.xml")
    notes: dict[tuple[str, str], DraftBlock] = {}
    for kind, usual in (("footnote", "decimal"), ("endnote", "lowerRoman")):
        part = package.find(f"word/{kind}s.xml")
        if part is None:
            continue
        _mark_runs(part, looks)
        written = {note.get(f"{_W}id", ""): note for note in part}
        stated = "" if settings is None else _value(settings, f"{kind}Pr/numFmt")
        write = _FORMATS.get(stated or usual, str)
        count = 0
        for reference in body.iter(f"{_W}{kind}Reference"):
            note = written.get(reference.get(f"{_W}id", ""))
            if note is None or next(reference.iterancestors(*_SKIPPED), None) is not None:
                continue
            runs = list(_runs(note))
            # A mark of its own is in the text beside the reference, and begins the note.
            if reference.get(f"{_W}customMarkFollows") not in ("1", "true", "on"):
                count += 1
                reference.set(_MARK, write(count))
                runs = [note_mark(write(count)), Run(" "), *runs]
            notes[kind, reference.get(f"{_W}id", "")] = paragraph(runs, kind="note")
    return notes


def _main_part(package: Package) -> str:
    for override in package.xml("[Content_Types].xml"):
        kind = override.get("ContentType", "")
        if kind.endswith("main+xml") and ("wordprocessingml" in kind or "ms-word" in kind):
            return override.get("PartName", "").lstrip("/")
    return "word/document.xml"


def _heading_styles(styles: Element) -> dict[str, bool]:
    """Return which style is a heading, by its outline level or name, or those of its nearest base."""
    own = {style.get(f"{_W}styleId", ""): style for style in styles.iterfind(f"{_W}style")}
    return {identity: _is_heading(_bases(own, identity)) for identity in own}


def _is_heading(styles: Iterable[Element]) -> bool:
    for style in styles:
        if level := _value(style, "pPr/outlineLvl"):
            return level < "9"
        if _HEADING_STYLE.match(_value(style, "name")):
            return True
    return False


def _has_level(element: Element) -> bool:
    return (_value(element, "pPr/outlineLvl") or "9") < "9"


def _blocks(
    container: Element, headings: Mapping[str, bool], notes: Mapping[tuple[str, str], DraftBlock], drawn: Finder
) -> Iterator[DraftBlock]:
    for element in container:
        if element.tag == f"{_W}p":
            heading = _has_level(element) or headings.get(_value(element, "pPr/pStyle"))
            yield paragraph(_runs(element), kind="heading" if heading else "text")
        elif element.tag == f"{_W}tbl":
            rows = list(_rows(element))
            named = sum(row.find(f"{_W}trPr/{_W}tblHeader") is not None for row in rows)
            yield table_block(table_of(_merged([list(_cells(row)) for row in rows]), named or None))
        elif element.tag in _CONTAINERS and not _is_placeholder(element):
            yield from _blocks(element, headings, notes, drawn)
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield from drawn(element)
        if notes and element.tag in (f"{_W}p", f"{_W}tbl"):
            for reference in element.iter(f"{_W}footnoteReference", f"{_W}endnoteReference"):
                kind = reference.tag.removeprefix(_W).removesuffix("Reference")
                if (note := notes.get((kind, reference.get(f"{_W}id", "")))) is not None:
                    yield note


def _is_placeholder(element: Element) -> bool:
    """Return whether a control holds the prompt of its program in place of a text."""
    return element.tag == f"{_W}sdt" and _is_on(element.find(f"{_W}sdtPr/{_W}showingPlcHdr"))


def _rows(element: Element) -> Iterator[Element]:
    """Yield the rows of a table; the text of a table nested in a cell belongs to that cell."""
    for child in element:
        if child.tag == f"{_W}tr":
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins"):
            yield from _rows(child)


def _cells(row: Element) -> Iterator[tuple[GridCell, str]]:
    """Yield the cells of a row, each with its part in a vertical merge: "restart", "continue" or ""."""
    for child in row:
        if child.tag == f"{_W}tc":
            merge = child.find(f"{_W}tcPr/{_W}vMerge")
            part = "" if merge is None else merge.get(f"{_W}val", "continue")
            columns = whole_number(_value(child, "tcPr/gridSpan"), 1)
            runs = list(_runs(child))
            made = GridCell(one_line(standing(runs)), max(1, columns), bold=_is_bold(child), left_out=left_out(runs))
            yield made, part
        elif child.tag == f"{_W}trPr":
            for _ in range(min(_MOST_COLUMNS, whole_number(_value(child, "gridBefore"), 0))):
                yield GridCell(""), ""
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins"):
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
    runs = [run for run in element.iter(f"{_W}r") if any(text.text for text in run.iter(f"{_W}t"))]
    return bool(runs) and all(_is_on(run.find(f"{_W}rPr/{_W}b")) for run in runs)


def _is_on(switch: Element | None) -> bool:
    return switch is not None and switch.get(f"{_W}val", "1") not in ("0", "false", "off")


def _runs(element: Element, look: Look = Look.PLAIN, font: str = "") -> Iterator[Run]:
    for child in element:
        tag = child.tag
        if (text := _written(child, font)) is not None:
            yield Run(text, look)
        elif tag == f"{_W}r":
            fonts = child.find(f"{_W}rPr/{_W}rFonts")
            yield from _runs(child, _look_of(child), "" if fonts is None else fonts.get(f"{_W}ascii", ""))
        elif mark := child.get(_MARK):
            yield note_mark(mark)
        elif tag not in _SKIPPED and not _is_placeholder(child):
            yield from _runs(child, look, font)
            if tag == f"{_W}p":
                yield Run(" ")


def _written(element: Element, font: str) -> str | None:
    """Return what an element without runs in it writes; None for others."""
    match element.tag.removeprefix(_W):
        case "t":
            return in_unicode(element.text or "", font) if font else element.text or ""
        case "tab" | "br" | "cr" | "ptab":
            return " "
        case "noBreakHyphen":
            return "-"
        case "sym":
            return in_unicode(chr(int(element.get(f"{_W}char", "0"), 16)), element.get(f"{_W}font", ""))
        case "checkBox":
            return "[x] " if _is_ticked(element) else "[ ] "
        case "object" if _EQUATION.search(etree.tostring(element)):
            return " [formula] "
        case _ if element.tag == f"{_M}oMath":
            return f" {formula(element)} "
    return None


def _is_ticked(box: Element) -> bool:
    """Return whether a box of a form is ticked, by the one who filled it in or else from the start."""
    checked = box.find(f"{_W}checked")
    return _is_on(box.find(f"{_W}default") if checked is None else checked)


def _look_of(run: Element) -> Look:
    named = filter(None, (run.get(name) for name in _PROPERTIES))
    return reduce(or_, (Look[name] for name in named), Look.PLAIN)


def _mark_runs(part: Element, looks: Styles) -> None:
    """Write the look of each run of a part to it: its own, that of its style or that of its paragraph's."""
    for name, elements in _PROPERTIES.items():
        for setting in part.iter(*elements):
            # Not the look before a tracked change, nor that of a paragraph's end in a box within a run.
            run = next(islice(setting.iterancestors(), 1, None), None)
            if run is not None and run.tag == f"{_W}r" and not run.get(name):
                run.set(name, _set_look(setting))
        if looks[name]:
            for run in part.iter(f"{_W}r"):
                above = next(run.iterancestors(f"{_W}p"), run)
                styles = _value(run, "rPr/rStyle"), _value(above, "pPr/pStyle")
                found = next(filter(None, map(looks[name].get, styles)), "")
                if found and run.get(name) is None:
                    run.set(name, found)


def _set_look(setting: Element) -> str:
    """Return the name of the look that a property of a run or style sets; "" for the usual one."""
    value = setting.get(f"{_W}val", "")
    if setting.tag == f"{_W}vertAlign":
        look = _SHIFTS.get(value, Look.PLAIN)
    elif setting.tag == f"{_W}position":
        moved = whole_number(value, 0)
        look = Look.RAISED if moved >= _LEAST_MOVE else Look.LOWERED if moved <= -_LEAST_MOVE else Look.PLAIN
    elif _is_on(setting):
        look = Look.HIDDEN if setting.tag == f"{_W}vanish" else Look.STRUCK
    else:
        look = Look.PLAIN
    return look.name or "" if look else ""


def _looks(styles: Element | None) -> Styles:
    """Return for each property the looks of the styles, by themselves or as their base has them."""
    own = {} if styles is None else {one.get(f"{_W}styleId", ""): one for one in styles.iterfind(f"{_W}style")}
    found: Styles = {name: {} for name in _PROPERTIES}
    if styles is None or next(styles.iter(*chain(*_PROPERTIES.values())), None) is None:
        return found
    for name, elements in _PROPERTIES.items():
        for identity in own:
            for style in _bases(own, identity):
                settings = [one for element in elements for one in style.iterfind(f"{_W}rPr/{element}")]
                if settings:
                    found[name][identity] = next(filter(None, map(_set_look, settings)), "")
                    break
    return found


def _bases(styles: Mapping[str, Element], identity: str) -> Iterator[Element]:
    """Yield a style and those that it is based on, from the nearest."""
    for _ in range(_LEVELS):
        if identity not in styles:
            return
        yield styles[identity]
        identity = _value(styles[identity], "basedOn")


def _edge(package: Package, kind: str, looks: Styles) -> list[DraftBlock]:
    """Headers or footers, each text once.

    A document keeps one for first, odd and even pages of every section.
    """
    parts = [package.xml(name) for name in sorted(package.names) if re.fullmatch(rf"word/{kind}\d*\.xml", name)]
    for part in parts:
        _mark_runs(part, looks)
    blocks = {one_line(block.lines[0].text): block for block in (paragraph(_runs(part), kind="note") for part in parts)}
    return [block for text, block in blocks.items() if block.left_out or any(map(str.isalpha, text))]


def _value(element: Element, path: str) -> str:
    """Return the w:val of a descendant, named without its name space; empty if there is none."""
    found = element.find("/".join(_W + step for step in path.split("/")))
    return "" if found is None else found.get(f"{_W}val", "")


@dataclass(frozen=True, slots=True)
class _Level:
    """Numbering of a level; `write` is None for bullets and for formats that are words of a language."""

    start: int
    write: Callable[[int], str] | None
    pattern: str
    style: str
    restarts: bool
    legal: bool


@dataclass(frozen=True, slots=True)
class _List:
    """A list as paragraphs name it; lists with the same `counter` go on counting where another stopped."""

    counter: str
    levels: Mapping[int, _Level]
    restarts_at: Mapping[int, int]


def _write_numbers(body: Element, numbering: Element, styles: Element | None) -> None:
    """Put the number of every automatically numbered paragraph of the body in front of its text."""
    by_style = {} if styles is None else _numbered_styles(styles)
    lists = _lists(numbering, by_style)
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    begun: set[tuple[str, int]] = set()
    for element in body.iter(f"{_W}p"):
        name, level = _place(element, by_style, lists)
        # The second copy of a text box is not read and must not count.
        is_copy = next(element.iterancestors(_FALLBACK), None) is not None
        if name not in lists or level not in lists[name].levels or is_copy:
            continue
        used = lists[name]
        count = counts[used.counter]
        if (name, level) not in begun and level in used.restarts_at:
            count[level] = used.restarts_at[level]
        else:
            count[level] = count[level] + 1 if level in count else used.levels[level].start
        for deeper in range(level + 1, _LEVELS):
            if deeper not in used.levels or used.levels[deeper].restarts:
                count.pop(deeper, None)
        begun.add((name, level))
        if written := _label(count, used, level):
            run = etree.Element(f"{_W}r")
            etree.SubElement(run, f"{_W}t").text = f"{written} "
            if any(text.text for text in element.iter(f"{_W}t")):
                element.insert(0, run)


def _label(count: Mapping[int, int], used: _List, level: int) -> str:
    own = used.levels[level]
    if own.write is None:
        return ""

    def number(place: re.Match[str]) -> str:
        shown = used.levels.get(int(place[1]) - 1)
        if shown is None or shown.write is None:
            return ""
        value = count.get(int(place[1]) - 1, shown.start)
        return str(value) if own.legal else shown.write(value)

    return _PLACE.sub(number, own.pattern)


def _place(paragraph: Element, by_style: Mapping[str, tuple[str, int]], lists: Mapping[str, _List]) -> tuple[str, int]:
    """Return the list and the level a paragraph counts in, by itself or by its style.

    List "" or "0" for none.
    """
    style = _value(paragraph, "pPr/pStyle")
    name, level = by_style.get(style, ("", 0))
    own = _value(paragraph, "pPr/numPr/numId")
    written_level = _value(paragraph, "pPr/numPr/ilvl")
    if own:
        return own, whole_number(written_level, 0)
    if name in lists:
        level = next((depth for depth, found in lists[name].levels.items() if style and found.style == style), level)
    return name, whole_number(written_level, level)


def _numbered_styles(styles: Element) -> dict[str, tuple[str, int]]:
    """Return the list and the level of every style that counts.

    Either may come from a style it is based on.
    """
    own = {style.get(f"{_W}styleId", ""): style for style in styles.iterfind(f"{_W}style")}

    def nearest(identity: str, path: str) -> str:
        seen: set[str] = set()
        while identity in own and identity not in seen:
            if value := _value(own[identity], path):
                return value
            seen.add(identity)
            identity = _value(own[identity], "basedOn")
        return ""

    names = {identity: nearest(identity, "pPr/numPr/numId") for identity in own}
    return {
        identity: (name, whole_number(nearest(identity, "pPr/numPr/ilvl"), 0))
        for identity, name in names.items()
        if name
    }


def _lists(numbering: Element, by_style: Mapping[str, tuple[str, int]]) -> dict[str, _List]:
    patterns = {each.get(f"{_W}abstractNumId", ""): each for each in numbering.iterfind(f"{_W}abstractNum")}
    named = {each.get(f"{_W}numId", ""): _value(each, "abstractNumId") for each in numbering.iterfind(f"{_W}num")}
    lists: dict[str, _List] = {}
    for each in numbering.iterfind(f"{_W}num"):
        counter = _value(each, "abstractNumId")
        linked = _value(patterns[counter], "numStyleLink") if counter in patterns else ""
        if linked in by_style:
            counter = named.get(by_style[linked][0], counter)
        if counter not in patterns:
            continue
        levels = {_depth(level): _level(level) for level in patterns[counter].iterfind(f"{_W}lvl")}
        restarts_at: dict[int, int] = {}
        for override in each.iterfind(f"{_W}lvlOverride"):
            depth = _depth(override)
            if (level := override.find(f"{_W}lvl")) is not None:
                levels[depth] = _level(level)
            if start := _value(override, "startOverride"):
                restarts_at[depth] = whole_number(start, 1)
        lists[each.get(f"{_W}numId", "")] = _List(counter, levels, restarts_at)
    return lists


def _depth(element: Element) -> int:
    return whole_number(element.get(f"{_W}ilvl"), 0)


def _level(level: Element) -> _Level:
    return _Level(
        start=whole_number(_value(level, "start"), 1),
        write=_FORMATS.get(_value(level, "numFmt") or "decimal"),
        pattern=_value(level, "lvlText"),
        style=_value(level, "pStyle"),
        restarts=_value(level, "lvlRestart") != "0",
        legal=level.find(f"{_W}isLgl") is not None,
    )
