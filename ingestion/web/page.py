"""A web page: its content without boilerplate, its links, and the statements of its head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree, html

from ingestion.web.html import CONTROLS, clean, main_content, parse, text_of
from ingestion.web.link_vocabulary import load_page_words, words_of
from ingestion.web.links import PageLink, absolute, base_of, embedded_documents, links_of, make_links, without_session

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}")
# A page with less text shows nothing without its scripts.
_LITTLE = 200
# Statements of the head that describe the document; all others (tokens, view counts, styles) change by themselves.
_KEPT_META = re.compile(
    r"(?:dc|dcterms|eprints|citation|bepress_citation|article|og:(?:title|locale|site_name|type|description))\b[\w.:-]*"
    r"|author|description|keywords|date|language|publisher|license|rights|copyright|subject|title",
    re.IGNORECASE,
)
_KEPT_ATTRIBUTES = frozenset({"href", "colspan", "rowspan", "lang", "dir", "datetime", "start", "scope"})


@dataclass(frozen=True, slots=True)
class Page:
    """A page: `main` is its content proper, `text` its words on one line, `links` the links in it.

    `base` is what relative links start from, `heading` the first h1, `generator` the program that made the page.
    `embedded` are documents that it shows in a frame or names in its head, `feeds` its alternate forms (address and
    media type). `needs_scripts` says that it shows nothing without its scripts, `statements` what its head says of it.
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
    needs_scripts: bool
    statements: tuple[tuple[str, str, str], ...]
    main: html.HtmlElement

    @property
    def name(self) -> str:
        """Return the page's heading, else its title."""
        return self.heading or self.title


def read_page(body: bytes, charset: str, address: str) -> Page:
    """Return the page that the bytes of an HTML document are; one without text where they are none."""
    root = parse(body, charset)
    if root is None:
        root = html.document_fromstring("<html><body></body></html>")
    words = load_page_words()
    base = base_of(root, address)
    scripts = sum(1 for _ in root.iter("script"))
    empty_root = any(
        element.get("id") in words.script_roots and not text_of(element, 20) for element in root.iter("div", "main")
    )
    asks = " ".join(text_of(element, 600) for element in root.iter("noscript"))
    heading = next((text for element in root.iter("h1") if (text := text_of(element, 300))), "")
    title = " ".join(CONTROLS.sub(" ", root.findtext(".//title") or "").split())[:300]
    statements = tuple(_statements(root))
    embedded = embedded_documents(root, base)
    feeds = tuple(
        (feed, (element.get("type") or "").lower())
        for element in root.iter("link")
        if "alternate" in (element.get("rel") or "").lower() and (feed := absolute(element.get("href"), base))
    )
    language = _LANGUAGE.match(root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "")
    make_links(root, base)
    clean(root, menus=True)
    main = main_content(root)
    text = text_of(main)
    little = len(text) < _LITTLE
    asks_for_scripts = bool(words.needs_scripts.covered(words_of(f"{asks} {text}".lower())))
    needs_scripts = little and scripts > 0 and (empty_root or len(text) < 80 or asks_for_scripts)
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
        needs_scripts=needs_scripts,
        statements=tuple(statement for statement in statements if _KEPT_META.fullmatch(statement[1])),
        main=main,
    )


def saved_page(page: Page) -> bytes:
    """Return the page as one complete file: UTF-8, no scripts, pictures, styles or menus.

    It holds nothing that changes while the page does not, so an unchanged page has an unchanged hash. Its address
    is in a header that a reader sees and the extractor passes over, as it does with every page's header.
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
            value = CONTROLS.sub(" ", element.attrib.pop(name))
            if name == "href":
                value = without_session(absolute(value, base))
            if str(name) in _KEPT_ATTRIBUTES and value:
                element.set(name, value)
    return main


def _statements(root: html.HtmlElement) -> Iterator[tuple[str, str, str]]:
    for element in root.iter("meta"):
        for attribute in ("name", "property"):
            name, content = element.get(attribute), element.get("content")
            if name and content:
                yield attribute, CONTROLS.sub(" ", name[:100]), CONTROLS.sub(" ", content[:2000])
