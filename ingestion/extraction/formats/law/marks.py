"""Marks that law as XML prints without writing them: quotation marks, and the numbers of lists."""

from __future__ import annotations

import re

from ingestion.extraction.formats.law.schemes import Scheme, local_name
from ingestion.extraction.formats.zip_container import Element, whole_number
from ingestion.extraction.layout.numerals import COUNTED

_QUOTES = {"double": "“”", "single": "‘’", "none": ""}
_NUMBERED = COUNTED | {
    "alpha": COUNTED["a"],
    "alphaupper": COUNTED["A"],
    "roman": COUNTED["i"],
    "romanupper": COUNTED["I"],
}
_DECORATIONS = {"parens": "({})", "parenRight": "{})", "brackets": "[{}]", "none": "{}"}
_CODE = re.compile(r"[0-9A-Fa-f]{4}")


def quotation_marks(element: Element, scheme: Scheme) -> tuple[str, str]:
    """Return the marks around a quotation; empty where its text holds them."""
    usual = scheme.table.get("quotes", {}).get(local_name(element), "none")
    marks = _QUOTES.get(element.get("Format", usual), _QUOTES.get(usual, ""))
    return element.get("startQuote", marks[:1]), element.get("endQuote", marks[1:])


def character(element: Element, usual: str) -> str:
    """Return the quotation mark that an element gives by its code."""
    code = element.get("CODE", "")
    return chr(int(code, 16)) if _CODE.fullmatch(code) else usual


def counted(element: Element) -> str:
    """Return the number or bullet of an item of a list that counts itself; empty for others."""
    around = element.getparent()
    if around is None or local_name(around) not in ("ol", "ul", "OrderedList", "UnorderedList"):
        return ""
    decoration = around.get("Decoration", "")
    if local_name(around) in ("ul", "UnorderedList"):
        return "" if decoration == "none" else "•"
    start = whole_number(around.get("Start") or around.get("start"), 1)
    place = start + sum(1 for _ in element.itersiblings(str(element.tag), preceding=True))
    kind = around.get("Type") or around.get("type") or ""
    written = element.get("NumberOverride") or _NUMBERED.get(kind, str)(place)
    return _DECORATIONS.get(decoration, "{}.").format(written)
