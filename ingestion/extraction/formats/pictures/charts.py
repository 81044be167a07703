"""Text of the charts and diagrams (SmartArt) of Office Open XML, from the parts with their values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ingestion.extraction.assemble import DraftBlock, one_line, paragraph
from ingestion.extraction.formats.zip_container import Element, whole_number
from ingestion.extraction.number_format import format_value
from ingestion.extraction.table_text import table

_ROWS = "{*}cat", "{*}xVal"
_VALUES = "{*}val", "{*}yVal", "{*}bubbleSize"
_CACHES = "{*}strCache", "{*}numCache", "{*}strLit", "{*}numLit"
# No chart that people read has more.
_MOST_POINTS = 5_000
_MOST_NODES = 2_000
# Days since 1900 until the year 9999.
_LATEST_DAY = 2_958_465
# Connections of a diagram that say which node is under which.
_BELOW = (None, "parOf")
_NO_NODES = ("doc", "parTrans", "sibTrans", "pres")


def chart_blocks(root: Element, page: int = 1) -> list[DraftBlock]:
    """Return the title and the axes of a chart, and its values as a table with a column for each series."""
    chart = root.find("{*}chart")
    if chart is None:
        return []
    if root.find("{*}chartData") is not None:
        return _extended_chart(root, chart, page)
    named = [_text_of(title) for title in (chart.find("{*}title"), *chart.iterfind("{*}plotArea/*/{*}title"))]
    axes = {one.get("formatCode", "") for one in chart.iterfind("{*}plotArea/{*}valAx/{*}numFmt")}
    in_percent = len(axes) == 1 and "%" in axes.pop()
    series = [_series(one, "%" if in_percent else "") for one in chart.iterfind("{*}plotArea/*/{*}ser")]
    return [*_captions(named, page), *_table(series, page)]


def _extended_chart(root: Element, chart: Element, page: int) -> list[DraftBlock]:
    """Return the blocks of a chart of the kinds that came with Office 2016, such as a waterfall."""
    named = [_text_of(title) for title in (chart.find("{*}title"), *chart.iterfind("{*}plotArea/{*}axis/{*}title"))]
    names: dict[str, str] = {}
    for one in chart.iter("{*}series"):
        if (data := one.find("{*}dataId")) is not None:
            names[data.get("val", "")] = one_line(one.findtext("{*}tx/{*}txData/{*}v") or "")
    series = []
    for data in root.iterfind("{*}chartData/{*}data"):
        labels = _levels(data.findall("{*}strDim/{*}lvl"))
        values = _levels(data.findall("{*}numDim/{*}lvl"))
        series.append((names.get(data.get("id", ""), ""), labels, values))
    return [*_captions(named, page), *_table(series, page)]


def odf_chart_blocks(chart: Element) -> list[DraftBlock]:
    """Return the titles of a chart of OpenDocument, and the table of its values."""
    named = [_lines_of(title) for title in chart.iter("{*}title", "{*}subtitle")]
    rows = [[_lines_of(cell) for cell in row.iter("{*}table-cell")] for row in chart.iter("{*}table-row")]
    return [*_captions(named, 1), *([table(rows, 1, 1)] if rows else [])]


def _lines_of(element: Element) -> str:
    return one_line(" ".join("".join(map(str, line.itertext())) for line in element.iter("{*}p")))


def _captions(texts: Sequence[str], page: int) -> list[DraftBlock]:
    return [paragraph(text, page) for text in dict.fromkeys(texts) if text]


Series = tuple[str, dict[int, str], dict[int, str]]


def _series(element: Element, code: str) -> Series:
    """Return the name of a series, and by the places of its points their labels and their values.

    `code` is the format of values that have none.
    """
    labels = next((found for tag in _ROWS if (found := _points(element.find(tag)))), {})
    values: dict[int, str] = {}
    for tag in _VALUES:
        for place, value in _points(element.find(tag), code).items():
            values[place] = f"{values[place]}; {value}" if place in values else value
    name = element.find("{*}tx")
    return "" if name is None else " ".join(_points(name).values()) or _text_of(name), labels, values


def _table(series: Sequence[Series], page: int) -> Iterator[DraftBlock]:
    places = sorted({place for _, labels, values in series for place in (*labels, *values)})
    if not any(values for _, _, values in series):
        return
    labels = {place: text for _, own, _ in reversed(series) for place, text in own.items()}
    rows = [
        [labels.get(place, str(place + 1)), *(values.get(place, "") for _, _, values in series)] for place in places
    ]
    header = ["", *(name for name, _, _ in series)]
    yield table([header, *rows] if any(header) else rows, page, 1 if any(header) else None)


def _points(holder: Element | None, code: str = "") -> dict[int, str]:
    """Return the cached points of labels or values by their places; `code` is their format if none is set."""
    if holder is None:
        return {}
    levels = holder.findall("{*}multiLvlStrRef/{*}multiLvlStrCache/{*}lvl")
    if levels:
        return _levels(levels)
    cache = next((found for tag in _CACHES for found in holder.iter(tag)), None)
    if cache is None:
        value = holder.findtext("{*}v")
        return {0: one_line(value)} if value else {}
    stated = cache.findtext("{*}formatCode") or "General"
    return _cached(cache, code if stated == "General" else stated)


def _levels(levels: Sequence[Element]) -> dict[int, str]:
    """Return labels of several levels, the outermost first; an outer one goes on until the next."""
    found: dict[int, list[str]] = defaultdict(list)
    inner = sorted(_cached(levels[0], levels[0].get("formatCode", ""))) if levels else []
    for level in reversed(levels):
        cached = _cached(level, level.get("formatCode", ""))
        last = ""
        for place in inner:
            last = cached.get(place, "" if level is levels[0] else last)
            found[place] += [last] if last else []
    return {place: " – ".join(texts) for place, texts in found.items()}


def _cached(cache: Element, code: str) -> dict[int, str]:
    points: dict[int, str] = {}
    for point in cache.iterfind("{*}pt"):
        text = point.findtext("{*}v") or point.text or ""
        place = whole_number(point.get("idx"), len(points))
        if len(points) < _MOST_POINTS and text.strip():
            is_number = cache.tag.endswith(("numCache", "numLit")) or "formatCode" in cache.attrib
            points[place] = _printed(text, point.get("formatCode") or code) if is_number else one_line(text)
    return points


def _printed(text: str, code: str) -> str:
    """Return a value as a chart labels it."""
    try:
        value = float(text)
    except ValueError:
        return one_line(text)
    from openpyxl.styles.numbers import is_date_format
    from openpyxl.utils.datetime import from_excel

    if is_date_format(code) and 0 < value < _LATEST_DAY:
        return format_value(from_excel(value), code)
    return format_value(value, code or "General")


def _text_of(element: Element | None) -> str:
    """Return the text in an element, whose paragraphs are parted."""
    if element is None:
        return ""
    lines = ("".join(text.text or "" for text in line.iter("{*}t")) for line in element.iter("{*}p"))
    return one_line(" ".join(lines)) or one_line(element.findtext(".//{*}strCache/{*}pt/{*}v") or "")


def diagram_blocks(root: Element, page: int = 1) -> list[DraftBlock]:
    """Return the texts of a diagram, a node a paragraph, each before those under it."""
    nodes = {node.get("modelId", ""): node for node in root.iterfind("{*}ptLst/{*}pt")}
    below: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for link in root.iterfind("{*}cxnLst/{*}cxn"):
        if link.get("type") in _BELOW and link.get("destId", "") in nodes:
            below[link.get("srcId", "")].append((whole_number(link.get("srcOrd"), 0), link.get("destId", "")))
    order: dict[str, None] = {}
    waiting = [name for name, node in nodes.items() if node.get("type") == "doc"]
    while waiting and len(order) < _MOST_NODES:
        name = waiting.pop()
        if name not in order:
            order[name] = None
            waiting += [child for _, child in sorted(below[name], reverse=True)]
    texts = (_text_of(nodes[name].find("{*}t")) for name in order if nodes[name].get("type") not in _NO_NODES)
    return [paragraph(text, page) for text in texts if text]
