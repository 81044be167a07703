"""Addresses listed by a sitemap (lxml) or an RSS or Atom feed (feedparser).

Reads bytes, never the network.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from ingestion.extraction.formats.zip_container import Element, safe_parser
from ingestion.web.html import parse
from rag_engine.errors import InputError

ListKind = Literal["sitemap", "sitemap index", "feed", "page", ""]

_MOST_BYTES = 50_000_000
_MOST_ENTRIES = 50_000
_ROOT = re.compile(rb"<([A-Za-z_][\w.\-]{0,40}(?::[\w.\-]{1,40})?)")
_KINDS: dict[bytes, ListKind] = {
    b"urlset": "sitemap",
    b"sitemapindex": "sitemap index",
    b"rss": "feed",
    b"feed": "feed",
    b"rdf": "feed",
    b"html": "page",
}


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One address of a list; title and ISO date are "" if the list does not say."""

    url: str
    title: str = ""
    date: str = ""


def unpack(body: bytes) -> bytes:
    """Return the bytes, unpacked if they are gzip.

    InputError if they grow beyond what a sitemap may have.
    """
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        with gzip.open(io.BytesIO(body)) as stream:
            unpacked = stream.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError("The packed list breaks off: {error}.", help="Download it again.", error=error) from error
    if len(unpacked) > _MOST_BYTES:
        raise InputError(
            "The packed list unpacks to more than {limit:,} bytes.",
            help="Give the sitemaps it lists one by one.",
            limit=_MOST_BYTES,
        )
    return unpacked


def list_kind(body: bytes) -> ListKind:
    """Return the kind of a list of addresses, by its outermost element; "" for anything else."""
    head = body[:65_536]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "replace").encode()
    # Without its comments, which may hold an element.
    kept, rest = b"", head
    while rest:
        before, _, rest = rest.partition(b"<!--")
        kept += before
        rest = rest.partition(b"-->")[2]
    match = _ROOT.search(kept)
    name = match.group(1).lower().rpartition(b":")[2] if match else b""
    found = _KINDS.get(name, "")
    return found or ("page" if re.search(rb"<!doctype html", head[:1024], re.IGNORECASE) else "")


def read_sitemap(body: bytes, most: int = _MOST_ENTRIES) -> list[FeedEntry]:
    """Return the addresses of a sitemap or sitemap index, up to `most`; InputError if it is no XML."""
    entries: list[FeedEntry] = []
    for place in _parse(body).iterchildren("{*}url", "{*}sitemap"):
        texts: dict[str, str] = {}
        for child in place.iter():
            if isinstance(child.tag, str):
                texts.setdefault(etree.QName(child).localname, (child.text or "").strip())
        if texts.get("loc"):
            day = re.match(r"\d{4}(?:-\d{2}(?:-\d{2})?)?", texts.get("lastmod", ""))
            entries.append(FeedEntry(texts["loc"], texts.get("title", ""), day[0] if day else ""))
        if len(entries) >= most:
            break
    return entries


def read_feed(body: bytes) -> list[FeedEntry]:
    """Return the entries of an RSS or Atom feed that have an address, up to 50,000.

    InputError for what is none.
    """
    import feedparser

    _refuse_entities(body)
    # A stream, since feedparser would open bytes as the name of a file.
    parsed = feedparser.parse(io.BytesIO(body), sanitize_html=False, resolve_relative_uris=False)
    if not parsed.get("version"):
        raise InputError("This is neither an RSS nor an Atom feed.", help="Check the address in a browser.")
    entries: list[FeedEntry] = []
    for item in parsed.entries[:_MOST_ENTRIES]:
        moment = item.get("published_parsed") or item.get("updated_parsed")
        date = f"{moment.tm_year:04}-{moment.tm_mon:02}-{moment.tm_mday:02}" if moment else ""
        if item.get("link"):
            entries.append(FeedEntry(item["link"], " ".join(item.get("title", "").split()), date))
    return entries


def read_entries(body: bytes) -> list[FeedEntry] | None:
    """Return the entries of a sitemap or feed; None for anything else."""
    kind = list_kind(body)
    return read_sitemap(body) if kind == "sitemap" else read_feed(body) if kind == "feed" else None


def read_page_lists(body: bytes) -> tuple[str, ...]:
    """Return the addresses of feeds and sitemaps in the links of a web page, as they are written."""
    root = parse(body)
    links: list[str] = []
    for link in root.iter("link", "a") if root is not None else ():
        rel, kind = (link.get("rel") or "").lower().split(), (link.get("type") or "").lower()
        address = (link.get("href") or "").strip()
        feed = "alternate" in rel and ("rss" in kind or "atom" in kind)
        if address and (feed or "sitemap" in rel):
            links.append(address)
    return tuple(dict.fromkeys(links))


def _parse(body: bytes) -> Element:
    _refuse_entities(body)
    try:
        return etree.fromstring(body.lstrip(), safe_parser())
    except etree.XMLSyntaxError as error:
        raise InputError(
            "The list of addresses is not valid XML: {error}.",
            help="Open it in a browser and save it again.",
            error=error.msg,
        ) from error


def _refuse_entities(body: bytes) -> None:
    if b"<!ENTITY" in body:
        raise InputError("The list declares entities, which no sitemap or feed needs.", help="Remove its DOCTYPE.")
