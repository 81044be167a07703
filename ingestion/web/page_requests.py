"""Page requests: for pages and catalogues alone; a file behind the address is known by its head and not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from urllib.parse import quote

from ingestion.types import Fetched, Refusal
from ingestion.web.links import suffix_of

# What a Web that meets a file under this header answers with NotAPage. The last part keeps servers from refusing an
# address only because it leads to a file (406).
PAGES_ONLY = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.1"

HTML = frozenset({"text/html", "application/xhtml+xml"})
_STRUCTURED = frozenset({"application/json", "text/json", "application/xml", "text/xml"})
_PAGE_SUFFIXES = frozenset(
    {"", "html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "json", "xml", "rss", "atom", "rdf"}
)
_MAGIC = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"{\\rtf", b"%!PS", b"\x1f\x8b", b"Rar!", b"7z\xbc\xaf")
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 1024


class NotAPage(Refusal):
    """A file where a page was asked for: `head` is what its server said of it, without a body."""

    def __init__(self, head: Fetched) -> None:
        super().__init__("wrong_content", f"{head.url} is a file and not a page.")
        self.head = head


def says_file(media_type: str, disposition: str, file_name: str) -> bool:
    """Return whether the head of an answer announces a file: neither page, JSON nor XML. An empty one does not."""
    attached = disposition.strip().lower().startswith("attachment")
    if attached and suffix_of(quote(file_name)) not in _PAGE_SUFFIXES:
        return True
    if media_type in HTML or media_type in _STRUCTURED or not media_type:
        return False
    return media_type.startswith("image/") or not media_type.endswith(("+xml", "+json"))


def looks_like_file(start: bytes) -> bool:
    """Return whether a body that begins like this is a file, whatever its head says."""
    head = start[:_HEAD]
    # Some programs write a few bytes before the mark of a PDF; text in UTF-16 has zeros.
    marked = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_MAGIC)
    return marked or (b"\x00" in head and not head.startswith(_WIDE))


def with_start(chunks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes of a body, and all of it."""
    rest, parts, size = iter(chunks), [], 0
    for chunk in rest:
        parts.append(chunk)
        size += len(chunk)
        if size >= _HEAD:
            break
    return b"".join(parts)[:_HEAD], chain(parts, rest)
