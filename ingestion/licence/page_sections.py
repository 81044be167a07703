"""Which parts of a page speak of its licence, and where the site keeps its terms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

from ingestion.licence.table import load_licences
from rag_engine.text.folding import fold_in_place

HEAD, FOOT = 1_000, 1_000
_SCRIPTS = ("script", "style", "noscript", "template", "svg")
_BREAKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre",
    "section", "table", "td", "th", "tr", "ul",
))  # fmt: skip
_LINKS = 2_000
# Second-level names under which others register theirs, where a country has such.
_SHARED = frozenset((
    "ac", "co", "com", "edu", "gob", "gov", "gouv", "gub", "govt", "go", "or", "org", "net", "nic", "mil", "gv", "k12",
    "bel", "pol", "tsk",
))  # fmt: skip
_RIGHTS = re.compile("copyright|licen[cs]|lizenz|lisans|reuse|urheber|auteur|autor|telif|opphav")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page: all of it, and its footers; paragraphs are separated by blank lines."""

    whole: str
    footer: str


def text_of(root: html.HtmlElement) -> PageText:
    """The visible text of a page; changes nothing in it."""
    footers = root.xpath("//footer | //*[@role='contentinfo'] | //*[@id='footer']")
    return PageText(_text(root), "\n\n".join(_text(element) for element in footers[:10]))


def terms_link(root: html.HtmlElement, url: str) -> str:
    """The address of the site's own page of terms, or "" where the page links to none.

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
        rank = 2 * bool(
            re.search(r"copyright|licen[cs]|lizenz|lisans|reuse|urheber|auteur|autor|telif|opphav", fold_in_place(text))
        )
        rank += 3 if len(found.group()) * 2 > len(text) else 0
        if best is None or rank >= best[0]:
            best = (rank, address.partition("#")[0])
    return best[1] if best else ""


def _site(url: str) -> str:
    """The part of the host's name that one registers: example.org, example.co.uk; the address itself for a number."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    labels = host.split(".")
    if re.fullmatch(r"[\d.]+|.*:.*", host) or len(labels) < 3:
        return urlsplit(url).netloc.lower() if re.fullmatch(r"[\d.]+|.*:.*|localhost", host) else host
    return ".".join(labels[-3:] if labels[-2] in _SHARED else labels[-2:])


def _text(root: html.HtmlElement) -> str:
    pieces: list[str] = []
    # A walk with events instead of recursion: a hostile page may be nested as deep as it likes.
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start" and skipped is None:
            if tag in _SCRIPTS or tag == "head" or _HIDDEN.search(element.get("style") or ""):
                skipped = element
                continue
            pieces += (_gap(tag), str(element.text or "").replace("\n", " "))
        elif event == "end" and (skipped is None or skipped is element):
            skipped = None
            if element is not root:
                pieces += (_gap(tag), str(element.tail or "").replace("\n", " "))
    return "".join(pieces).strip()


def _gap(tag: str) -> str:
    """What a reader sees between an element and the next: nothing, a line, or a paragraph."""
    if tag not in _BREAKS:
        return ""
    return "\n" if tag == "br" else " " if tag in ("td", "th") else "\n\n"
