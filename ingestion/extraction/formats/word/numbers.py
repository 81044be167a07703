"""Numbers that Word counts itself: of lists, headings and notes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lxml import etree

from ingestion.extraction.formats.word.markup import FALLBACK, HIDDEN, NUMBER, W, value_of
from ingestion.extraction.formats.zip_container import Element, whole_number
from ingestion.extraction.layout.numerals import COUNTED, cyrillic, repeated

_PLACE = re.compile(r"%([1-9])")
_PROPERTIES = f"{W}pPr"
_LEVELS = 9
# Words of a language, as "Article One", are written as figures.
WRITERS: dict[str, Callable[[int], str]] = {
    "decimal": COUNTED["1"],
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": COUNTED["a"],
    "upperLetter": COUNTED["A"],
    "lowerRoman": COUNTED["i"],
    "upperRoman": COUNTED["I"],
    "russianLower": cyrillic,
    "russianUpper": lambda number: cyrillic(number).upper(),
    "chicago": lambda number: repeated("*†‡§", number),
    "numberInDash": lambda number: f"- {number} -",
    "decimalEnclosedParen": lambda number: f"({number})",
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    "none": lambda _: "",
}


@dataclass(frozen=True, slots=True)
class _Level:
    """Numbering of a level; `write` is None for bullets."""

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
    for element in body.iter(f"{W}p"):
        name, level = _place(element, by_style, lists)
        if name not in lists or level not in lists[name].levels:
            continue
        # The second copy of a text box is not read and must not count.
        is_copy = next(element.iterancestors(FALLBACK), None) is not None
        looks = [_is_hidden(text) for text in element.iter(f"{W}t") if text.text]
        gone = looks and all(looks)
        if is_copy or gone:
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
            run = etree.Element(f"{W}r")
            run.set(NUMBER, "NUMBER")
            etree.SubElement(run, f"{W}t").text = f"{written} "
            if looks:
                element.insert(0, run)


def _is_hidden(text: Element) -> bool:
    run = text.getparent()
    return run is not None and bool(run.get(HIDDEN))


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

    label = _PLACE.sub(number, own.pattern).strip()
    # Around a number that is not shown only words are.
    return label if own.write(1) or any(map(str.isalpha, label)) else ""


def _place(paragraph: Element, by_style: Mapping[str, tuple[str, int]], lists: Mapping[str, _List]) -> tuple[str, int]:
    """Return the list and the level a paragraph counts in, by itself or by its style.

    List "" or "0" for none.
    """
    if paragraph.find(_PROPERTIES) is None:
        return by_style.get("", ("", 0))
    style = value_of(paragraph, "pPr/pStyle")
    name, level = by_style.get(style, ("", 0))
    own = value_of(paragraph, "pPr/numPr/numId")
    written_level = value_of(paragraph, "pPr/numPr/ilvl")
    if own:
        return own, whole_number(written_level, 0)
    if name in lists:
        level = next((depth for depth, found in lists[name].levels.items() if style and found.style == style), level)
    return name, whole_number(written_level, level)


def _numbered_styles(styles: Element) -> dict[str, tuple[str, int]]:
    """Return the list and the level of every style that counts.

    Either may come from a style it is based on.
    """
    own = {style.get(f"{W}styleId", ""): style for style in styles.iterfind(f"{W}style")}

    def nearest(identity: str, path: str) -> str:
        seen: set[str] = set()
        while identity in own and identity not in seen:
            if value := value_of(own[identity], path):
                return value
            seen.add(identity)
            identity = value_of(own[identity], "basedOn")
        return ""

    names = {identity: nearest(identity, "pPr/numPr/numId") for identity in own}
    return {
        identity: (name, whole_number(nearest(identity, "pPr/numPr/ilvl"), 0))
        for identity, name in names.items()
        if name
    }


def _lists(numbering: Element, by_style: Mapping[str, tuple[str, int]]) -> dict[str, _List]:
    patterns = {each.get(f"{W}abstractNumId", ""): each for each in numbering.iterfind(f"{W}abstractNum")}
    named = {each.get(f"{W}numId", ""): value_of(each, "abstractNumId") for each in numbering.iterfind(f"{W}num")}
    lists: dict[str, _List] = {}
    for each in numbering.iterfind(f"{W}num"):
        counter = value_of(each, "abstractNumId")
        linked = value_of(patterns[counter], "numStyleLink") if counter in patterns else ""
        if linked in by_style:
            counter = named.get(by_style[linked][0], counter)
        if counter not in patterns:
            continue
        levels = {_depth(level): _level(level) for level in patterns[counter].iterfind(f"{W}lvl")}
        restarts_at: dict[int, int] = {}
        for override in each.iterfind(f"{W}lvlOverride"):
            depth = _depth(override)
            if (level := override.find(f"{W}lvl")) is not None:
                levels[depth] = _level(level)
            if start := value_of(override, "startOverride"):
                restarts_at[depth] = whole_number(start, 1)
        lists[each.get(f"{W}numId", "")] = _List(counter, levels, restarts_at)
    return lists


def _depth(element: Element) -> int:
    return whole_number(element.get(f"{W}ilvl"), 0)


def _level(level: Element) -> _Level:
    # The second of two alternatives is for programs that know no formats but the old ones.
    form = value_of(level, "numFmt") or next((one.get(f"{W}val", "") for one in level.iter(f"{W}numFmt")), "decimal")
    return _Level(
        start=whole_number(value_of(level, "start"), 1),
        write=None if form == "bullet" else WRITERS.get(form, str),
        pattern=value_of(level, "lvlText"),
        style=value_of(level, "pStyle"),
        restarts=value_of(level, "lvlRestart") != "0",
        legal=level.find(f"{W}isLgl") is not None,
    )
