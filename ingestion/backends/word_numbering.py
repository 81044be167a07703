"""The numbers that Word counts itself and keeps nowhere in the text: "Article 3", "(b)", "2.1."."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lxml import etree

from ingestion.backends.archive import Element
from ingestion.extraction.numerals import letters, roman

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
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
    """How a level counts; `write` is None for bullets and for formats that are words of a language."""

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
    """Nothing; puts the number of every automatically numbered paragraph of the body in front of its text."""
    by_style = {} if styles is None else _numbered_styles(styles)
    lists = _lists(numbering, by_style)
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    begun: set[tuple[str, int]] = set()
    for element in body.iter(f"{_W}p"):
        name, level = _place(element, by_style, lists)
        if name not in lists or level not in lists[name].levels or _is_copy(element):
            continue
        used = lists[name]
        count = counts[used.counter]
        _advance(count, used, level, first=(name, level) not in begun)
        begun.add((name, level))
        if written := _label(count, used, level):
            run = etree.Element(f"{_W}r")
            etree.SubElement(run, f"{_W}t").text = f"{written} "
            if any(text.text for text in element.iter(f"{_W}t")):
                element.insert(0, run)


def _is_copy(element: Element) -> bool:
    """Whether it lies in the second copy of a text box, which is not read and must not count."""
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
    """The list and the level a paragraph counts in, by itself or by its style; list "" or "0" for none."""
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
    for style in styles.iterfind(f"{_W}style"):
        identity = style.get(f"{_W}styleId", "")
        based[identity] = _value(style, "basedOn")
        lists[identity] = _value(style, "pPr/numPr/numId")
        levels[identity] = _value(style, "pPr/numPr/ilvl")
    return {
        style: (name, int(_nearest(style, levels, based) or 0))
        for style in based
        if (name := _nearest(style, lists, based))
    }


def _nearest(style: str, values: Mapping[str, str], based: Mapping[str, str]) -> str:
    """The style's value or that of its nearest ancestor with one; empty when there is none."""
    seen: set[str] = set()
    while style in based and style not in seen:
        if values[style]:
            return values[style]
        seen.add(style)
        style = based[style]
    return ""


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
        levels = {int(level.get(f"{_W}ilvl", "0")): _level(level) for level in patterns[counter].iterfind(f"{_W}lvl")}
        restarts_at: dict[int, int] = {}
        for override in each.iterfind(f"{_W}lvlOverride"):
            depth = int(override.get(f"{_W}ilvl", "0"))
            if (level := override.find(f"{_W}lvl")) is not None:
                levels[depth] = _level(level)
            if start := _value(override, "startOverride"):
                restarts_at[depth] = int(start)
        lists[each.get(f"{_W}numId", "")] = _List(counter, levels, restarts_at)
    return lists


def _level(level: Element) -> _Level:
    return _Level(
        start=int(_value(level, "start") or 1),
        write=_FORMATS.get(_value(level, "numFmt") or "decimal"),
        pattern=_value(level, "lvlText"),
        style=_value(level, "pStyle"),
        restarts=_value(level, "lvlRestart") != "0",
        legal=level.find(f"{_W}isLgl") is not None,
    )


def _value(element: Element, path: str) -> str:
    """The w:val of a descendant, named without its name space; empty when there is none."""
    found = element.find("/".join(_W + step for step in path.split("/")))
    return "" if found is None else found.get(f"{_W}val", "")
