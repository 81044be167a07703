"""Sources from an address: the entries of its sitemap or feed, or of the lists that its page links to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin

from protego import Protego

from ingestion.protocols import Web
from ingestion.source_lists.feeds import FeedEntry, list_kind, read_entries, read_page_lists, read_sitemap, unpack
from ingestion.source_lists.merge import SourceListReading, SourceListReport, key_of, match_sources
from ingestion.source_lists.read_workbook import add_entries
from ingestion.types.outcome import Refusal
from ingestion.types.source import ListedSource
from ingestion.web.urls import normal_url
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.text.folding import fold

_MOST_LISTS = 20
_MOST_ADDRESSES = 5_000
_MOST_BYTES = 50_000_000
_ACCEPT = "application/xml,text/xml,application/rss+xml,application/atom+xml,text/html;q=0.8,*/*;q=0.5"


@dataclass(slots=True)
class _Search:
    """Proposals found so far, within twenty lists and five thousand addresses."""

    web: Web
    words: tuple[str, ...]
    reading: SourceListReading = field(default_factory=SourceListReading)
    read: int = 0
    visited: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    entries: int = 0


def discover(url: str, web: Web, known: Sequence[ListedSource], *, contains: tuple[str, ...] = ()) -> SourceListReport:
    """Return the proposals from an address, with the titles and dates of its lists; add nothing.

    With `contains`, only entries with one of the words in address or title; case and accents do not count. Refusal if
    the address itself cannot be fetched, InputError if it leads to no list.
    """
    search = _Search(web, tuple(fold(word) for word in contains))
    body = _fetch(url, search)
    if list_kind(body) in ("page", ""):
        _from_page(url, body, search)
    else:
        _follow(deque([(url, body)]), search)
    if len(search.reading.candidates) >= _MOST_ADDRESSES:
        search.reading.warnings.append(
            Message("Only the first {n:,} addresses were taken; narrow them down by words.", n=_MOST_ADDRESSES)
        )
    if contains:
        words = ", ".join(contains)
        search.reading.warnings.append(
            Message(
                "{n:,} of {total:,} addresses contain: {words}.",
                n=len(search.reading.candidates),
                total=search.entries,
                words=words,
            )
        )
    return match_sources(search.reading, known)


def _from_page(url: str, body: bytes, search: _Search) -> None:
    """Follow the lists named in the page's head, else in robots.txt, else /sitemap.xml."""
    named = [urljoin(url, link) for link in read_page_lists(body)]
    _follow(deque((link, None) for link in named), search)
    if not search.entries:
        with suppress(Refusal):
            rules = Protego.parse(_fetch(urljoin(url, "/robots.txt"), search).decode("utf-8", "replace"))
            _follow(deque((urljoin(url, link), None) for link in rules.sitemaps), search)
    if not search.entries:
        _follow(deque([(urljoin(url, "/sitemap.xml"), None)]), search)
    if not search.entries:
        raise InputError(
            "{url} leads to no sitemap and no feed: neither its head, robots.txt nor /sitemap.xml names one.",
            help="Give the address of a sitemap or feed, or add the page itself as a source of a portal.",
            url=url,
        )


def _follow(queue: deque[tuple[str, bytes | None]], search: _Search) -> None:
    """Read the lists in order, then the lists of an index."""
    while queue:
        address, body = queue.popleft()
        if body is None and normal_url(address) in search.visited:
            continue
        if len(search.reading.candidates) >= _MOST_ADDRESSES:
            return
        if search.read >= _MOST_LISTS:
            search.reading.warnings.append(
                Message("Only {most} lists were read; {n} more were left out.", most=_MOST_LISTS, n=len(queue) + 1)
            )
            return
        search.read += 1
        try:
            body = _fetch(address, search) if body is None else body
            if list_kind(body) == "sitemap index":
                queue.extend((urljoin(address, entry.url), None) for entry in read_sitemap(body, _MOST_ADDRESSES))
            elif (entries := read_entries(body)) is not None:
                _take(address, entries, search)
            else:
                search.reading.warnings.append(Message("{url} is neither a sitemap nor a feed.", url=address))
        except (Refusal, InputError) as error:
            search.reading.warnings.append(Message("{url} was left out: {error}", url=address, error=error))


def _take(address: str, entries: Sequence[FeedEntry], search: _Search) -> None:
    """Add the entries that have one of the words and are not proposed yet, as far as there is room."""
    wanted: list[FeedEntry] = []
    for entry in entries:
        whole = FeedEntry(urljoin(address, entry.url), entry.title, entry.date)
        search.entries += 1
        text = fold(f"{whole.url} {whole.title}")
        key = key_of(whole.url)
        if key in search.keys or (search.words and not any(word in text for word in search.words)):
            continue
        search.keys.add(key)
        wanted.append(whole)
    room = _MOST_ADDRESSES - len(search.reading.candidates)
    add_entries(wanted[:room], address, search.reading)


def _fetch(url: str, search: _Search) -> bytes:
    search.visited.add(normal_url(url))
    return unpack(search.web.fetch(url, max_bytes=_MOST_BYTES, accept=_ACCEPT).body)
