"""The numbers that Word counts itself and keeps nowhere in the text: "Article 3", "(b)", "2.1."."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import DraftBlock, paragraph, table, tidy
from ingestion.extraction.formats.zip_container import Element, check_archive, open_archive, read_xml
from ingestion.extraction.layout.numerals import letters, roman
from ingestion.types import ExtractionLimits
from rag_engine.types import BlockKind

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PLACE = re.compile(r"%([1-9])")
_LEVELS = 9

_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
}


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


def write_numbers(body: Element, numbering: Element, styles: Element | None) -> None:
    """Put the number of every automatically numbered paragraph of the body in front of its text."""
    by_style = {} if styles is None else _numbered_styles(styles)
    lists = _lists(numbering, by_style)
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    begun: set[tuple[str, int]] = set()
    for element in body.iter(f"{_WORD}p"):
        name, level = _place(element, by_style, lists)
        if name not in lists or level not in lists[name].levels or _is_copy(element):
            continue
        used = lists[name]
        count = counts[used.counter]
        _advance(count, used, level, first=(name, level) not in begun)
        begun.add((name, level))
        if written := _label(count, used, level):
            run = etree.Element(f"{_WORD}r")
            etree.SubElement(run, f"{_WORD}t").text = f"{written} "
            if any(text.text for text in element.iter(f"{_WORD}t")):
                element.insert(0, run)


def _is_copy(element: Element) -> bool:
    """Return whether it is in the second copy of a text box, which is not read and must not count."""
    return next(element.iterancestors(_FALLBACK), None) is not None


def _advance(count: dict[int, int], used: _List, level: int, *, first: bool) -> None:
    if first and level in used.restarts_at:
        count[level] = used.restarts_at[level]
    else:
        count[level] = count[level] + 1 if level in count else used.levels[level].start
    for deeper in range(level + 1, _LEVELS):
        if deeper not in used.levels or used.levels[deeper].restarts:
            count.pop(deeper, None)


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
    """Return the list and the level a paragraph counts in, by itself or by its style; list "" or "0" for none."""
    style = _value(paragraph, "pPr/pStyle")
    name, level = by_style.get(style, ("", 0))
    own = _value(paragraph, "pPr/numPr/numId")
    written_level = _value(paragraph, "pPr/numPr/ilvl")
    if own:
        return own, int(written_level or 0)
    if name in lists:
        level = next((depth for depth, found in lists[name].levels.items() if style and found.style == style), level)
    return name, int(written_level or level)


def _numbered_styles(styles: Element) -> dict[str, tuple[str, int]]:
    """List and level of every style that counts; either may come from a style it is based on."""
    lists: dict[str, str] = {}
    levels: dict[str, str] = {}
    based: dict[str, str] = {}
    for style in styles.iterfind(f"{_WORD}style"):
        identity = style.get(f"{_WORD}styleId", "")
        based[identity] = _value(style, "basedOn")
        lists[identity] = _value(style, "pPr/numPr/numId")
        levels[identity] = _value(style, "pPr/numPr/ilvl")
    return {
        style: (name, int(_nearest(style, levels, based) or 0))
        for style in based
        if (name := _nearest(style, lists, based))
    }


def _nearest(style: str, values: Mapping[str, str], based: Mapping[str, str]) -> str:
    """Return the style's value or that of its nearest ancestor with one; empty when there is none."""
    seen: set[str] = set()
    while style in based and style not in seen:
        if values[style]:
            return values[style]
        seen.add(style)
        style = based[style]
    return ""


def _lists(numbering: Element, by_style: Mapping[str, tuple[str, int]]) -> dict[str, _List]:
    patterns = {each.get(f"{_WORD}abstractNumId", ""): each for each in numbering.iterfind(f"{_WORD}abstractNum")}
    named = {each.get(f"{_WORD}numId", ""): _value(each, "abstractNumId") for each in numbering.iterfind(f"{_WORD}num")}
    lists: dict[str, _List] = {}
    for each in numbering.iterfind(f"{_WORD}num"):
        counter = _value(each, "abstractNumId")
        linked = _value(patterns[counter], "numStyleLink") if counter in patterns else ""
        if linked in by_style:
            counter = named.get(by_style[linked][0], counter)
        if counter not in patterns:
            continue
        levels = {
            int(level.get(f"{_WORD}ilvl", "0")): _level(level) for level in patterns[counter].iterfind(f"{_WORD}lvl")
        }
        restarts_at: dict[int, int] = {}
        for override in each.iterfind(f"{_WORD}lvlOverride"):
            depth = int(override.get(f"{_WORD}ilvl", "0"))
            if (level := override.find(f"{_WORD}lvl")) is not None:
                levels[depth] = _level(level)
            if start := _value(override, "startOverride"):
                restarts_at[depth] = int(start)
        lists[each.get(f"{_WORD}numId", "")] = _List(counter, levels, restarts_at)
    return lists


def _level(level: Element) -> _Level:
    return _Level(
        start=int(_value(level, "start") or 1),
        write=_FORMATS.get(_value(level, "numFmt") or "decimal"),
        pattern=_value(level, "lvlText"),
        style=_value(level, "pStyle"),
        restarts=_value(level, "lvlRestart") != "0",
        legal=level.find(f"{_WORD}isLgl") is not None,
    )


def _value(element: Element, path: str) -> str:
    """Return the w:val of a descendant, named without its name space; empty when there is none."""
    found = element.find("/".join(_WORD + step for step in path.split("/")))
    return "" if found is None else found.get(f"{_WORD}val", "")


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_STYLE = re.compile(r"(heading|überschrift|titre|título|titolo|başlık|title|subtitle)\s*\d*$", re.IGNORECASE)
# A text box is stored twice, for new and old programs; deleted text and field codes are not on the page.
_SKIPPED = {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback", f"{_W}del", f"{_W}instrText"}
_SPACES = {f"{_W}tab", f"{_W}br", f"{_W}cr", f"{_W}ptab"}
_EDGES = re.compile(r"word/(header|footer)\d*\.xml")


def extract_docx(path: Path, limits: ExtractionLimits) -> tuple[list[DraftBlock], str]:
    """Return the blocks of a DOCX, with the numbers that Word counts itself, and its declared title.

    Headers come first and footers last, each once; footnotes follow the text.
    """
    with open_archive(path) as archive:
        check_archive(archive, path, limits)
        names = set(archive.namelist())
        styles = read_xml(archive, "word/styles.xml", path) if "word/styles.xml" in names else None
        headings = {} if styles is None else _heading_styles(styles)
        body = read_xml(archive, _main_part(archive, path), path).find(f"{_W}body")
        if body is not None and "word/numbering.xml" in names:
            write_numbers(body, read_xml(archive, "word/numbering.xml", path), styles)
        content = list(_blocks(body, headings)) if body is not None else []
        headers, footers = (_edge(archive, path, kind) for kind in ("header", "footer"))
        notes = [
            paragraph(text, kind="note")
            for part in ("word/footnotes.xml", "word/endnotes.xml")
            if part in names
            for note in read_xml(archive, part, path)
            if (text := _text(note))
        ]
        title = _declared_title(archive, path) if "docProps/core.xml" in names else ""
    return [*headers, *content, *notes, *footers], title


def _main_part(archive: zipfile.ZipFile, path: Path) -> str:
    for override in read_xml(archive, "[Content_Types].xml", path):
        kind = override.get("ContentType", "")
        if kind.endswith("main+xml") and ("wordprocessingml" in kind or "ms-word" in kind):
            return override.get("PartName", "").lstrip("/")
    return "word/document.xml"


def _heading_styles(styles: Element) -> dict[str, bool]:
    """Style ids that are headings, by outline level or by name, inherited from the style they are based on."""
    found: dict[str, bool] = {}
    parents: dict[str, str] = {}
    for style in styles.iterfind(f"{_W}style"):
        identity = style.get(f"{_W}styleId", "")
        name = style.find(f"{_W}name")
        level = style.find(f"{_W}pPr/{_W}outlineLvl")
        based = style.find(f"{_W}basedOn")
        named = name is not None and _HEADING_STYLE.match(name.get(f"{_W}val", "")) is not None
        leveled = level is not None and level.get(f"{_W}val", "9") < "9"
        found[identity] = named or leveled
        if based is not None:
            parents[identity] = based.get(f"{_W}val", "")
    return {identity: own or found.get(parents.get(identity, ""), False) for identity, own in found.items()}


def _blocks(container: Element, styles: dict[str, bool]) -> Iterator[DraftBlock]:
    for element in container:
        if element.tag == f"{_W}p":
            yield paragraph(_text(element), kind=_kind(element, styles))
        elif element.tag == f"{_W}tbl":
            rows = list(_rows(element))
            named = sum(row.find(f"{_W}trPr/{_W}tblHeader") is not None for row in rows)
            cells = ([_text(cell) for cell in row if cell.tag == f"{_W}tc"] for row in rows)
            yield table(cells, headers=named or None)
        elif element.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml", f"{_W}ins"):
            yield from _blocks(element, styles)


def _rows(element: Element) -> Iterator[Element]:
    """Yield the rows of a table; those of a table nested in a cell belong to that cell's text."""
    for child in element:
        if child.tag == f"{_W}tr":
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins"):
            yield from _rows(child)


def _kind(element: Element, styles: dict[str, bool]) -> BlockKind:
    style = element.find(f"{_W}pPr/{_W}pStyle")
    level = element.find(f"{_W}pPr/{_W}outlineLvl")
    leveled = level is not None and level.get(f"{_W}val", "9") < "9"
    return "heading" if leveled or (style is not None and styles.get(style.get(f"{_W}val", ""))) else "text"


def _text(element: Element) -> str:
    return tidy("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    for child in element:
        tag = child.tag
        if tag == f"{_W}t":
            yield child.text or ""
        elif tag in _SPACES:
            yield " "
        elif tag == f"{_W}noBreakHyphen":
            yield "-"
        elif tag not in _SKIPPED:
            yield from _pieces(child)
            if tag == f"{_W}p":
                yield " "


def _edge(archive: zipfile.ZipFile, path: Path, kind: str) -> list[DraftBlock]:
    """Headers or footers, each text once: a document keeps one for first, odd and even pages of every section."""
    texts: dict[str, None] = {}
    for name in sorted(archive.namelist()):
        found = _EDGES.fullmatch(name)
        if found and found[1] == kind:
            text = _text(read_xml(archive, name, path))
            if any(character.isalpha() for character in text):
                texts[text] = None
    return [paragraph(text, kind="note") for text in texts]


def _declared_title(archive: zipfile.ZipFile, path: Path) -> str:
    title = read_xml(archive, "docProps/core.xml", path).find("{http://purl.org/dc/elements/1.1/}title")
    return "" if title is None else title.text or ""
