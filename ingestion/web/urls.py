"""An address in its normal form, so that its spellings are equal, in one language or in any."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from rag_engine.config import DATA
from rag_engine.text.languages import names_to_codes

if TYPE_CHECKING:
    from tldextract import ExtractResult

_DEFAULT_PORTS = {"http": 80, "https": 443}
_INDEX_PAGES = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_PATH_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
# Path segments and file suffixes in which a language is written: /en/, /en-gb/, report_fr.pdf, page.de.html, -es.
_SEGMENT = re.compile(r"([a-z]{2})(?:[-_][a-z]{2})?")
_NAME_SUFFIX = re.compile(r"[-_.]([^\W\d_]{4,12})(?=(?:\.[a-z]{3,5})?$)")
_FILE_SUFFIX = re.compile(r"[-_.]([a-z]{2})(?=(?:\.[a-z]{3,5})?$)")


@dataclass(frozen=True, slots=True)
class AddressWords:
    """Parts of addresses from data/addresses.toml; `written_out` are languages that addresses spell out."""

    tracking: frozenset[str]
    tracking_prefixes: tuple[str, ...]
    sessions: frozenset[str]
    language_keys: frozenset[str]
    languages: frozenset[str]
    only_segments: frozenset[str]
    written_out: tuple[str, ...]


@cache
def address_words() -> AddressWords:
    """Return the table of parts of addresses, read once."""
    table: dict[str, Any] = tomllib.loads((DATA / "addresses.toml").read_text(encoding="utf-8"))
    ordered = ("tracking_prefixes", "written_out")
    words: dict[str, Any] = {name: (tuple if name in ordered else frozenset)(row) for name, row in table.items()}
    return AddressWords(**words)


def normal_url(url: str) -> str:
    """Return the address without parts that do not change the page; "" if it is not http(s).

    Scheme and host are in lower case, parameters are sorted, and percent-encoding is in one form. "www.", default
    ports, user names, fragments, index pages, the last slash, tracking and session parameters are left out. The schemes
    http and https are one. The language stays: two languages are two addresses. This is for comparing, not for
    fetching.

    >>> normal_url("HTTP://Example.org:80/a/?utm_source=x#top")
    'https://example.org/a'
    """
    parts = _split(url)
    return _joined(*parts) if parts else ""


def url_of_any_language(url: str) -> str:
    """Return the normal address without its language, equal for the language variants of one page.

    So report.pdf, report_fr.pdf and /fr/report.pdf are one; "" if it is not http(s). All places are looked at, for an
    address may name its language twice (/en/report_en.pdf).
    """
    parts = _split(url)
    if parts is None:
        return ""
    host, path, query = parts
    words = address_words()
    first, dot, rest = host.partition(".")
    if dot and "." in rest and len(first) == 2 and first in words.languages:
        host = rest
    *folders, file = path.split("/")
    path = "/".join([*(folder for folder in folders if not _is_language(folder)), _without_language(file)]).rstrip("/")
    kept = [(key, value) for key, value in query if key.lower() not in words.language_keys or not _is_language(value)]
    return _joined(host, path, kept)


def _without_language(file: str) -> str:
    """Return the last segment of a path without the language that it ends in."""
    if _is_language(file):
        return ""
    match = _FILE_SUFFIX.search(file.lower()) or _NAME_SUFFIX.search(file.lower())
    words = address_words()
    if match and (match[1] in names_to_codes(words.written_out) or match[1] in words.languages - words.only_segments):
        return file[: match.start()] + file[match.end() :]
    return file


def _is_language(value: str) -> bool:
    lowered = value.strip().lower()
    match = _SEGMENT.fullmatch(lowered)
    words = address_words()
    return lowered in names_to_codes(words.written_out) or bool(match and match[1] in words.languages)


def _joined(host: str, path: str, query: list[tuple[str, str]]) -> str:
    return urlunsplit(("https", host, path, urlencode(query, quote_via=quote, safe=""), ""))


def registered_name(url: str) -> str:
    """Return the registrable domain of an address, or "" if it has none.

    >>> registered_name("https://www.example.co.uk/a")
    'example.co.uk'
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
    return _registered_names()(host).top_domain_under_public_suffix


@cache
def _registered_names() -> Callable[[str], ExtractResult]:
    from tldextract import TLDExtract

    # The list that comes with the package, so that nothing is asked of the network.
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def _split(url: str) -> tuple[str, str, list[tuple[str, str]]] | None:
    """Return host (with a port that is not the default), path, and the parameters that matter in order."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
    except ValueError:  # a port or an IPv6 address that is none
        return None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not host:
        return None
    try:
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except UnicodeError:  # labels that no registry would take; compared as they are written
        host = host.casefold()
    host = host.removeprefix("www.")
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        host = f"{host}:{port}"
    path = _PATH_SESSION.sub("", parts.path)
    path = quote(unquote(_INDEX_PAGES.sub("/", path)), safe="/:@!$&'()*+,;=~-._").rstrip("/")
    path = re.sub(r"/{2,}", "/", path)
    words, pairs = address_words(), sorted(parse_qsl(parts.query, keep_blank_values=True))
    tracking, prefixes = words.tracking, words.tracking_prefixes
    query = [pair for pair in pairs if pair[0].lower() not in tracking and not pair[0].lower().startswith(prefixes)]
    return host, path, query
