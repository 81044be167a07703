"""A web page taken apart: its content without the furniture, and what its head says."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree, html

from ingestion.web.link_vocabulary import PageWords, load_page_words, words_of
from ingestion.web.links import PageLink, absolute, base_of, embedded_documents, links_of, without_session

_FURNITURE = (
    "script", "style", "noscript", "template", "nav", "aside", "button", "select", "iframe", "svg", "object", "dialog",
    "embed", "canvas", "audio", "video", "input", "textarea",
)  # fmt: skip
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"})
# What pages call their menus where they do not use the elements meant for them.
_CLASSES = frozenset({
    "nav", "navbar", "navigation", "menu", "main-menu", "mainmenu", "menu-main", "topmenu", "top-menu", "submenu",
    "sub-menu", "breadcrumb", "breadcrumbs", "footer", "site-footer", "page-footer", "sidebar", "side-bar", "cookie",
    "cookies", "cookie-banner", "cookie-consent", "cookie-notice", "social", "social-links", "social-media", "share",
    "sharing", "share-buttons", "skip-link", "skip-links", "toolbar",
})  # fmt: skip
_HIDDEN = re.compile(r"display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden", re.IGNORECASE)
_DECLARED = re.compile(rb"charset\s{0,4}=\s{0,4}[\"']?\s{0,4}([\w.:-]{1,40})", re.IGNORECASE)
# What XML cannot hold. Character references bring it in behind the first cleaning.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}")
_ENOUGH = 200
# Statements of the head that describe the document; all others (tokens, view counts, styles) change by themselves.
_KEPT_META = re.compile(
    r"(?:dc|dcterms|eprints|citation|bepress_citation|article|og:(?:title|locale|site_name|type|description))\b[\w.:-]*"
    r"|author|description|keywords|date|language|publisher|license|rights|copyright|subject|title",
    re.IGNORECASE,
)
_KEPT_ATTRIBUTES = frozenset({"href", "colspan", "rowspan", "lang", "dir", "datetime", "start", "scope"})


@dataclass(frozen=True, slots=True)
class Page:
    """A page: `main` is what a reader came for, `text` its words on one line, `links` the links in it.

    `base` is what relative links start from, `heading` the first h1, `generator` the program that made the page.
    `embedded` are documents that it shows in a frame or names in its head, `feeds` its alternate forms (address and
    media type). `shell` says that it shows nothing without its scripts, `statements` what its head says of it.
    """

    address: str
    base: str
    title: str
    heading: str
    language: str
    generator: str
    text: str
    links: tuple[PageLink, ...]
    embedded: tuple[PageLink, ...]
    feeds: tuple[tuple[str, str], ...]
    shell: bool
    statements: tuple[tuple[str, str, str], ...]
    main: html.HtmlElement

    @property
    def name(self) -> str:
        """What the page calls itself: its heading, else its title."""
        return self.heading or self.title


def read_page(body: bytes, charset: str, address: str) -> Page:
    """The page that the bytes of an HTML document are; one without text where they are none."""
    root = _parse(_decoded(body, charset))
    words = load_page_words()
    base = base_of(root, address)
    scripts = sum(1 for _ in root.iter("script"))
    empty_root = any(
        element.get("id") in words.shell_roots and not _text(element, 20) for element in root.iter("div", "main")
    )
    asks = " ".join(_text(element, 600) for element in root.iter("noscript"))
    heading = next((text for element in root.iter("h1") if (text := _text(element, 300))), "")
    title = " ".join(_CONTROLS.sub(" ", root.findtext(".//title") or "").split())[:300]
    statements = tuple(_statements(root))
    embedded = embedded_documents(root, base)
    feeds = tuple(
        (feed, (element.get("type") or "").lower())
        for element in root.iter("link")
        if "alternate" in (element.get("rel") or "").lower() and (feed := absolute(element.get("href"), base))
    )
    language = _LANGUAGE.match(root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "")
    _clear(root)
    main = _main(root)
    text = _text(main)
    little = len(text) < _ENOUGH
    shell = little and scripts > 0 and (empty_root or len(text) < 80 or _asks_for_scripts(asks + " " + text, words))
    return Page(
        address=address,
        base=base,
        title=title,
        heading=heading,
        language=language[0].lower() if language else "",
        generator=next((value for _, name, value in statements if name.lower() == "generator"), ""),
        text=text,
        links=links_of(main, base, address),
        embedded=embedded,
        feeds=feeds,
        shell=shell,
        statements=tuple(one for one in statements if _KEPT_META.fullmatch(one[1])),
        main=main,
    )


def saved_page(page: Page) -> bytes:
    """The page as one file that stands alone: UTF-8, no scripts, pictures, styles or menus.

    It holds nothing that changes while the page does not, so an unchanged page has an unchanged hash. Its address
    stands in a header that a reader sees and the extractor passes over, as it does with every page's header.
    """
    document = html.Element("html")
    if page.language:
        document.set("lang", page.language)
    head = etree.SubElement(document, "head")
    etree.SubElement(head, "meta", charset="utf-8")
    etree.SubElement(head, "title").text = page.title or page.heading
    for attribute, name, content in page.statements:
        etree.SubElement(head, "meta", {attribute: name, "content": content})
    body = etree.SubElement(document, "body")
    paragraph = etree.SubElement(etree.SubElement(body, "header"), "p")
    paragraph.text = "Saved from "
    address = without_session(page.address)
    etree.SubElement(paragraph, "a", href=address).text = address
    main = _stripped(page.main, page.base)
    body.append(main)
    if page.heading and not any(True for _ in main.iter("h1")):
        heading = etree.Element("h1")
        heading.text, heading.tail, main.text = page.heading, main.text, None
        main.insert(0, heading)
    return etree.tostring(document, method="html", encoding="utf-8", doctype="<!DOCTYPE html>") + b"\n"


def _stripped(content: html.HtmlElement, base: str) -> html.HtmlElement:
    main = deepcopy(content)
    main.tail = None
    main.tag = "main"
    etree.strip_elements(main, "picture", "img", "source", "link", "meta", "base", with_tail=False)
    for element in main.iter():
        if element is not main and element.tag in ("main", "body", "form"):
            element.tag = "div"
        for name in list(element.attrib):
            value = _CONTROLS.sub(" ", element.attrib.pop(name))
            if name == "href":
                value = without_session(absolute(value, base))
            if str(name) in _KEPT_ATTRIBUTES and value:
                element.set(name, value)
    return main


def _decoded(body: bytes, charset: str) -> str:
    """The text by byte order mark, declared charset, UTF-8, else Windows-1252, as browsers read it."""
    marks = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
    for mark, name in marks:
        if body.startswith(mark):
            return body.decode(name, "replace")
    declared = _DECLARED.search(body[:4096])
    for name in (charset, declared[1].decode("ascii", "replace") if declared else "", "utf-8"):
        western = name.lower() in ("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii")
        try:
            return body.decode("cp1252" if western else name) if name else body.decode("utf-8")
        except (LookupError, UnicodeDecodeError):
            continue
    return body.decode("cp1252", "replace")


def _parse(text: str) -> html.HtmlElement:
    text = _CONTROLS.sub(" ", text)
    # As bytes, for lxml refuses a str that declares an encoding of its own.
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=False, encoding="utf-8")
    try:
        root = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return html.document_fromstring("<html><body></body></html>")
    for element in root.iter():
        if element.text and _CONTROLS.search(element.text):
            element.text = _CONTROLS.sub(" ", element.text)
        if element.tail and _CONTROLS.search(element.tail):
            element.tail = _CONTROLS.sub(" ", element.tail)
    return root


def _statements(root: html.HtmlElement) -> Iterator[tuple[str, str, str]]:
    for element in root.iter("meta"):
        for attribute in ("name", "property"):
            name, content = element.get(attribute), element.get("content")
            if name and content:
                yield attribute, _CONTROLS.sub(" ", name[:100]), _CONTROLS.sub(" ", content[:2000])


def _clear(root: html.HtmlElement) -> None:
    """Nothing; takes menus, headers, forms and what is hidden out of the page."""
    etree.strip_elements(root, *_FURNITURE, with_tail=False)
    whole = len(_text(root))
    inside = "ancestor::article or ancestor::main or ancestor::*[@role='main']"
    doomed = list(root.xpath(f"//*[self::header or self::footer][not({inside})]"))
    for element in root.xpath("//body//*[@role or @class or @id or @hidden or @style or self::form]"):
        hidden = element.get("hidden") is not None or _HIDDEN.search(element.get("style", "")[:500])
        named = _CLASSES & {*element.get("class", "").lower().split(), element.get("id", "").lower()}
        furniture = element.get("role") in _ROLES or (named and element.tag not in ("main", "article"))
        # Some pages wrap the whole of their content in a form, or call it a menu.
        if hidden or ((furniture or element.tag == "form") and 2 * len(_text(element)) < whole):
            doomed.append(element)
    for element in doomed:
        if element.getparent() is not None:
            element.drop_tree()


def _main(root: html.HtmlElement) -> html.HtmlElement:
    """main, the only article, or body: the first of them with enough text to be the content."""
    for expression in (".//main", ".//*[@role='main']", ".//article"):
        found = root.findall(expression)
        # Several articles are the entries of a list.
        if found and (expression != ".//article" or len(found) == 1):
            longest = max(found, key=lambda element: len(_text(element)))
            if len(_text(longest)) >= _ENOUGH:
                return longest
    body = root.find(".//body")
    return root if body is None else body


def _asks_for_scripts(text: str, words: PageWords) -> bool:
    return bool(words.shell.covered(words_of(text.lower())))


def _text(element: etree._Element, most: int = 0) -> str:
    """The element's words on one line, cut to `most` characters where it is given."""
    text = " ".join(_CONTROLS.sub(" ", " ".join(map(str, element.itertext()))).split())
    return text[:most] if most else text
