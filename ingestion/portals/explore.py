"""The documents that a portal offers, found by a bounded walk through its pages or from its catalogue."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.catalogues.catalogue_api import Endpoint, catalogue_kind, endpoints_of, read_catalogue
from ingestion.catalogues.record import Record
from ingestion.config import IngestionConfig
from ingestion.navigation.fetch import ContentFetcher
from ingestion.navigation.link_choice import (
    RankedLink,
    expected_languages,
    is_excluded,
    link_similarity,
    names_document,
    policy_word,
    rank_links,
    title_similarity,
    why_off_topic,
)
from ingestion.navigation.page_kind import is_policy_link, page_kind
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome, Refusal
from ingestion.types.source import Download, FoundDocument, ListedSource, PortalFindings
from ingestion.web.link_vocabulary import load_page_words, words_of
from ingestion.web.links import PageLink, host_of, says_nothing
from ingestion.web.page import Page
from ingestion.web.urls import normal_url
from rag_engine.messages import Message

# A page below a portal is a document when it has so much text of its own.
_DOCUMENT_TEXT = 1500
# Links on which a model is asked, and failures that are reported one by one.
_MOST_QUESTIONS, _MOST_TOLD = 10, 10


@dataclass(slots=True)
class _Walk:
    """A portal being explored: the documents found, the pages seen, and the number of omissions."""

    source: ListedSource
    tools: Tools
    fetcher: ContentFetcher
    known: frozenset[str]
    own: frozenset[str]
    hosts: frozenset[str]
    found: dict[str, FoundDocument] = field(default_factory=dict)
    visited: dict[str, str] = field(default_factory=dict)
    left_out: list[Message] = field(default_factory=list)
    failures: list[Refusal] = field(default_factory=list)
    known_again: set[str] = field(default_factory=set)
    too_many: set[str] = field(default_factory=set)
    off_topic: set[str] = field(default_factory=set)
    questions: int = 0

    @property
    def config(self) -> IngestionConfig:
        """Return the configuration of the run."""
        return self.tools.config

    @property
    def full(self) -> bool:
        """Whether no more documents are taken."""
        return len(self.found) >= self.config.portals.most_documents

    def take(self, found: FoundDocument) -> None:
        """Put the document among those found, unless it is known or there are enough."""
        key = normal_url(found.url)
        if not self.is_known(key) and key not in self.found and key not in self.own:
            if self.full:
                self.too_many.add(key)
            else:
                self.found[key] = found

    def is_known(self, key: str) -> bool:
        """Return whether another source has the address; it then counts as left out."""
        if key in self.own or key not in self.known:
            return False
        self.known_again.add(key)
        return True

    def is_decided(self, key: str) -> bool:
        """Return whether the address need not be followed.

        It was visited, is the portal's own, or another source's.
        """
        return key in self.visited or key in self.own or self.is_known(key)

    def findings(self) -> PortalFindings:
        """Return the findings, with a sentence for each kind of thing that was left out."""
        most = self.config.portals.most_documents
        messages = list(self.left_out)
        if self.too_many:
            messages.append(
                Message("Documents not taken, beyond the limit of {most}: {n:,}.", most=most, n=len(self.too_many))
            )
        if self.off_topic:
            messages.append(
                Message(
                    "Documents left out, neither like the portal's title nor with a policy word in the name: {n:,}.",
                    n=len(self.off_topic),
                )
            )
        if self.known_again:
            messages.append(Message("Documents left out, in the list already: {n:,}.", n=len(self.known_again)))
        messages += [failure.message for failure in self.failures[:_MOST_TOLD]]
        if (more := len(self.failures) - _MOST_TOLD) > 0:
            messages.append(Message("Further pages that could not be read: {n:,}.", n=more))
        return PortalFindings(tuple(self.found.values()), tuple(self.visited.values()), tuple(messages))


def explore(source: ListedSource, download: Download, tools: Tools, *, known: Collection[str]) -> Outcome:
    """Find the documents that a page or catalogue offers, as the PortalFindings of an outcome.

    Pages are followed on the portal's own site only, as deep as configured; documents may lie elsewhere. A page that
    cannot be read is reported in `left_out`. Nothing found is a rejection, unless a page that could not be read may be
    there later. Of a file no more than its head is asked for: its licence has not been looked at.

    `known` are the normal addresses of all other sources, without those found under this portal before. They are
    neither found nor followed, so that portals which list each other end.
    """
    if download.kind != "directory":
        return Outcome("skipped", "not_a_portal")
    start = download.urls[-1]
    with tempfile.TemporaryDirectory(prefix="sextant-portal-") as folder:
        walk = _Walk(
            source,
            tools,
            ContentFetcher(tools.web, tools.open_browser, tools.config.web, Path(folder) / "fetched"),
            frozenset(known),
            frozenset(normal_url(url) for url in (source.url, *download.urls)),
            frozenset({host_of(start), host_of(source.url)} - {""}),
        )
        try:
            _explore(walk, start, download.how == "browser")
        except Refusal as refusal:
            return refusal.outcome(walk.findings())
    return _outcome(walk, start)


def _outcome(walk: _Walk, start: str) -> Outcome:
    findings = walk.findings()
    if findings.found or walk.known_again:
        count = len(findings.found)
        message = Message("1 document was found." if count == 1 else "{n:,} documents were found.", n=count)
        return Outcome("done", "", message, findings)
    later = next((failure for failure in walk.failures if not failure.refused), None)
    if later is not None:
        return later.outcome(findings)
    message = Message(
        "{url} offers no document on 1 page visited."
        if len(findings.visited) == 1
        else "{url} offers no document on {n:,} pages visited.",
        url=start,
        n=len(findings.visited),
    )
    return Outcome("refused", "nothing_found", message, findings)


def _explore(walk: _Walk, start: str, by_browser: bool) -> None:
    """Walk the portal level by level. Refusal if its first page cannot be read."""
    got = walk.fetcher.rendered(start, "The portal") if by_browser else walk.fetcher.get(start, promised=False)
    walk.visited[normal_url(start)] = got.fetched.url
    if got.catalogue:
        try:
            _read_records(walk, Endpoint(catalogue_kind(got.body), start))
        except Refusal as refusal:
            if not walk.found:
                raise
            walk.failures.append(refusal)
        return
    if got.suffix != "html":
        raise Refusal("not_a_portal", "{start} is no longer a page; it gives {kind}.", start=start, kind=got.media_type)
    page = got.page()
    for endpoint in endpoints_of(page):
        try:
            _read_records(walk, endpoint)
        except Refusal as refusal:
            walk.failures.append(refusal)
        if walk.found or walk.known_again:
            # The catalogue is the whole of what its pages show.
            return
    _walk_levels(walk, page)


def _walk_levels(walk: _Walk, start: Page) -> None:
    level = [start]
    for depth in range(walk.config.portals.depth + 1):
        for page in level:
            _collect(walk, page)
        if depth == walk.config.portals.depth:
            _say_what_lies_deeper(walk, level)
            break
        level = [below for page in level for below in _below(walk, page)]


def _collect(walk: _Walk, page: Page) -> None:
    """Take the documents that a page links to: files, and policy pages of other sites."""
    links = [*page.embedded, *page.links]
    files = {link.url for link in links if link.file}
    for one in _ranked(walk, [link for link in links if link.url in files], page):
        if is_excluded(one.link):
            continue
        wanted = one.similarity >= walk.config.portals.direct_similarity or names_document(one.link, page.address)
        if wanted or _asked(walk, one.link, page):
            walk.take(_found(one.link, page))
        else:
            walk.off_topic.add(normal_url(one.link.url))
    for link in page.links:
        # Other sites are not visited: their licence has not been looked at. What they hold becomes a source itself.
        if not link.file and link.standing and not _same_site(walk, link.url) and is_policy_link(link, page):
            walk.take(_found(link, page))


def _below(walk: _Walk, page: Page) -> Iterator[Page]:
    """Yield the pages that a page leads to, the likeliest first, up to the limits.

    Documents among them are taken.
    """
    limits = walk.config.portals
    followed, left = 0, 0
    for link in _worth_following(walk, page):
        if walk.is_decided(normal_url(link.url)):
            continue
        if followed >= limits.per_level or len(walk.visited) >= limits.most_pages or walk.full:
            left += 1
            continue
        followed += 1
        below = _visited(walk, link, page)
        if below is not None:
            yield below
    if left:
        facts = {"url": page.address, "n": left}
        if walk.full:
            most = limits.most_documents
            said = Message("Links of {url} not followed, beyond {most} documents: {n:,}.", most=most, **facts)
        elif followed >= limits.per_level:
            most = limits.per_level
            said = Message("Links of {url} not followed, beyond {most} a level: {n:,}.", most=most, **facts)
        else:
            most = limits.most_pages
            said = Message("Links of {url} not followed, beyond {most} pages: {n:,}.", most=most, **facts)
        walk.left_out.append(said)


def _say_what_lies_deeper(walk: _Walk, level: Sequence[Page]) -> None:
    deeper = {
        normal_url(link.url)
        for page in level
        for link in _worth_following(walk, page)
        if is_policy_link(link, page) and not walk.is_decided(normal_url(link.url))
    }
    if deeper:
        depth = walk.config.portals.depth
        walk.left_out.append(Message("Links not followed, below {depth} levels: {n:,}.", depth=depth, n=len(deeper)))


def _worth_following(walk: _Walk, page: Page) -> Sequence[PageLink]:
    inside = [
        link
        for link in page.links
        if link.standing and not link.file and _same_site(walk, link.url) and not is_excluded(link)
    ]
    # Sorting is stable: policy words first, then by likeness.
    ranked = _ranked(walk, inside, page)
    return [one.link for one in sorted(ranked, key=lambda one: not policy_word(one.link, page.address))]


def _ranked(walk: _Walk, links: Sequence[PageLink], page: Page) -> Sequence[RankedLink]:
    return rank_links(links, walk.source.title or page.name, _languages(walk, page))


def _languages(walk: _Walk, page: Page) -> Sequence[str]:
    return expected_languages(page.language, walk.config.deduplication.preferred_languages)


def _visited(walk: _Walk, link: PageLink, above: Page) -> Page | None:
    """Return the page behind a link, if its links are to be followed; take it if it is a document."""
    walk.visited[normal_url(link.url)] = link.url
    try:
        got = walk.fetcher.look(link.url)
        page = got.page() if got.suffix == "html" else None
        if page is not None and page.needs_scripts:
            got = walk.fetcher.rendered(link.url, Message("{url} shows nothing without its scripts.", url=link.url))
            page = got.page()
    except Refusal as refusal:
        walk.failures.append(refusal)
        return None
    final = normal_url(got.fetched.url)
    if final != normal_url(link.url) and walk.is_decided(final):
        return None
    walk.visited[final] = got.fetched.url
    if not _same_site(walk, got.fetched.url):
        walk.left_out.append(
            Message("{url} leads to another site ({other}) and was not read.", url=link.url, other=got.fetched.url)
        )
        return None
    if page is not None:
        return _judged(walk, page, link, above)
    if not got.catalogue:
        _take_if_wanted(walk, PageLink(got.fetched.url, link.name, file=True), link, above)
    return None


def _judged(walk: _Walk, page: Page, link: PageLink, above: Page) -> Page | None:
    """Return the page behind a link, unless it is a document or leads to one; that is taken."""
    least = walk.config.portals.direct_similarity
    verdict = page_kind(page, expected=link.name, languages=_languages(walk, page), direct_similarity=least)
    if verdict.kind == "content" and len(page.text) >= _DOCUMENT_TEXT:
        _take_if_wanted(walk, PageLink(page.address, page.name or link.name), link, above)
        return None
    if verdict.kind != "landing":
        return page
    # Its best file is the document; where it only leads on to another page, acquisition follows it.
    best = verdict.candidates[0].link
    # A page that leads to one file bears its name; of several files each has its own.
    files = {normal_url(candidate.link.url) for candidate in verdict.candidates if candidate.link.file}
    name = best.name if len(files) > 1 and not says_nothing(best.name) else page.name or link.name
    _take_if_wanted(walk, PageLink(best.url if best.file else link.url, name, file=best.file), link, above)
    return page if best.file else None


def _take_if_wanted(walk: _Walk, link: PageLink, led: PageLink, above: Page) -> None:
    """Take a document if its name, or the name of its link, is on the subject."""
    title, least = walk.source.title or above.name, walk.config.portals.direct_similarity
    wanted = any(link_similarity(one, title) >= least or names_document(one, above.address) for one in (link, led))
    if wanted or _asked(walk, link, above):
        walk.take(_found(link, above))
    else:
        walk.off_topic.add(normal_url(link.url))


def _asked(walk: _Walk, link: PageLink, page: Page) -> bool:
    """Ask the model about a link on which the rules say no; False without one, and after ten questions."""
    if walk.tools.language_model is None or walk.questions >= _MOST_QUESTIONS:
        return False
    walk.questions += 1
    model, seconds = walk.tools.language_model, walk.config.model_seconds
    title = walk.source.title
    return not why_off_topic(link, expected=title, page_name=page.name, language_model=model, seconds=seconds)


def _read_records(walk: _Walk, endpoint: Endpoint) -> None:
    """Take the records of a catalogue that are documents on the subject."""
    data = 0
    for pages, answer in enumerate(read_catalogue(endpoint, walk.tools.web, max_bytes=walk.config.web.page_bytes), 1):
        walk.visited.setdefault(normal_url(answer.url), answer.url)
        for record in answer.records:
            if not record.url:
                data += 1
            elif _is_wanted(walk, record):
                walk.take(FoundDocument(record.url, record.title, record.authority, record.licence, answer.url))
            else:
                walk.off_topic.add(normal_url(record.url))
        if walk.full or pages >= walk.config.portals.most_pages:
            walk.left_out.append(
                Message(
                    "{url} was read up to page {n:,}, of {total:,} records in all."
                    if answer.total
                    else "{url} was read up to page {n:,}.",
                    url=endpoint.url,
                    n=pages,
                    total=answer.total or 0,
                )
            )
            break
    if data:
        walk.left_out.append(
            Message("Records of {url} left out, data without a document: {n:,}.", url=endpoint.url, n=data)
        )


def _is_wanted(walk: _Walk, record: Record) -> bool:
    if title_similarity(record.title, walk.source.title) >= walk.config.portals.direct_similarity:
        return True
    return bool(load_page_words().policy.covered(words_of(f"{record.title} {record.description}")))


def _found(link: PageLink, page: Page) -> FoundDocument:
    return FoundDocument(link.url, link.name, via=page.address)


def _same_site(walk: _Walk, url: str) -> bool:
    """Return whether an address is on the portal's host or below it."""
    host = host_of(url)
    return any(host == own or host.endswith(f".{own}") for own in walk.hosts)
