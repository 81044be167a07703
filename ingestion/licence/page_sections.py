"""The text and footer of a page, and the link to its site's terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

from ingestion.licence.table import load_licences
from ingestion.web.html import HIDDEN
from ingestion.web.urls import registered_name
from rag_engine.text.folding import fold_in_place

HEAD, FOOT = 1_000, 1_000
_SCRIPTS = ("script", "style", "noscript", "template", "svg")
BREAKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre",
    "section", "table", "td", "th", "tr", "ul",
))  # fmt: skip
_LINKS = 2_000
_MOST_BOXES = 300
_FOOTERS = "//footer | //*[@role='contentinfo'] | //*[@id='footer']"
_FRAMES = frozenset(("html", "body", "main", "article"))
_RIGHTS = re.compile("copyright|licen[cs]|lizenz|lisans|reuse|urheber|auteur|autor|telif|opphav")


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page: all that is its, its footers, and the boxes in it.

    Paragraphs are separated by blank lines.

    A box is a caption, a quotation, readers' comments or a teaser; its statements are not about the page.
    """

    whole: str
    footer: str
    boxes: str = ""


def text_of(root: html.HtmlElement) -> PageText:
    """Return the visible text of a page; changes nothing in it."""
    footers = root.xpath(_FOOTERS)
    boxes = _boxes(root)
    footer = "\n\n".join(_text(element, boxes) for element in footers[:10])
    apart = "\n\n".join(_text(element) for element in boxes)
    return PageText(_text(root, boxes), footer, apart)


def _boxes(root: html.HtmlElement) -> list[html.HtmlElement]:
    """Return the outermost boxes in a page. A box that holds most of the page's text is none.

    It frames the page.
    """
    words = load_licences().html
    most = _length(root) / 2
    # A dict keeps the order, and the elements alive, whose identity is all that tells them apart.
    found: dict[html.HtmlElement, None] = {}
    candidates = (
        element
        for element in root.iter(etree.Element)
        if element.tag in words.box_elements
        or (
            element.tag not in _FRAMES
            and words.box_names.search(f"{element.get('class', '')} {element.get('id', '')}")
            # "Credits" of a footer are the site's.
            and not any(above.tag == "footer" or above.get("id") == "footer" for above in element.iterancestors())
        )
    )
    for element in islice(candidates, _MOST_BOXES):
        if not any(above in found for above in element.iterancestors()) and _length(element) < most:
            found[element] = None
    return list(found)


def _length(element: html.HtmlElement) -> int:
    return sum(len(str(text)) for text in element.itertext())


def terms_link(root: html.HtmlElement, url: str) -> str:
    """Return the address of the site's own page of terms, or "" if the page links to none.

    Only pages of the same registrable host count: another site's terms are about its own works.
    """
    pattern = load_licences().phrases["terms"]
    best: tuple[int, str] | None = None
    for element in root.xpath("//a[@href]")[-_LINKS:]:
        text = " ".join(" ".join(map(str, element.itertext())).split())[:80]
        found = pattern.search(fold_in_place(text)) if text else None
        if not found:
            continue
        try:
            address = urljoin(url, element.get("href").strip())
            same = _site(address) == _site(url) and urlsplit(address).scheme in ("http", "https")
        except ValueError:
            continue
        if not same or address.partition("#")[0] == url.partition("#")[0]:
            continue
        # "Copyright" and "licence" say more than an imprint; a whole label more than a word in a headline.
        rank = 2 * bool(_RIGHTS.search(fold_in_place(text)))
        rank += 3 if len(found.group()) * 2 > len(text) else 0
        if best is None or rank >= best[0]:
            best = (rank, address.partition("#")[0])
    return best[1] if best else ""


def _site(url: str) -> str:
    """Return the part of the host's name that one registers: example.org, example.co.uk, a.github.io.

    Of a number or a name without a registry it is the whole host, with its port.
    """
    return registered_name(url) or urlsplit(url).netloc.lower()


def _text(root: html.HtmlElement, without: Sequence[html.HtmlElement] = ()) -> str:
    left_out = frozenset(without)
    pieces: list[str] = []
    # A walk with events instead of recursion: a hostile page may be nested as deep as it likes.
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start" and skipped is None:
            if element in left_out or tag in _SCRIPTS or tag == "head" or HIDDEN.search(element.get("style") or ""):
                skipped = element
                continue
            pieces += (_gap(tag), str(element.text or "").replace("\n", " "))
        elif event == "end" and (skipped is None or skipped is element):
            skipped = None
            if element is not root:
                pieces += (_gap(tag), str(element.tail or "").replace("\n", " "))
    return "".join(pieces).strip()


def _gap(tag: str) -> str:
    """Return the visible gap between an element and the next: nothing, a line, or a paragraph."""
    if tag not in BREAKS:
        return ""
    return "\n" if tag == "br" else " " if tag in ("td", "th") else "\n\n"
