"""Style sheets of a page, as far as they decide on its words: hidden, struck, raised, numbered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cssselect import ExpressionError, SelectorError
from lxml import html

from ingestion.web.html import HIDDEN

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Rules for other media than the screen; those for the screen are read as if they stood alone.
_MEDIA = re.compile(r"@media([^{};]{0,200})\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}")
_RULE = re.compile(r"([^{}@;]{1,1000})\{([^{}]{0,5000})\}")
_DECIDES = re.compile(rf"{HIDDEN.pattern}|line-through|vertical-align\s*:\s*su|list-style|content\s*:", re.IGNORECASE)
_BEFORE = re.compile(r"::?before\s*$", re.IGNORECASE)
_CONTENT = re.compile(r"content\s*:\s*([^;}]{1,200})", re.IGNORECASE)
_PIECE = re.compile(r"attr\(\s*([\w-]{1,50})\s*\)|\"([^\"\\]{0,100})\"|'([^'\\]{0,100})'")
_MOST_RULES, _MOST_CHARACTERS = 500, 300_000
_STATE = re.compile(r":(?:hover|focus|active|target|checked|not|where|is|has)|::?after|\[aria-|>>>")


def inline_styles(root: html.HtmlElement, linked: str = "") -> None:
    """Write what the style sheets of a page decide to its elements, and the text that they set before.

    `linked` are those to which it links; its own prevail.
    """
    sheets = " ".join([linked, *(style.text or "" for style in root.iter("style"))])[:_MOST_CHARACTERS]
    if not _DECIDES.search(sheets):
        return
    for selector, declared in _rules(sheets):
        before = _BEFORE.search(selector)
        try:
            found = root.cssselect(_BEFORE.sub("", selector) or "*")
        except (SelectorError, ExpressionError):
            continue
        for element in found:
            if before:
                _set_before(element, declared)
            else:
                # Before its own style, which prevails.
                element.set("style", f"{declared}; {element.get('style', '')}")


def _rules(sheets: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors, one by one, and the declarations of rules that decide on words."""
    plain = _MEDIA.sub(
        lambda found: found[2] if re.search(r"\b(?:screen|all)\b", found[1]) else " ", _COMMENT.sub(" ", sheets)
    )
    read = 0
    for selectors, declared in _RULE.findall(plain):
        if _DECIDES.search(declared):
            for selector in selectors.split(","):
                read += 1
                if read > _MOST_RULES:
                    return
                if not _STATE.search(selector):
                    yield selector.strip(), declared


def _set_before(element: html.HtmlElement, declared: str) -> None:
    """Put the words and attributes that a style sets before an element into it."""
    content = _CONTENT.search(declared)
    if content is None:
        return
    text = "".join(element.get(name, "") if name else one or other for name, one, other in _PIECE.findall(content[1]))
    if any(map(str.isalnum, text)):
        element.text = f"{text}{element.text or ''}"
