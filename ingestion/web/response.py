"""Responses of servers.

Refusals, the suggested file name, whether it is a page or a file, and the body, bounded.
"""

from __future__ import annotations

import hashlib
import re
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.header import decode_header, make_header
from email.message import Message as Headers
from email.utils import parsedate_to_datetime
from itertools import chain
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import httpcore

from ingestion.file_names import safe_name
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched
from ingestion.web.links import suffix_of
from rag_engine.atomic_write import replacing
from rag_engine.errors import WorkspaceError
from rag_engine.messages import Message

_LONGEST_HEADER = 4_000
_LINE_ENDS = re.compile(r"[\r\n]")
_DENIED = frozenset({401, 403, 451})
_GONE = frozenset({404, 410})
_STEP = 2**18

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


def status_refusal(status: int, url: str, retry_after: float | None = None) -> Refusal:
    """Return the refusal that an HTTP status means.

    One of our own failures where a later call may succeed.
    """
    if status in _GONE:
        return Refusal("not_found", "There is nothing at {url} (HTTP {status}).", url=url, status=status)
    if status in _DENIED:
        return Refusal("access_denied", "{url} may not be read without leave (HTTP {status}).", url=url, status=status)
    if status == 429:
        return Refusal(
            "rate_limited",
            "{url} gets too many requests (HTTP 429).",
            help="It asks to wait {seconds:.0f} s." if retry_after else "",
            url=url,
            seconds=retry_after,
        )
    return Refusal(
        "http_error",
        "{url} answered with HTTP {status}.",
        retryable=status >= 500 or status == 408,
        url=url,
        status=status,
    )


def error_refusal(error: Exception, url: str) -> Refusal:
    """Return the refusal that a broken, refused or slow connection means."""
    if certificate := _certificate_error(error):
        return Refusal(
            "certificate_invalid",
            "The certificate of {url} is not valid: {error}.",
            help="Ask the site's owner, or have this server trust its certificate authority.",
            url=url,
            error=certificate.verify_message or certificate.reason,
        )
    if isinstance(error, httpcore.TimeoutException):
        return Refusal("timed_out", "{url} did not answer in time ({error}).", url=url, error=_words(error))
    if isinstance(error, httpcore.LocalProtocolError | httpcore.UnsupportedProtocol):
        return Refusal("http_error", "{url} cannot be asked for: {error}.", url=url, error=_words(error))
    return Refusal("connection_failed", "The connection to {url} failed: {error}.", url=url, error=_words(error))


def retry_after_seconds(value: str, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header (a number or a date) asks to wait.

    None if it says nothing.
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def suggested_name(disposition: str) -> str:
    """Return a safe file name without folders, or "" if none is suggested.

    The extended form (filename*=UTF-8''...) wins over the plain one, as RFC 6266 asks. Encoded words (RFC 2047) and
    percent signs in the plain form are against the rules, but seen often enough.

    >>> suggested_name("attachment; filename=plan.pdf; filename*=UTF-8''piano%20Citt%C3%A0.pdf")
    'piano Città.pdf'
    """
    header = Headers()
    header["content-disposition"] = _LINE_ENDS.sub(" ", disposition[:_LONGEST_HEADER])
    values = [value for name, value in header.get_params([], "content-disposition")[1:] if name.lower() == "filename"]
    # A value in the extended form is a triple of charset, language and text.
    values.sort(key=lambda value: isinstance(value, str))
    name = next(filter(None, map(_decoded_name, values)), "")
    return safe_name(name) if name.strip(" ./\\") else ""


def _decoded_name(value: str | tuple[str | None, str | None, str]) -> str:
    try:
        if not isinstance(value, str):
            return value[2].encode("raw-unicode-escape").decode(value[0] or "utf-8")
        if value.startswith("=?"):
            return str(make_header(decode_header(value)))
        return unquote_to_bytes(value).decode("utf-8") if "%" in value else value
    except (LookupError, ValueError):
        return value if isinstance(value, str) else ""


def head_of(urls: Sequence[str], status: int, media_type: str, charset: str, headers: Mapping[str, str]) -> Fetched:
    """Return the data in the head of an answer; its body is still to come."""
    return Fetched(
        tuple(urls),
        status,
        media_type,
        charset,
        b"",
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
        file_name=suggested_name(headers.get("content-disposition", "")),
    )


class NotAPage(Refusal):
    """A file where a page was asked for: `head` is what its server reported of it, without a body."""

    def __init__(self, head: Fetched) -> None:
        super().__init__("wrong_content", f"{head.url} is a file and not a page.")
        self.head = head


def says_file(media_type: str, disposition: str, file_name: str) -> bool:
    """Return whether the head of an answer announces a file.

    Neither page, JSON nor XML. An empty one does not.
    """
    attached = disposition.strip().lower().startswith("attachment")
    if attached and suffix_of(quote(file_name)) not in _PAGE_SUFFIXES:
        return True
    if media_type in HTML or media_type in _STRUCTURED or not media_type:
        return False
    return media_type.startswith("image/") or not media_type.endswith(("+xml", "+json"))


def looks_like_file(start: bytes) -> bool:
    """Return whether a body that begins like this is a file, against its head."""
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


class BrokenBody(Exception):  # noqa: N818 - a finding about the body
    """A body that ends before its compression does, or is not compressed as it claims."""


@dataclass(frozen=True, slots=True)
class Received:
    """A whole body: `content` is empty if it went to a file. `size` counts decoded bytes."""

    content: bytes
    size: int
    sha256: str


def decoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Return the body without its Content-Encoding, in pieces of at most 256 KiB.

    However much a small input expands to.
    """
    coding = encoding.strip().lower()
    if coding in ("", "identity"):
        yield from chunks
    elif coding in ("gzip", "x-gzip", "deflate"):
        yield from _inflated(chunks, coding)
    else:
        raise Refusal("http_error", "The body is sent as {coding!r}, which was not asked for.", coding=coding[:40])


def receive(chunks: Iterable[bytes], into: Path | None, url: str, most: int) -> Received:
    """Return the body in memory, or its size and hash when it goes to the file `into`.

    The file is replaced when all is there, and nothing is left otherwise. Refusal (too_large) as soon as it exceeds
    `most` bytes.
    """
    if into is None:
        content = b"".join(_bounded(chunks, url, most))
        return Received(content, len(content), hashlib.sha256(content).hexdigest())
    digest, size = hashlib.sha256(), 0
    try:
        with replacing(into, durable=True) as part, part.open("xb") as output:
            for chunk in _bounded(chunks, url, most):
                size += len(chunk)
                digest.update(chunk)
                output.write(chunk)
    except OSError as error:
        raise WorkspaceError(
            "{into} cannot be written: {error}.",
            help="Make the folder writable, or room on the disk, and run it again.",
            into=into,
            error=Message(error.strerror) if error.strerror else error,
        ) from error
    return Received(b"", size, digest.hexdigest())


def _bounded(chunks: Iterable[bytes], url: str, most: int) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise too_large(url, most)
        yield chunk


def too_large(url: str, most: int, declared: int | None = None) -> Refusal:
    """Return the refusal of a body above the limit."""
    return Refusal(
        "too_large",
        "{url} announces {size:,} bytes; the limit is {limit:,} bytes."
        if declared is not None
        else "{url} is larger; the limit is {limit:,} bytes.",
        url=url,
        size=declared,
        limit=most,
    )


def _inflated(chunks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    inflater = None
    for chunk in chunks:
        rest = chunk
        while rest:
            if inflater is None:
                inflater = zlib.decompressobj(_window(rest, coding))
            try:
                piece = inflater.decompress(rest, _STEP)
            except zlib.error as error:
                raise BrokenBody(Message("the body is not {coding}: {error}", coding=coding, error=error)) from error
            if piece:
                yield piece
            rest = inflater.unconsumed_tail
            if inflater.eof:
                # A gzip body may have several members; what follows the last one is padding.
                following = inflater.unused_data
                if not (coding != "deflate" and following.startswith(b"\x1f\x8b")):
                    return
                inflater, rest = None, following
    if inflater is not None and not inflater.eof:
        yield inflater.flush(_STEP)
        if not inflater.eof:
            raise BrokenBody(Message("the body ends too early"))


def _window(start: bytes, coding: str) -> int:
    if coding != "deflate":
        return 16 + zlib.MAX_WBITS
    # Some servers send deflate without the zlib frame that the standard asks for.
    return zlib.MAX_WBITS if start[0] & 0x0F == 8 else -zlib.MAX_WBITS
