"""ODT, read from its content.xml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph, unread_comments
from ingestion.extraction.formats.pictures.package_pictures import name_flat_pictures, odf_pictures
from ingestion.extraction.formats.refusals import damaged, locked
from ingestion.extraction.formats.zip_container import Element, open_package, parse_xml, parts_outside, whole_number
from ingestion.extraction.formulas import formula
from ingestion.extraction.layout.numerals import COUNTED, cyrillic, greek
from ingestion.extraction.runs import PLAIN, Look, Run, left_out, note_mark, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SPACES = {f"{_TEXT}tab", f"{_TEXT}line-break"}
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_FORM = "{urn:oasis:names:tc:opendocument:xmlns:form:1.0}"
_FIELD = "{urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
# Text boxes and drawn shapes stand behind the paragraph that they are fixed to.
_SHAPES = "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path", "connector", "caption"
_BOXES = tuple(f"{_DRAW}{name}" for name in ("text-box", *_SHAPES))
# An attribute of ours: the number of a paragraph.
_NUMBER = "number"
# Deleted words, notes (which have a place of their own), and what programs keep for themselves.
_SKIPPED = {
    f"{_TEXT}tracked-changes",
    f"{_TEXT}note",
    f"{_TEXT}placeholder",
    f"{_OFFICE}annotation",
    f"{_OFFICE}forms",
    *(f"{_TEXT}{kind}-source" for kind in ("table-of-content", "alphabetical-index", "illustration-index")),
}
_NO_WORDS = {*_SKIPPED, *_BOXES, f"{_SVG}title", f"{_SVG}desc", f"{_OFFICE}binary-data"}
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_LINES = (f"{_STYLE}text-line-through-style", f"{_STYLE}text-line-through-type")
# Elements that have a style, and its family.
_FAMILIES = {f"{_TEXT}span": "text", f"{_TEXT}p": "paragraph", f"{_TEXT}h": "paragraph"}
_MOST_STYLES = 20
# What each setting of a style decides on.
_DECIDED = (Look.STRUCK, Look.HIDDEN, Look.RAISED | Look.LOWERED)
_HREF = "{http://www.w3.org/1999/xlink}href"
# Elements with all of the pictures within them.
_PICTURED = (f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table", f"{_DRAW}frame")
# What each style decides on and the look that it gives, by family and name.
Looks = Callable[[str, str], tuple[Look, Look]]
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_CELL, _REPEATED = f"{_TABLE}table-cell", f"{_TABLE}number-columns-repeated"
_SPANNED = (f"{_TABLE}number-columns-spanned", f"{_TABLE}number-rows-spanned")
_DISPLAY, _IS_HIDDEN, _VISIBILITY = f"{_TEXT}display", f"{_TEXT}is-hidden", f"{_TABLE}visibility"
_STYLED, _GOING_ON = f"{_TEXT}style-name", f"{_TEXT}continue-numbering"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_MANIFEST = "META-INF/manifest.xml"
_MOST_SPACES = 100
_MOST_REPEATED = 100


def extract_odt(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an ODT, each note after the paragraph with its mark, and its declared title."""
    with open_package(path, limits) as package:
        if _MANIFEST in package.names and b"encryption-data" in package.read(_MANIFEST):
            raise locked(path)
        content, meta, shared = package.xml("content.xml"), package.find("meta.xml"), package.find("styles.xml")
        for drawn in content.iter(f"{_DRAW}object"):
            _write_formula(drawn, package.find(f"{drawn.get(_HREF, '').removeprefix('./')}/content.xml"))
    return _draft([part for part in (shared, content) if part is not None], content, meta)


def extract_flat(path: Path) -> Draft:
    """Return the blocks and the declared title of an ODT that is one XML file; Refusal if it is damaged."""
    root = parse_xml(path.read_bytes())
    if root is None:
        raise damaged(path, "it is not valid XML")
    for drawn in root.iter(f"{_DRAW}object"):
        _write_formula(drawn, next(iter(drawn), None))
    name_flat_pictures(root)
    return _draft([root], root, root)


def _write_formula(drawn: Element, written: Element | None) -> None:
    """Put the text of a formula in the place of its object."""
    if written is not None and etree.QName(written).localname == "math":
        drawn.text, drawn.tag = f" {formula(written)} ", f"{_TEXT}span"
        # The picture of the formula, for other programs.
        for child in [*drawn, *drawn.itersiblings(f"{_DRAW}image")]:
            child.getparent().remove(child)


def _draft(parts: Sequence[Element], content: Element, meta: Element | None) -> Draft:
    """Return the draft of a document, whose styles are in `parts`."""
    looks = _looks(parts)
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    blocks, comments = [], 0
    if body is not None:
        for deleted in list(body.iter(f"{_TEXT}tracked-changes")):
            deleted.clear()
        _write_numbers(body, parts)
        _write_controls(body)
        edges = (list(_edge(parts, kind, looks)) for kind in ("header", "footer"))
        headers, footers = edges
        blocks = [*headers, *_blocks(body, looks), *footers]
        comments = sum(1 for _ in body.iter(f"{_OFFICE}annotation"))
    title = meta.findtext(".//{http://purl.org/dc/elements/1.1/}title") if meta is not None else ""
    return Draft(blocks, title or "", warnings=unread_comments(comments))


def _edge(parts: Sequence[Element], kind: str, looks: Looks) -> Iterator[DraftBlock]:
    """Yield the headers or footers of the pages, each text once."""
    seen: set[str] = set()
    for edge in (
        one for part in parts for one in part.iter(*(f"{_STYLE}{kind}{of}" for of in ("", "-left", "-first")))
    ):
        made = paragraph(_runs(edge, looks), kind="note")
        text = one_line(made.lines[0].text)
        if edge.get(f"{_STYLE}display") != "false" and text not in seen and any(map(str.isalpha, text)):
            seen.add(text)
            yield made


def _write_controls(body: Element) -> None:
    """Put what is filled in at the controls of a form in the places where they are drawn."""
    drawn = list(body.iter(f"{_DRAW}control"))
    names = ("{http://www.w3.org/XML/1998/namespace}id", f"{_FORM}id")
    forms = body.find(f"{_OFFICE}forms")
    controls = {one.get(name): one for one in (() if forms is None or not drawn else forms.iter()) for name in names}
    for place in drawn:
        control = controls.get(place.get(f"{_DRAW}control"))
        place.text = "" if control is None else f" {_filled_in(control)} "


def _marked_field(field: Element) -> str:
    """Return the tick or the entry at a field of a form that comes from Word."""
    values: dict[str, list[str]] = {}
    for one in field:
        values.setdefault(one.get(f"{_FIELD}name", ""), []).append(one.get(f"{_FIELD}value", ""))
    if "CHECKBOX" in field.get(f"{_FIELD}type", ""):
        return "[x] " if values.get("Checkbox_Checked") == ["true"] else "[ ] "
    entries, chosen = values.get("Dropdown_ListEntry", []), whole_number(values.get("Dropdown_Selected", [""])[0], 0)
    return entries[chosen] if 0 <= chosen < len(entries) else ""


def _filled_in(control: Element) -> str:
    kind = str(control.tag).removeprefix(_FORM)
    if kind in ("checkbox", "radio"):
        state = control.get(f"{_FORM}current-state") or control.get(f"{_FORM}state")
        ticked = state == "checked" or control.get(f"{_FORM}current-selected") == "true"
        return f"{'[x]' if ticked else '[ ]'} {control.get(f'{_FORM}label', '')}"
    if kind == "listbox":
        options = control.iterfind(f"{_FORM}option[@{_FORM}current-selected='true']")
        return ", ".join(option.get(f"{_FORM}label", "") for option in options)
    return "" if kind == "button" else control.get(f"{_FORM}current-value") or control.get(f"{_FORM}value") or ""


@dataclass(frozen=True, slots=True)
class _ListLevel:
    """How a level of a list is numbered; `write` is None for bullets and for levels without a number."""

    write: Callable[[int], str] | None
    before: str
    after: str
    start: int
    shown: int


def _write_numbers(body: Element, parts: Iterable[Element]) -> None:
    """Put the number of every numbered item of a list and heading in front of its text."""
    styles: dict[str, dict[int, _ListLevel]] = {}
    outline: dict[int, _ListLevel] = {}
    for part in parts:
        for style in part.iter(f"{_TEXT}list-style"):
            styles[style.get(f"{_STYLE}name", "")] = _levels(style)
        for style in part.iter(f"{_TEXT}outline-style"):
            outline = _levels(style)
    named = _list_styles(parts)
    counts: dict[str, dict[int, int]] = {}
    for listed in body.iter(f"{_TEXT}list"):
        if next(listed.iterancestors(f"{_TEXT}list"), None) is None:
            first = next(listed.iter(f"{_TEXT}p", f"{_TEXT}h"), None)
            name = listed.get(f"{_TEXT}style-name") or named.get("" if first is None else first.get(_STYLED, ""), "")
            going_on = name if listed.get(_GOING_ON) == "true" else f"#{listed.get(f'{_TEXT}continue-list', '')}"
            count = counts.get(going_on, {})
            counts[name] = counts[f"#{listed.get(_ID, name)}"] = count
            _number_items(listed, styles, styles.get(name, {}), count, 1)
    count = {}
    for heading in body.iter(f"{_TEXT}h"):
        level = whole_number(heading.get(f"{_TEXT}outline-level"), 1)
        alone = next(heading.iterancestors(f"{_TEXT}list"), None) is None
        restarted = heading.get(f"{_TEXT}restart-numbering") == "true"
        start = heading.get(f"{_TEXT}start-value", "1") if restarted else None
        if alone and heading.get(f"{_TEXT}is-list-header") != "true":
            heading.set(_NUMBER, _next_number(outline, count, level, start))


def _list_styles(parts: Iterable[Element]) -> dict[str, str]:
    """Return the styles of lists that those of paragraphs name."""
    styles = (style for part in parts for style in part.iter(f"{_STYLE}style"))
    return {style.get(f"{_STYLE}name", ""): style.get(f"{_STYLE}list-style-name", "") for style in styles}


def _levels(style: Element) -> dict[int, _ListLevel]:
    levels = {}
    for level in style:
        format_ = level.get(f"{_STYLE}num-format", "")
        levels[whole_number(level.get(f"{_TEXT}level"), 1)] = _ListLevel(
            _writer(format_) if "bullet" not in level.tag else None,
            level.get(f"{_STYLE}num-prefix", ""),
            level.get(f"{_STYLE}num-suffix", ""),
            whole_number(level.get(f"{_TEXT}start-value"), 1),
            whole_number(level.get(f"{_TEXT}display-levels"), 1),
        )
    return levels


def _writer(format_: str) -> Callable[[int], str] | None:
    """Return what writes the numbers of a format; those of other scripts are named by their first letters."""
    scripts = {"α": greek, "а": cyrillic}
    write = scripts.get(format_[:1].lower())
    if write is not None and format_[:1].isupper():
        return lambda number: write(number).upper()
    return write or COUNTED.get(format_) or (str if format_ else None)


def _number_items(
    listed: Element,
    styles: Mapping[str, dict[int, _ListLevel]],
    levels: Mapping[int, _ListLevel],
    count: dict[int, int],
    depth: int,
) -> None:
    for item in listed.iterfind(f"{_TEXT}list-item"):
        words = next((child for child in item if child.tag in (f"{_TEXT}p", f"{_TEXT}h")), None)
        if words is not None:
            words.set(_NUMBER, _next_number(levels, count, depth, item.get(f"{_TEXT}start-value")))
        for inner in item.iterfind(f"{_TEXT}list"):
            own = styles.get(inner.get(f"{_TEXT}style-name", ""), levels)
            if words is not None and inner.get(_GOING_ON) != "true":
                _forget_below(count, depth)
            _number_items(inner, styles, own, count, depth + 1)


def _next_number(levels: Mapping[int, _ListLevel], count: dict[int, int], depth: int, stated: str | None) -> str:
    """Count an item and return its number as shown, with those of the levels above; "" without one."""
    level = levels.get(depth)
    if level is None:
        return ""
    count[depth] = whole_number(stated, count[depth] + 1 if depth in count else level.start)
    _forget_below(count, depth)
    if level.write is None:
        return ""
    above = range(max(1, depth - level.shown + 1), depth)
    shown = [levels[one].write for one in above if one in levels and one in count]
    numbers = [write(count[one]) for one, write in zip(above, shown, strict=False) if write is not None]
    return f"{level.before}{'.'.join([*numbers, level.write(count[depth])])}{level.after}"


def _forget_below(count: dict[int, int], depth: int) -> None:
    for deeper in [one for one in count if one > depth]:
        del count[deeper]


def _looks(parts: Iterable[Element]) -> Looks:
    """Return what decides on a style: the style itself, or that which it is based on."""
    own = {
        (style.get(f"{_STYLE}family", ""), style.get(f"{_STYLE}name", "")): style
        for part in parts
        for style in part.iter(f"{_STYLE}style")
    }

    @cache
    def looked_up(family: str, name: str) -> tuple[Look, Look]:
        settings: list[Look | None] = [None, None, None]
        for _ in range(_MOST_STYLES):
            style = own.get((family, name))
            if style is None or None not in settings:
                break
            found = style.find(f"{_STYLE}text-properties")
            if found is not None:
                pairs = zip(settings, _settings(found), strict=True)
                settings = [above if nearer is None else nearer for nearer, above in pairs]
            name = style.get(f"{_STYLE}parent-style-name", "")
        decided = [kind for kind, setting in zip(_DECIDED, settings, strict=True) if setting is not None]
        return reduce(or_, decided, PLAIN), reduce(or_, filter(None, settings), PLAIN)

    return looked_up


def _settings(properties: Element) -> Iterator[Look | None]:
    """Yield whether a style strikes, whether it hides, and whether it moves text; None where it is silent."""
    lines = [line for name in _LINES if (line := properties.get(name)) is not None]
    yield (Look.PLAIN if "none" in lines else Look.STRUCK) if lines else None
    display = properties.get(f"{_TEXT}display")
    yield None if display is None else Look.HIDDEN if display == "none" else Look.PLAIN
    position = properties.get(f"{_STYLE}text-position")
    if position is None:
        yield None
    elif position.startswith(("super", "sub")):
        yield Look.RAISED if position.startswith("super") else Look.LOWERED
    else:
        # A share of the size, as "33% 58%" or "-33% 58%".
        yield Look.PLAIN if position.startswith("0") else Look.LOWERED if position.startswith("-") else Look.RAISED


def _blocks(container: Element, looks: Looks) -> Iterator[DraftBlock]:
    for element in container:
        tag = element.tag
        if tag == f"{_TEXT}h":
            yield paragraph(_runs(element, looks), kind="heading")
        elif tag == f"{_TEXT}p":
            yield paragraph(_runs(element, looks))
        elif tag == f"{_TABLE}table":
            if (cell := _only_cell(element)) is not None:
                # A frame around what stands in it.
                yield from _blocks(cell, looks)
                continue
            named = sum(1 for group in element.iter(f"{_TABLE}table-header-rows") for _ in _rows(group))
            yield table_block(table_of([list(_cells(row, looks)) for row in _rows(element)], named or None))
        elif isinstance(tag, str) and tag not in _SKIPPED:
            yield from [paragraph(_runs(element, looks))] if _is_hidden(element) else _blocks(element, looks)
        if tag in (f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table"):
            for box in parts_outside(element, _BOXES, *_BOXES):
                yield from _blocks(box, looks)
            for note in parts_outside(element, _BOXES, f"{_TEXT}note"):
                runs = (run for body in note.iterfind(f"{_TEXT}note-body") for run in _runs(body, looks))
                yield paragraph([_mark_of(note), Run(" "), *runs], kind="note")
        yield from odf_pictures(element) if tag in _PICTURED else ()


def _only_cell(table: Element) -> Element | None:
    """Return the cell of a table that has no other."""
    cells = [cell for row in _rows(table) for cell in row.iterfind(f"{_TABLE}table-cell")]
    return cells[0] if len(cells) == 1 else None


def _is_hidden(element: Element) -> bool:
    """Return whether an element says itself that it is not shown, a paragraph by a sign in it."""
    if element.get(_IS_HIDDEN) == "true" or element.get(_DISPLAY) == "none":
        return True
    if element.tag in _PARAGRAPHS:
        return any(sign.get(_IS_HIDDEN) == "true" for sign in element.iter(f"{_TEXT}hidden-paragraph"))
    return element.get(_VISIBILITY, "visible") != "visible"


def _mark_of(note: Element) -> Run:
    return note_mark(one_line(note.findtext(f"{_TEXT}note-citation") or ""))


def _rows(element: Element) -> Iterator[Element]:
    """Yield the rows of a table; the text of a table nested in a cell belongs to that cell."""
    for child in element:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag != f"{_TABLE}table-cell":
            yield from _rows(child)


def _cells(row: Element, looks: Looks) -> Iterator[GridCell]:
    look = Look.HIDDEN if _is_hidden(row) else Look.PLAIN
    for child in row:
        if child.tag == _CELL:
            columns, rows = (whole_number(child.get(name), 1) for name in _SPANNED)
            runs = list(_runs(child, looks, look))
            text = one_line(standing(runs))
            # Programs write one empty cell for all that are left of a row.
            times = whole_number(child.get(_REPEATED), 1)
            made = GridCell(text, columns, rows, left_out=left_out(runs))
            yield from (made for _ in range(min(times, _MOST_REPEATED) if text else min(times, 1)))


def _runs(element: Element, looks: Looks, look: Look = Look.PLAIN) -> Iterator[Run]:
    """Yield the runs of an element, whose look adds to that of the elements around it."""
    look = _look_within(element, looks, look)
    if number := element.get(_NUMBER):
        yield Run(f"{number} ", look | Look.NUMBER)
    if element.text:
        yield Run(element.text, look)
    for child in element:
        yield from _written(child, looks, look)
        if child.tail:
            yield Run(child.tail, look)


def _look_within(element: Element, looks: Looks, look: Look) -> Look:
    """Return the look of the words of an element, from that of the words around it."""
    name = element.get(_STYLED)
    if name and (family := _FAMILIES.get(str(element.tag))):
        decided, given = looks(family, name)
        look = look if decided is PLAIN else look & ~decided | given
    return look | Look.HIDDEN if _is_hidden(element) else look


def _written(child: Element, looks: Looks, look: Look) -> Iterator[Run]:
    """Yield the runs of an element within another."""
    if child.tag in _PARAGRAPHS:
        yield from _runs(child, looks, look)
        yield Run(" ")
    elif child.tag == f"{_TEXT}s":
        yield Run(" " * min(_MOST_SPACES, whole_number(child.get(f"{_TEXT}c"), 1)), look)
    elif child.tag == f"{_TEXT}note":
        yield _mark_of(child)
    elif child.tag in _SPACES:
        yield Run(" ", look)
    elif child.tag == f"{_FIELD}fieldmark":
        yield Run(_marked_field(child), look)
    elif child.tag == f"{_TEXT}ruby-text":
        # Said beside what it is above, as pages without such print do.
        yield from [Run("(", look), *_runs(child, looks, look), Run(")", look)]
    elif isinstance(child.tag, str) and child.tag not in _NO_WORDS:
        yield from _runs(child, looks, look)
