"""Numbers of lists, quotation marks and what is filled in at forms, which browsers write into a page."""

from __future__ import annotations

import re
from typing import TypeAlias

from lxml import html

from ingestion.extraction.layout.numerals import COUNTED, greek
from ingestion.web.html import is_hidden, parse, text_of

Element: TypeAlias = html.HtmlElement

# An attribute of ours on an item of a list: its number.
NUMBER = "data-number"
_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([^;]{1,99})", re.IGNORECASE)
_PLACES = ("inside", "outside")
_USUAL = ("inherit", "initial", "unset", "revert")
_BULLETS = ("none", "disc", "circle", "square")
# Controls whose value stands on the page.
_TYPED = ("", "text", "number", "date", "email", "tel", "url")
# Names of style sheets; browsers count with figures where they know none.
_WRITERS = COUNTED | {
    "decimal": COUNTED["1"],
    "lower-alpha": COUNTED["a"],
    "lower-latin": COUNTED["a"],
    "upper-alpha": COUNTED["A"],
    "upper-latin": COUNTED["A"],
    "lower-roman": COUNTED["i"],
    "upper-roman": COUNTED["I"],
    "decimal-leading-zero": lambda number: f"{number:02d}",
    "lower-greek": greek,
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
    """Write numbers of lists, marks of quotations and what is filled in at a form into the text of a page."""
    _open_frames(root)
    for ordered in root.iter("ol"):
        _write_numbers(ordered)
    for item in root.iter("li"):
        parent = item.getparent()
        if parent is not None and parent.tag == "ul" and _kind(parent) != "none" and _begins_with_words(item):
            item.text = f"• {(item.text or '').lstrip()}"
    for quotation in root.iter("q"):
        _enclose(quotation, *_marks(quotation))
    for brackets in list(root.iter("rp")):
        brackets.drop_tree()
    for above in root.iter("rt"):
        # Said beside what it is above, as browsers without such print do.
        _enclose(above, "(", ")")
    for control in list(root.iter("input", "textarea", "select")):
        _write_control(control)
    for drawn in list(root.iter("svg")):
        if words := list(filter(None, map(text_of, drawn.iter("text")))):
            _put_behind(drawn, "p", "; ".join(words))


def _open_frames(root: Element) -> None:
    """Put the page that a frame holds itself behind it."""
    for frame in list(root.iter("iframe")):
        inside = parse(written) if (written := frame.get("srcdoc")) else None
        body = None if inside is None else inside.find(".//body")
        if body is not None:
            _put_behind(frame, "div", body.text or "").extend(list(body))


def _put_behind(element: Element, tag: str, text: str) -> Element:
    """Return a new element with this text behind another, as visible as that."""
    made = html.Element(tag, {name: element.attrib[name] for name in ("style", "hidden") if name in element.attrib})
    made.text = text
    made.tail, element.tail = element.tail, None
    element.addnext(made)
    return made


def _write_control(control: Element) -> None:
    kind = control.get("type", "").lower()
    if control.tag == "input" and kind in ("checkbox", "radio"):
        written = "[x]" if control.get("checked") is not None else "[ ]"
    elif control.tag == "input":
        written = control.get("value") or "" if kind in _TYPED else ""
    elif control.tag == "select":
        written = " ".join(one.text or "" for one in control.iter("option") if one.get("selected") is not None)
    else:
        written = control.text or ""
    if written.strip() and control.getparent() is not None:
        control.tail = f" {written.strip()} {(control.tail or '').lstrip()}"
        control.drop_tree()


def _kind(listed: Element) -> str:
    """Return how a list or item is numbered, as a style sheet says it; "" if none does."""
    declared = _STYLE.findall(listed.get("style", "")[:500])
    words = declared[-1].lower().replace("!important", "").split() if declared else []
    kinds = [word for word in words if word not in _PLACES and not word.startswith("url(")]
    if not kinds or kinds[0] in _USUAL:
        return ""
    # A sign in quotation marks is a bullet.
    return "none" if kinds[0].startswith(("'", '"')) or "none" in kinds else kinds[0]


def _write_numbers(ordered: Element) -> None:
    kind = _kind(ordered) or ordered.get("type", "1")
    if kind in _BULLETS:
        return
    # What is not displayed does not count.
    items = [item for item in ordered if item.tag == "li" and not is_hidden(item)]
    step = -1 if ordered.get("reversed") is not None else 1
    number = _stated(ordered.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _stated(item.get("value"), number)
        own = _kind(item) or item.get("type") or kind
        if own not in _BULLETS:
            item.set(NUMBER, f"{_WRITERS.get(own, str)(number) if number > 0 else number}.")
        number += step


def _begins_with_words(item: Element) -> bool:
    """Return whether an item has words before the list within it."""
    first = next(iter(item), None)
    return bool((item.text or "").strip()) or (first is not None and first.tag not in ("ul", "ol"))


def _stated(number: str | None, usual: int) -> int:
    return int(number) if number and _WHOLE.fullmatch(number) else usual


def _marks(quotation: Element) -> tuple[str, str]:
    """Return the marks around a quotation in the language of its page."""
    languages = (one.get("lang") or one.get("xml:lang") for one in (quotation, *quotation.iterancestors()))
    language = next(filter(None, languages), "en")[:2].lower()
    marks = _QUOTES.get(language, "“”")
    begin, _, end = marks.partition("|") if "|" in marks else (marks[0], "", marks[1])
    return begin, end


def _enclose(element: Element, begin: str, end: str) -> None:
    element.text = f"{begin}{element.text or ''}"
    if len(element):
        element[-1].tail = f"{element[-1].tail or ''}{end}"
    else:
        element.text += end
