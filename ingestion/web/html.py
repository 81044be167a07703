"""Decoding, parsing and cleaning of HTML: the one place where bytes become a tree."""

from __future__ import annotations

import codecs
import re
from typing import TypeAlias

from lxml import etree, html

from ingestion.text_encoding import guess_encoding

Element: TypeAlias = etree._Element  # noqa: SLF001 - the only name lxml has for the type of an element

# What XML cannot hold. Character references bring it in behind the first cleaning.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Not displayed, of no size, transparent, cut to nothing, or moved out of the page.
HIDDEN = re.compile(
    r"display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}(?:hidden|collapse)"
    r"|(?:font-size|(?<![\w-])opacity)\s{0,4}:\s{0,4}0(?:\.0{1,4})?(?:px|pt|r?em|%)?\s{0,4}(?:[;!]|$)"
    r"|clip\s{0,4}:\s{0,4}rect\(\s{0,4}[01](?:px)?[\s,]|(?:left|top|text-indent)\s{0,4}:\s{0,4}-\d{4}",
    re.IGNORECASE,
)

_UNSEEN = (
    "script", "style", "noscript", "template", "nav", "button", "select", "iframe", "svg", "object", "embed", "canvas",
    "audio", "video", "input", "textarea",
)  # fmt: skip
_MENU_ROLES = frozenset({
    "navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog",
})  # fmt: skip
# What pages call their menus where they do not use the elements meant for them.
_MENU_NAMES = frozenset({
    "nav", "navbar", "navigation", "menu", "main-menu", "mainmenu", "menu-main", "topmenu", "top-menu", "submenu",
    "sub-menu", "breadcrumb", "breadcrumbs", "footer", "site-footer", "page-footer", "sidebar", "side-bar", "cookie",
    "cookies", "cookie-banner", "cookie-consent", "cookie-notice", "social", "social-links", "social-media", "share",
    "sharing", "share-buttons", "skip-link", "skip-links", "toolbar",
})  # fmt: skip
# Those that name nothing else.
_SITE_NAMES = frozenset({
    "navbar", "navigation", "main-menu", "mainmenu", "menu-main", "topmenu", "top-menu", "breadcrumb", "breadcrumbs",
    "site-footer", "cookie-banner", "cookie-consent", "cookie-notice", "social-links", "social-media", "share-buttons",
    "skip-link", "skip-links",
})  # fmt: skip
_ENOUGH = 200
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PRESCANNED = 8_192
_CHARSET = re.compile(r"charset\s{0,4}=\s{0,4}[\"']?\s{0,4}([\w.:-]{1,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s{0,99}<\?xml[^>]{1,200}encoding\s{0,3}=\s{0,3}[\"']([\w.:-]{1,40})", re.IGNORECASE)
# Browsers read these as Windows-1252, and pages rely on it.
_WESTERN = frozenset({"iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii"})
# Encodings of scripts other than Latin: there the letters themselves are bytes above 127, and tell them apart.
_OTHER_SCRIPTS = ["cp1251", "cp1253", "cp1255", "cp1256", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
_NOT_TEXT = re.compile(rb"<(script|style)\b.{0,100000}?</\1|<[^>]{0,2000}>", re.IGNORECASE | re.DOTALL)
_LATIN = re.compile(rb"[A-Za-z]")
_SAMPLE = 100_000
# What nests when it is not closed. libxml2 reads 2,048 levels.
_CONTAINER = re.compile(
    r"<(/?)(?:div|span|font|center|section|article|blockquote|big|small|em|strong|b|i|ul|ol)\b[^<>]*>", re.IGNORECASE
)
_DEEPEST = 1_500
_FEWEST_LETTERS = 20


def decode(body: bytes, charset: str = "") -> str:
    """Return the text of an HTML document; `charset` is what its server declared.

    The byte order mark decides, then the declared charset, then a meta element or XML declaration, then UTF-8. A
    charset that reads more letters as damaged than as whole is passed over. A document that none of them reads is
    identified by its letters. If they tell nothing it is Windows-1252, as browsers have it.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    for name in (charset, _declared_charset(body), "utf-8"):
        text = _decoded_as(body, name.strip().lower()) if name else None
        if text is not None:
            return text
    return body.decode(_identified(body), "replace")


def parse(page: bytes | str, charset: str = "") -> html.HtmlElement | None:
    """Return the tree of an HTML document without comments; None if it holds no element.

    Nothing is fetched.
    """
    text = page if isinstance(page, str) else decode(page, charset)
    # As bytes, for lxml refuses a str that declares an encoding of its own. Without huge_tree what is nested deeper
    # than 255 elements vanishes without a word; there are no entities in HTML that could make a small page large.
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=True, encoding="utf-8")
    try:
        root = html.document_fromstring(_shallow(CONTROLS.sub(" ", text)).encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    for element in root.iter():
        if element.text and CONTROLS.search(element.text):
            element.text = CONTROLS.sub(" ", element.text)
        if element.tail and CONTROLS.search(element.tail):
            element.tail = CONTROLS.sub(" ", element.tail)
    return root


def _shallow(text: str) -> str:
    """Return the markup without the containers that are nested deeper than the parser reads."""
    if text.count("<") < 2 * _DEEPEST:
        return text
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        if tag[1]:
            depth = max(0, depth - 1)
            return tag[0] if depth < _DEEPEST else " "
        depth += 1
        return tag[0] if depth <= _DEEPEST else " "

    return _CONTAINER.sub(keep, text)


def clean(root: html.HtmlElement, *, menus: bool = False, hidden: bool = True) -> None:
    """Remove scripts, headers, footers and small forms; on demand also `menus` and `hidden` elements."""
    clean_unseen(root)
    etree.strip_elements(root, "aside", "dialog", with_tail=False)
    for element in root.xpath("//body//*[@hidden or @style]") if hidden else ():
        if is_hidden(element):
            _drop(element)
    # Those of an article hold its title and date; those of the page its menus and addresses.
    inside = "ancestor::article or ancestor::main or ancestor::*[@role='main']"
    for element in root.xpath(f"//*[self::header or self::footer][not({inside})]"):
        _drop(element)
    # Some pages wrap the whole of their content in a form, or call it a menu.
    whole = len(text_of(root))
    for element in root.xpath("//body//*[@role or @class or @id or self::form]"):
        named = _is_menu(element, _MENU_NAMES if menus else _SITE_NAMES)
        if (element.tag == "form" or named) and 2 * len(text_of(element)) < whole:
            _drop(element)


def clean_unseen(root: html.HtmlElement) -> None:
    """Remove scripts, menus and controls, which no page shows as text."""
    etree.strip_elements(root, *_UNSEEN, with_tail=False)


def is_hidden(element: Element) -> bool:
    """Return whether an element says itself that it is not shown."""
    return element.get("hidden") is not None or HIDDEN.search(element.get("style", "")[:500]) is not None


def main_content(root: html.HtmlElement) -> html.HtmlElement:
    """Return main, the only article, or body: the first of them with enough text to be the content."""
    for expression in (".//main", ".//*[@role='main']", ".//article"):
        found = root.findall(expression)
        # Several articles are the entries of a list.
        if found and (expression != ".//article" or len(found) == 1):
            longest = max(found, key=lambda element: len(text_of(element)))
            if len(text_of(longest)) >= _ENOUGH:
                return longest
    body = root.find(".//body")
    return root if body is None else body


def text_of(element: Element, most: int = 0) -> str:
    """Return the element's words on one line, cut to `most` characters where it is given."""
    text = " ".join(CONTROLS.sub(" ", " ".join(map(str, element.itertext()))).split())
    return text[:most] if most else text


def _drop(element: html.HtmlElement) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _is_menu(element: html.HtmlElement, names: frozenset[str]) -> bool:
    if element.get("role") in _MENU_ROLES:
        return True
    named = names & {*element.get("class", "").lower().split(), element.get("id", "").lower()}
    return bool(named) and element.tag not in ("main", "article")


def _declared_charset(body: bytes) -> str:
    """Return the charset of the document's own meta element or XML declaration, or ""."""
    if found := _XML_ENCODING.match(body[:_PRESCANNED]):
        return _readable_as_ascii(found[1].decode("ascii"))
    parser = html.HTMLParser(no_network=True, remove_comments=True, encoding="iso-8859-1")
    try:
        root = html.document_fromstring(body[:_PRESCANNED], parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return ""
    for meta in root.iter("meta"):
        declared = meta.get("charset") or ""
        if not declared and (meta.get("http-equiv") or "").strip().lower() == "content-type":
            found_name = _CHARSET.search(meta.get("content") or "")
            declared = found_name[1] if found_name else ""
        if declared:
            return _readable_as_ascii(declared)
    return ""


def _readable_as_ascii(declared: str) -> str:
    """Return the declared charset, but UTF-8 for UTF-16.

    A declaration in UTF-16 could not be found as ASCII.
    """
    return "utf-8" if declared.lower().startswith("utf-16") else declared


def _decoded_as(body: bytes, name: str) -> str | None:
    """Return the text in a charset; None for an unknown one or one that damages most letters."""
    try:
        text = body.decode("cp1252" if name in _WESTERN else name, "replace")
    except (LookupError, ValueError):
        return None
    damaged = text.count("\ufffd")
    return text if not damaged or 2 * damaged < len(text) - len(text.encode("ascii", "ignore")) else None


def _identified(body: bytes) -> str:
    """Return the encoding of a document that declares none and is not UTF-8."""
    sample = _NOT_TEXT.sub(b" ", body[:_SAMPLE])
    high = len(sample.translate(None, bytes(range(128))))
    if high < max(_FEWEST_LETTERS, len(_LATIN.findall(sample))):
        return guess_encoding(sample) or "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_OTHER_SCRIPTS).best()
    return best.encoding if best else "cp1252"
