"""DOCX, read from its XML: paragraphs, tables and notes, with the numbers that Word counts itself.

Of "Article 3", "(b)" or "2.1." nothing is in the text of a document: Word counts while it shows it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.zip_container import Element, Package, open_package, whole_number
from ingestion.extraction.layout.numerals import letters, roman
from ingestion.extraction.runs import Run, left_out, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING_STYLE = re.compile(r"(heading|überschrift|titre|título|titolo|başlık|title|subtitle)\s*\d*$", re.IGNORECASE)
# A text box is stored twice, for new and old programs; deleted and moved text and field codes are not on the page.
_SKIPPED = {_FALLBACK, f"{_W}del", f"{_W}moveFrom", f"{_W}instrText"}
_SPACES = {f"{_W}tab", f"{_W}br", f"{_W}cr", f"{_W}ptab"}
_PLACE = re.compile(r"%([1-9])")
# Attributes of ours for runs that are struck or hidden, with the switches of Word that say so.
_STRUCK, _HIDDEN, _ON = "struck", "hidden", "on"
_MARKED = {_STRUCK: (f"{_W}strike", f"{_W}dstrike"), _HIDDEN: (f"{_W}vanish",)}
_LEVELS = 9
# Word makes no table of more.
_MOST_COLUMNS = 63

_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
}


def extract_docx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of a DOCX, with the numbers that Word counts itself, and its declared title.

    Headers come first and footers last, each once; footnotes follow the text.
    """
    with open_package(path, limits) as package:
        styles, numbering = package.find("word/styles.xml"), package.find("word/numbering.xml")
        headings, looks = {} if styles is None else _heading_styles(styles), _looks(styles)
        body = package.xml(_main_part(package)).find(f"{_W}body")
        if body is not None and numbering is not None:
            _write_numbers(body, numbering, styles)
        if body is not None:
            _mark_runs(body, looks)
        content = list(_blocks(body, headings)) if body is not None else []
        headers, footers = (_edge(package, kind, looks) for kind in ("header", "footer"))
        found = map(package.find, ("word/footnotes.xml", "word/endnotes.xml"))
        notes = [note for part in found if part is not None for note in part]
        for part in notes:
            _mark_runs(part, looks)
        core = package.find("docProps/core.xml")
        title = core.findtext("{http://purl.org/dc/elements/1.1/}title") if core is not None else ""
    endings = [paragraph(_runs(note), kind="note") for note in notes]
    return Draft([*headers, *content, *endings, *footers], title or "")


def _main_part(package: Package) -> str:
    for override in package.xml("[Content_Types].xml"):
        kind = override.get("ContentType", "")
        if kind.endswith("main+xml") and ("wordprocessingml" in kind or "ms-word" in kind):
            return override.get("PartName", "").lstrip("/")
    return "word/document.xml"


def _heading_styles(styles: Element) -> dict[str, bool]:
    """Return which style is a heading, by outline level or by name, or as the style that it is based on."""
    own: dict[str, bool] = {}
    based: dict[str, str] = {}
    for style in styles.iterfind(f"{_W}style"):
        identity = style.get(f"{_W}styleId", "")
        own[identity] = _has_level(style) or _HEADING_STYLE.match(_value(style, "name")) is not None
        based[identity] = _value(style, "basedOn")
    return {identity: heading or own.get(based[identity], False) for identity, heading in own.items()}


def _has_level(element: Element) -> bool:
    return (_value(element, "pPr/outlineLvl") or "9") < "9"


def _blocks(container: Element, headings: Mapping[str, bool]) -> Iterator[DraftBlock]:
    for element in container:
        if element.tag == f"{_W}p":
            heading = _has_level(element) or headings.get(_value(element, "pPr/pStyle"))
            yield paragraph(_runs(element), kind="heading" if heading else "text")
        elif element.tag == f"{_W}tbl":
            rows = list(_rows(element))
            named = sum(row.find(f"{_W}trPr/{_W}tblHeader") is not None for row in rows)
            yield table_block(table_of(_merged([list(_cells(row)) for row in rows]), named or None))
        elif element.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml", f"{_W}ins"):
            yield from _blocks(element, headings)


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


def _runs(element: Element, struck: bool = False, hidden: bool = False) -> Iterator[Run]:
    for child in element:
        tag = child.tag
        if tag == f"{_W}t":
            yield Run(child.text or "", struck, hidden)
        elif tag in _SPACES:
            yield Run(" ", struck, hidden)
        elif tag == f"{_W}noBreakHyphen":
            yield Run("-", struck, hidden)
        elif tag == f"{_W}r":
            yield from _runs(child, child.get(_STRUCK) == _ON, child.get(_HIDDEN) == _ON)
        elif tag not in _SKIPPED:
            yield from _runs(child, struck, hidden)
            if tag == f"{_W}p":
                yield Run(" ")


def _mark_runs(part: Element, looks: Mapping[str, Collection[str]]) -> None:
    """Mark the runs of a part that are struck or hidden, by themselves, their style or their paragraph's."""
    for mark, names in _MARKED.items():
        for switch in part.iter(*names):
            # Not the look before a tracked change, nor that of a paragraph's end in a box within a run.
            run = next(islice(switch.iterancestors(), 1, None), None)
            if run is not None and run.tag == f"{_W}r" and run.get(mark) != _ON:
                run.set(mark, _ON if _is_on(switch) else "")
        if looks[mark]:
            for run in part.iter(f"{_W}r"):
                above = next(run.iterancestors(f"{_W}p"), run)
                styles = {_value(run, "rPr/rStyle"), _value(above, "pPr/pStyle")}
                if run.get(mark) is None and not styles.isdisjoint(looks[mark]):
                    run.set(mark, _ON)


def _looks(styles: Element | None) -> dict[str, set[str]]:
    """Return for each mark the styles that have it, themselves or as the style that each is based on."""
    own = {} if styles is None else {one.get(f"{_W}styleId", ""): one for one in styles.iterfind(f"{_W}style")}
    found: dict[str, set[str]] = {mark: set() for mark in _MARKED}
    if styles is None or next(styles.iter(*chain(*_MARKED.values())), None) is None:
        return found
    for mark, names in _MARKED.items():
        for identity in own:
            style, left = identity, _LEVELS
            while style in own and left:
                switches = [one for name in names for one in own[style].iterfind(f"{_W}rPr/{name}")]
                if switches:
                    found[mark] |= {identity} if any(map(_is_on, switches)) else set()
                    break
                style, left = _value(own[style], "basedOn"), left - 1
    return found


def _edge(package: Package, kind: str, looks: Mapping[str, Collection[str]]) -> list[DraftBlock]:
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
