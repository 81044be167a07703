"""Numbers of lists, quotation marks and boxes of forms, which browsers write into a page."""

from __future__ import annotations

import re
from typing import TypeAlias

from lxml import html

from ingestion.extraction.layout.numerals import COUNTED

Element: TypeAlias = html.HtmlElement

_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*(?:[\w-]+\s+)?(none|[a-z-]+)", re.IGNORECASE)
# Names of style sheets.
_WRITERS = COUNTED | {
    "decimal": COUNTED["1"],
    "lower-alpha": COUNTED["a"],
    "lower-latin": COUNTED["a"],
    "upper-alpha": COUNTED["A"],
    "upper-latin": COUNTED["A"],
    "lower-roman": COUNTED["i"],
    "upper-roman": COUNTED["I"],
}
_WHOLE = re.compile(r"\s*-?\d{1,6}\s*")
# Quotation marks by language; English ones for others.
_QUOTES = {
    language: marks
    for marks, languages in {
        "„“": "de bg cs et hr is lt lv mk sk sl sq sr",
        "„”": "hu pl ro",
        "«»": "ca el es eu gl hy it no nb nn pt ru uk fa ar",
        "«\xa0|\xa0»": "fr",
        "»«": "da",
        "””": "fi sv",
    }.items()
    for language in languages.split()
}


def write_out(root: Element) -> None:
    """Write numbers of lists, marks of quotations and ticks of boxes into the text of a page."""
    for ordered in root.iter("ol"):
        _write_numbers(ordered)
    for item in root.iter("li"):
        parent = item.getparent()
        if parent is not None and parent.tag == "ul" and _has_bullet(parent) and _begins_with_words(item):
            item.text = f"• {(item.text or '').lstrip()}"
    for quotation in root.iter("q"):
        _write_marks(quotation)
    for box in list(root.iter("input")):
        if box.get("type", "").lower() in ("checkbox", "radio") and box.getparent() is not None:
            box.tail = f"{'[x]' if box.get('checked') is not None else '[ ]'} {(box.tail or '').lstrip()}"
            box.drop_tree()


def _write_numbers(ordered: Element) -> None:
    style = _STYLE.search(ordered.get("style", "")[:500])
    kind = style[1].lower() if style else ordered.get("type", "1")
    if kind not in _WRITERS and kind != "inherit":
        return
    items = [item for item in ordered if item.tag == "li"]
    step = -1 if ordered.get("reversed") is not None else 1
    number = _stated(ordered.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _stated(item.get("value"), number)
        own = _STYLE.search(item.get("style", "")[:500])
        if own is None or own[1] != "none":
            written = _WRITERS.get(kind, str)(number) if number > 0 else str(number)
            item.text = f"{written}. {(item.text or '').lstrip()}"
        number += step


def _has_bullet(unordered: Element) -> bool:
    style = _STYLE.search(unordered.get("style", "")[:500])
    return style is None or style[1] != "none"


def _begins_with_words(item: Element) -> bool:
    """Return whether an item has words before the list within it."""
    first = next(iter(item), None)
    return bool((item.text or "").strip()) or (first is not None and first.tag not in ("ul", "ol"))


def _stated(number: str | None, usual: int) -> int:
    return int(number) if number and _WHOLE.fullmatch(number) else usual


def _write_marks(quotation: Element) -> None:
    languages = (one.get("lang") or one.get("xml:lang") for one in (quotation, *quotation.iterancestors()))
    language = next(filter(None, languages), "en")[:2].lower()
    marks = _QUOTES.get(language, "“”")
    begin, end = marks.split("|") if "|" in marks else (marks[0], marks[1])
    quotation.text = f"{begin}{quotation.text or ''}"
    if len(quotation):
        quotation[-1].tail = f"{quotation[-1].tail or ''}{end}"
    else:
        quotation.text += end
