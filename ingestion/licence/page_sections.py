"""The text and footer of a page, and the link to its site's terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

from ingestion.licence.table import load_licences
from ingestion.web.html import HIDDEN
from rag_engine.text.folding import fold_in_place

if TYPE_CHECKING:
    from tldextract import ExtractResult

HEAD, FOOT = 1_000, 1_000
_SCRIPTS = ("script", "style", "noscript", "template", "svg")
_BREAKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre",
    "section", "table", "td", "th", "tr", "ul",
))  # fmt: skip
_LINKS = 2_000
_RIGHTS = re.compile("copyright|licen[cs]|lizenz|lisans|reuse|urheber|auteur|autor|telif|opphav")


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page: all of it, and its footers; paragraphs are separated by blank lines."""

    whole: str
    footer: str


def text_of(root: html.HtmlElement) -> PageText:
    """Return the visible text of a page; changes nothing in it."""
    footers = root.xpath("//footer | //*[@role='contentinfo'] | //*[@id='footer']")
    return PageText(_text(root), "\n\n".join(_text(element) for element in footers[:10]))


def terms_link(root: html.HtmlElement, url: str) -> str:
    """Return the address of the site's own page of terms, or "" where the page links to none.

    Only pages of the same registrable host: what another site says of its own works says nothing of this one.
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


@cache
def _registered_names() -> Callable[[str], ExtractResult]:
    from tldextract import TLDExtract

    # The list that comes with the package, so that nothing is asked of the network.
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def _site(url: str) -> str:
    """Return the part of the host's name that one registers: example.org, example.co.uk, a.github.io.

    Of a number or a name without a registry it is the whole host, with its port.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    return _registered_names()(host).top_domain_under_public_suffix or parts.netloc.lower()


def _text(root: html.HtmlElement) -> str:
    pieces: list[str] = []
    # A walk with events instead of recursion: a hostile page may be nested as deep as it likes.
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start" and skipped is None:
            if tag in _SCRIPTS or tag == "head" or HIDDEN.search(element.get("style") or ""):
                skipped = element
                continue
            pieces += (_gap(tag), str(element.text or "").replace("\n", " "))
        elif event == "end" and (skipped is None or skipped is element):
            skipped = None
            if element is not root:
                pieces += (_gap(tag), str(element.tail or "").replace("\n", " "))
    return "".join(pieces).strip()


def _gap(tag: str) -> str:
    """Return what a reader sees between an element and the next: nothing, a line, or a paragraph."""
    if tag not in _BREAKS:
        return ""
    return "\n" if tag == "br" else " " if tag in ("td", "th") else "\n\n"
