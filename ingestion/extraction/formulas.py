"""Formulas as linear text: Office Math and MathML, whose elements have the same roles by other names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ingestion.extraction.runs import Look, Run, standing

# The role of an element by its local name, in Office Math and in MathML.
_ROLES = {
    "f": "fraction", "mfrac": "fraction", "sSup": "raised", "msup": "raised", "sSub": "lowered", "msub": "lowered",
    "sSubSup": "both", "msubsup": "both", "rad": "root", "msqrt": "root", "mroot": "root", "nary": "sum",
    "munderover": "both", "munder": "lowered", "mover": "raised", "limLow": "lowered", "limUpp": "raised",
    "d": "bracketed", "mfenced": "bracketed",
}  # fmt: skip
# Properties and notes, which hold no part of the formula.
_PASSED = re.compile(r"\w+Pr|annotation(-xml)?|del|moveFrom|instrText")
_ONE = re.compile(r"[\w.,%′']*|\([^()]*\)")
_FIGURE = re.compile(r"[+−-]?\d+")
_SIGNS = re.compile(r"\s*([=×·<>≤≥≈≠±])\s*")


def formula(element: Any) -> str:
    """Return the text of a formula on one line, such as "F = A/12".

    >>> from lxml import etree
    >>> formula(etree.fromstring("<math><mi>F</mi><mo>=</mo><mfrac><mi>A</mi><mn>12</mn></mfrac></math>"))
    'F = A/12'
    """
    return " ".join(_SIGNS.sub(r" \1 ", _text(element)).split())


def _text(element: Any) -> str:
    name = _name(element)
    parts = [_text(child) for child in element if isinstance(child.tag, str) and not _PASSED.fullmatch(_name(child))]
    match _ROLES.get(name), parts:
        case "fraction", [above, below]:
            return f"{_grouped(above)}/{_grouped(below)}"
        case "raised", [base, power]:
            return base + _shifted(power, Look.RAISED, "^")
        case "lowered", [base, index]:
            return base + _shifted(index, Look.LOWERED, "_")
        case "both", [base, index, power]:
            return base + _shifted(index, Look.LOWERED, "_") + _shifted(power, Look.RAISED, "^")
        case "root", _:
            return _root(name, parts)
        case "sum", [below, above, rest]:
            sign = _property(element, "chr") or "∫"
            return (
                sign + (below and _shifted(below, Look.LOWERED, "_")) + (above and f"^{_grouped(above)}") + f" {rest}"
            )
        case "bracketed", _:
            begin, end = _property(element, "begChr"), _property(element, "endChr")
            left = "(" if begin is None else begin
            return left + ", ".join(parts) + (")" if end is None else end)
    # White space between the elements of MathML is none of the formula.
    return "".join([element.text or "" if not parts else (element.text or "").strip(), *parts])


def _root(name: str, parts: Sequence[str]) -> str:
    if name == "rad":
        degree, base = parts[0] if len(parts) > 1 else "", parts[-1] if parts else ""
    elif name == "mroot" and len(parts) == 2:
        base, degree = parts
    else:
        base, degree = "".join(parts), ""
    return f"{standing([Run(degree, Look.RAISED)])}√{_grouped(base)}"


def _shifted(text: str, look: Look, sign: str) -> str:
    """Return an index or a power: figures as such, the rest behind its sign."""
    if _FIGURE.fullmatch(text):
        return standing([Run("0"), Run(text, look)])[1:]
    return sign + _grouped(text)


def _grouped(text: str) -> str:
    return text if _ONE.fullmatch(text) else f"({text})"


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _property(element: Any, name: str) -> str | None:
    """Return the value of a property of an Office Math element, or the attribute of MathML's."""
    own = {"begChr": "open", "endChr": "close"}.get(name)
    if own is not None and own in element.attrib:
        return str(element.attrib[own])
    for child in element:
        if _name(child).endswith("Pr"):
            for one in child:
                if _name(one) == name:
                    return next((str(value) for key, value in one.attrib.items() if key.endswith("val")), "")
    return None
