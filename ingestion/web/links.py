"""The links of a page, and what an address promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from posixpath import splitext
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit, urlunsplit

from lxml import html

from ingestion.web.html import Element, text_of
from ingestion.web.link_vocabulary import load_page_words, words_of
from ingestion.web.urls import address_words, normal_url

# What an analyst means by a file, in the order in which one is preferred to another of the same document.
FILE_SUFFIXES = (
    "pdf", "docx", "doc", "odt", "rtf", "docm", "epub", "pptx", "ppt", "odp", "xlsx", "xls", "ods", "csv", "md", "txt",
    "zip",
)  # fmt: skip
DOCUMENT_SUFFIXES = frozenset({"pdf", "docx", "doc", "odt", "rtf", "docm", "epub", "pptx", "ppt", "odp"})
_DOCUMENT_TYPES = ("pdf", "msword", "wordprocessingml", "opendocument.text", "epub", "rtf")
_MOST_LINKS = 5000
# An entry of a list has a name, a form or two, and perhaps a line about it.
_ENTRY_LINKS, _LONGEST_ENTRY = 6, 300
_LONGEST_ADDRESS = 2000
_SESSION_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
_BLOCKS = frozenset({
    "address", "article", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "html", "li", "main", "ol", "p", "pre",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
_PDF_STATEMENTS = ("citation_pdf_url", "bepress_citation_pdf_url", "eprints.document_url")
_REFRESH = re.compile(r"^\s{0,9}(\d{1,6})[^;,]{0,9}[;,]\s{0,9}(?:url\s{0,9}=\s{0,9})?[\"']?([^\"'>]{1,2000})", re.I)


# How a script sends a reader on: location.href = '...', window.open('...'), location.assign('...').
_SCRIPTED = re.compile(
    r"(?:location(?:\.href)?\s{0,9}=|location\.(?:assign|replace)\(|window\.open\()\s{0,9}([\"'])([^\"']{1,2000})\1"
)
# Parameters in which a viewer on a page gets the document that it shows (pdf.js: viewer.html?file=/plan.pdf).
_VIEWED = frozenset({"doc", "document", "file", "pdf", "pdfurl", "src", "url"})
_VIEWER = re.compile(r"view|embed|reader|pdfjs|flip", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link with absolute address, its text (else title or label) and the language it names, if any.

    `standing` says that the link is a separate line or entry, not a reference inside a sentence. `file` says that the
    address or the link's declared type promises a document file. `context` holds the words of the link's row or entry,
    if the link itself only says "PDF" or "Download".
    """

    url: str
    text: str
    language: str = ""
    standing: bool = True
    file: bool = False
    context: str = ""

    @property
    def name(self) -> str:
        """Return the name of the link's target."""
        return self.context or self.text

    @property
    def file_name(self) -> str:
        """The last part of the address, without its suffix."""
        return file_name_of(self.url)


def links_of(content: html.HtmlElement, base: str, address: str) -> tuple[PageLink, ...]:
    """Return the distinct links to other pages in document order.

    Of several to one address the longest text counts.
    """
    own = normal_url(address)
    found: dict[str, PageLink] = {}
    blocks: dict[Element, tuple[int, int, str]] = {}
    for anchor in content.iter("a", "area"):
        url = viewed_document(absolute(anchor.get("href"), base))
        key = normal_url(url)
        if not key or key == own:
            continue
        text = text_of(anchor) or _label(anchor)
        context = _context(anchor) if says_nothing(text) else ""
        link = PageLink(
            url=url,
            text=text[:300],
            language=(anchor.get("hreflang") or "")[:2].lower(),
            standing=bool(context) or _stands_alone(anchor, text, blocks),
            file=promises_document(url) or any(kind in (anchor.get("type") or "") for kind in _DOCUMENT_TYPES),
            context=context,
        )
        before = found.get(key)
        if before is None:
            if len(found) >= _MOST_LINKS:
                break
            found[key] = link
        elif len(link.text) > len(before.text):
            context = before.context if says_nothing(link.text) else ""
            standing = before.standing or link.standing
            found[key] = replace(before, text=link.text, standing=standing, context=context)
    return tuple(found.values())


def embedded_documents(root: html.HtmlElement, base: str) -> tuple[PageLink, ...]:
    """Return the documents that a page only frames.

    They are shown in it, named in its head, or the target of its redirect.
    """
    return tuple(dict.fromkeys(_embedded(root, base)))


def _embedded(root: html.HtmlElement, base: str) -> Iterator[PageLink]:
    for element in root.iter("meta", "iframe", "embed", "object"):
        declared = element.get("type") or ""
        if element.tag == "meta":
            if (element.get("name") or "").lower() in _PDF_STATEMENTS:
                if url := absolute(element.get("content"), base):
                    yield PageLink(url, "", file=True)
            elif (element.get("http-equiv") or "").lower() == "refresh":
                found = _REFRESH.match(element.get("content") or "")
                # A page that renews itself every ten minutes sends nobody anywhere.
                if found and int(found[1]) <= 10 and (url := absolute(found[2], base)):
                    yield PageLink(url, "", file=promises_document(url))
        else:
            url = viewed_document(absolute(element.get("data" if element.tag == "object" else "src"), base))
            if url and (promises_document(url) or any(kind in declared for kind in _DOCUMENT_TYPES)):
                yield PageLink(url, "", file=True)


def make_links(root: html.HtmlElement, base: str) -> None:
    """Turn what leads to a document by a script or a form into a link, before these are removed."""
    for element in root.xpath("//body//*[@onclick or self::form[@action]]"):
        scripted = _SCRIPTED.search((element.get("onclick") or "")[:_LONGEST_ADDRESS])
        url = absolute(scripted[2] if scripted else element.get("action"), base)
        text = text_of(element) or element.get("value") or element.get("title") or ""
        # What holds more than a label is content that can be clicked as well.
        if len(text) <= _LONGEST_ENTRY and promises_document(viewed_document(url)):
            tail = element.tail
            element.clear()
            element.tag, element.text, element.tail = "a", text, tail
            element.set("href", url)


def viewed_document(url: str) -> str:
    """Return the document that a viewer's address names, of any other address itself.

    >>> viewed_document("https://example.org/pdfjs/web/viewer.html?file=%2Fdocs%2Fplan.pdf")
    'https://example.org/docs/plan.pdf'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if not parts.query or not _VIEWER.search(f"{parts.netloc}{parts.path}"):
        return url
    named = (value for key, value in parse_qsl(parts.query) if key.lower() in _VIEWED)
    return next((found for value in named if promises_document(found := absolute(value, url))), url)


def base_of(root: html.HtmlElement, address: str) -> str:
    """Return the address that the page's relative links start from."""
    for element in root.iter("base"):
        if url := absolute(element.get("href"), address):
            return url
    return address


def absolute(href: str | None, base: str) -> str:
    """Return the http(s) address that a link leads to, without its fragment; "" if it leads to none."""
    if not href or len(href) > _LONGEST_ADDRESS:
        return ""
    try:
        parts = urlsplit(urljoin(base, "".join(href.split("\n")).strip()))
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return ""
        url = urlunsplit(parts._replace(fragment=""))
        # JSON can spell half a character (a lone surrogate), which no request can carry.
        url.encode("utf-8")
    except ValueError:
        return ""
    return url


def without_session(url: str) -> str:
    """Return the address without what a server adds to tell visitors apart."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if ";" in parts.path:
        parts = parts._replace(path=_SESSION_PATH.sub("", parts.path))
    if parts.query:
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        sessions = address_words().sessions
        kept = [pair for pair in pairs if pair[0].lower() not in sessions and not pair[0].lower().startswith("utm_")]
        if len(kept) < len(pairs):
            parts = parts._replace(query=urlencode(kept))
    return urlunsplit(parts)


def host_of(url: str) -> str:
    """Return the host of an address in lower case, without "www."; "" if there is none."""
    try:
        return (urlsplit(url).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""


def path_of(url: str) -> str:
    """Return the decoded path of an address; "" if it has none."""
    try:
        return unquote(urlsplit(url).path)
    except ValueError:
        return ""


def suffix_of(url: str) -> str:
    """Return the suffix of the last part of the address's path in lower case, without the dot."""
    return splitext(path_of(url))[1].lower().removeprefix(".")


def file_name_of(url: str) -> str:
    """Return the last part of an address's path without a file's suffix."""
    last = path_of(url).rstrip("/").rpartition("/")[2]
    stem, suffix = splitext(last)
    return stem if 1 < len(suffix) <= 6 else last


def promises_file(url: str) -> bool:
    """Return whether the address says that it is a file and not a page."""
    return suffix_of(url) in FILE_SUFFIXES


def promises_document(url: str) -> bool:
    """Return whether the address says that it is a document that people read."""
    return suffix_of(url) in DOCUMENT_SUFFIXES


def says_nothing(text: str) -> bool:
    """Return whether a link's text only says that something is offered.

    So "PDF", "Download (2 MB)" and "Read more" do.
    """
    lexicon = load_page_words()
    words = words_of(text)
    offering = lexicon.document.covered(words) | lexicon.more.covered(words)
    return all(
        place in offering
        or word in lexicon.noise.words
        or word in lexicon.function_words
        or len(word) == 1
        or word.isdigit()
        for place, word in enumerate(words)
    )


def _context(anchor: html.HtmlElement) -> str:
    """Return the text of a link's row or entry outside its links.

    It is "" without any or for more than an entry.
    """
    for above in anchor.iterancestors("tr", "li", "article"):
        if sum(1 for _ in islice(above.iter("a"), _ENTRY_LINKS + 1)) > _ENTRY_LINKS:
            return ""
        text = text_of(above)[: 2 * _LONGEST_ENTRY]
        for inner in above.iter("a"):
            if linked := text_of(inner):
                text = text.replace(linked, " ", 1)
        text = " ".join(text.split()).strip(" ()[]:;,–-")
        if len(text) > _LONGEST_ENTRY:
            return ""
        if not says_nothing(text):
            return text
    return ""


def _stands_alone(anchor: html.HtmlElement, text: str, blocks: dict[Element, tuple[int, int, str]]) -> bool:
    """Return whether a link begins its block or fills most of it.

    `blocks` keeps the length of each block, that of its links, and its beginning.
    """
    block: Element = anchor
    while (above := block.getparent()) is not None:
        block = above
        if block.tag in _BLOCKS:
            break
    if block not in blocks:
        whole = text_of(block)
        blocks[block] = len(whole), sum(len(text_of(inner)) for inner in block.iter("a")), whole[:300]
    length, linked, start = blocks[block]
    return 2 * linked >= length or (bool(text) and start.startswith(text[:300]))


def _label(anchor: html.HtmlElement) -> str:
    pictures = " ".join(picture.get("alt") or "" for picture in anchor.iter("img"))
    for text in (pictures, anchor.get("aria-label"), anchor.get("title")):
        if text and text.strip():
            return " ".join(text.split())
    return ""
