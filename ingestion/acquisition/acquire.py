"""The file behind a source.

Fetched, recognised by its content, reached through landing pages, saved under its name.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from ingestion import workspace as folders
from ingestion.catalogues.catalogue_api import lists_records
from ingestion.disk_full import raise_of_own_disk
from ingestion.extraction.file_type import content_type
from ingestion.file_names import check_size, file_hash, place_for, safe_code, slug_of
from ingestion.navigation.fetch import Content, ContentFetcher
from ingestion.navigation.link_choice import RankedLink, expected_languages, why_off_topic
from ingestion.navigation.page_kind import PageVerdict, page_kind
from ingestion.records.quarantine import file_of
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome, Refusal
from ingestion.types.source import Download, ListedSource, Validators
from ingestion.web.link_vocabulary import load_page_words
from ingestion.web.links import PageLink, absolute, file_name_of, promises_file, says_nothing
from ingestion.web.page import Page, saved_page
from ingestion.web.urls import normal_url
from rag_engine.atomic_write import write_atomic
from rag_engine.messages import Message, join_messages

# Landing pages that are followed one after another, links tried on each, and addresses asked for in all.
_MOST_HOPS, _MOST_CANDIDATES, _MOST_REQUESTS = 3, 3, 10


@dataclass(frozen=True, slots=True)
class _Request:
    """An acquisition under way: its source, the file that was there before, and where it has been."""

    source: ListedSource
    tools: Tools
    fetcher: ContentFetcher
    before: Download | None
    now: str
    visited: set[str] = field(default_factory=set)
    notes: list[Message] = field(default_factory=list)


def acquire(source: ListedSource, tools: Tools, *, before: Download | None, now: str) -> Outcome:
    """Return the outcome with the Download of the source's document as evidence.

    A directory gives Outcome("skipped", "directory") with a Download without a file, for the portals to explore. With
    `before` only changed content is fetched. Unchanged content keeps `before`; the file of a former version stays in
    its place when other content comes. Where this fails or is refused while the former file is still there, it is a
    failure with `before` as evidence. `now` is an ISO time.
    """
    folder = folders.downloads(tools.workspace)
    folder.mkdir(parents=True, exist_ok=True)
    fetched = folder / f".{safe_code(source.code)}.fetched"
    asked = _Request(
        source, tools, ContentFetcher(tools.web, tools.open_browser, tools.config.web, fetched), before, now
    )
    try:
        return _with_former(asked, _local(asked, fetched) if source.path else _remote(asked))
    except Refusal as refusal:
        outcome = refusal.outcome()
        return _with_former(asked, replace(outcome, message=_joined(outcome.message, asked.notes)))
    finally:
        fetched.unlink(missing_ok=True)


def _with_former(asked: _Request, outcome: Outcome) -> Outcome:
    """Return the outcome; without success it keeps the former file, if there is one."""
    before = asked.before
    if outcome.status not in ("failed", "refused") or before is None or not _is_there(asked, before):
        return outcome
    vanished = bool(asked.source.path) and outcome.reason == "file_missing"
    if outcome.status == "refused" and not vanished:
        # What an address gives no longer is still what it gave.
        return Outcome("failed", outcome.reason, _joined(outcome.message, [Message("The local file is kept.")]), before)
    kept = Message("The file of {date} is kept.", date=before.retrieved[:10])
    return Outcome("failed", outcome.reason, _joined(outcome.message, [kept]), before, retryable=True)


def _local(asked: _Request, fetched: Path) -> Outcome:
    source = asked.source
    original = Path(source.path)
    if not original.is_file():
        raise Refusal(
            "file_missing", "{file} is not there.", help="Put the file back or remove the row.", file=source.path
        )
    check_size(original, asked.tools.config.limits)
    try:
        shutil.copyfile(original, fetched)
    except OSError as error:
        raise_of_own_disk(error)
        raise Refusal(
            "file_missing",
            "{file} cannot be read: {error}.",
            refused=False,
            file=source.path,
            error=Message(error.strerror or ""),
        ) from error
    kind = content_type(fetched, address=quote(original.name))
    slug = slug_of(source.title, original.stem)
    made = Download("", (), file_hash(fetched), fetched.stat().st_size, kind.media_type, "file", asked.now, how="local")
    return _stored(asked, made, slug, kind.suffix, fetched)


def _remote(asked: _Request) -> Outcome:
    url = asked.source.url.strip()
    if not url:
        raise Refusal("url_missing", "{code} has neither an address nor a file.", code=asked.source.code)
    address = absolute(url, "")
    if not address:
        raise Refusal("url_invalid", "{url!r} is not an http or https address.", url=url[:200])
    return _follow(asked, PageLink(address, ""), (), _MOST_HOPS)


def _follow(asked: _Request, link: PageLink, way: tuple[str, ...], hops: int) -> Outcome:
    """Return the outcome of the document that an address leads to; `way` are the addresses that led here."""
    asked.visited.add(normal_url(link.url))
    promised = link.file or promises_file(link.url)
    got = asked.fetcher.get(link.url, promised=promised, validators=_validators(asked, link.url))
    if got.fetched.status == 304:
        if asked.before is not None and got.fetched.url == asked.before.urls[-1]:
            return _unchanged(asked.before)
        # A landing page has not changed; that says nothing of the document behind it.
        got = asked.fetcher.get(link.url, promised=promised)
    asked.visited.update(normal_url(url) for url in got.fetched.urls)
    way = (*way, *got.fetched.urls)
    if got.catalogue:
        made = _download(asked, got, way, link.name)
        message = Message("{url} is a catalogue ({kind}).", url=got.fetched.url, kind=got.catalogue)
        return _directory(asked, made, message)
    if got.suffix != "html":
        return _file(asked, got, way, link)
    page = got.page()
    verdict = _judged(asked, page)
    if verdict.kind == "content" and page.needs_scripts and got.fetched.how == "http":
        asked.notes.append(
            Message("{url} shows nothing without its scripts; a browser was asked.", url=got.fetched.url)
        )
        silent = Message("{url} shows nothing without its scripts.", url=got.fetched.url)
        got = asked.fetcher.rendered(link.url, silent)
        way = (*way, *(url for url in got.fetched.urls if url not in way))
        page = got.page()
        verdict = _judged(asked, page)
    if verdict.warning:
        asked.notes.append(verdict.warning)
    match verdict.kind:
        case "directory":
            content = saved_page(page)
            made = replace(_download(asked, got, way, page.name), sha256=hashlib.sha256(content).hexdigest())
            message = Message("{url} lists documents: {why}", url=got.fetched.url, why=verdict.why)
            return _directory(asked, made, message)
        case "landing":
            return _landed(asked, page, verdict, got, way, hops)
        case _:
            return _page(asked, page, got, way)


def _landed(
    asked: _Request, page: Page, verdict: PageVerdict, got: Content, way: tuple[str, ...], hops: int
) -> Outcome:
    """Return the outcome of the best link of a landing page that passes the gate and leads to something."""
    new = [one for one in verdict.candidates if normal_url(one.link.url) not in asked.visited]
    if not new or hops == 0:
        if len(page.text) >= load_page_words().thresholds.document_text:
            asked.notes.append(Message("{url} was saved itself, since its links lead no further.", url=page.address))
            return _page(asked, page, got, way)
        raise Refusal(
            "no_document_link",
            "{url} leads only to pages already seen."
            if hops
            else "{url} leads on, and after {most} pages there was no document.",
            url=page.address,
            most=_MOST_HOPS,
        )
    refused: list[Message] = []
    failures: list[Refusal] = []
    for candidate in new[:_MOST_CANDIDATES]:
        if reason := _gate(asked, page, candidate):
            refused.append(reason)
        elif len(asked.visited) < _MOST_REQUESTS:
            try:
                # A link that only says "Download" is called as its page is.
                nameless = says_nothing(candidate.link.name)
                link = replace(candidate.link, context=page.name) if nameless else candidate.link
                outcome = _follow(asked, link, way, hops - 1)
            except Refusal as failure:
                failures.append(failure)
                continue
            given_up = [
                Message("{url} offers another link first, which was given up: {error}", url=page.address, error=refusal)
                for refusal in failures
            ]
            return replace(outcome, message=_joined(outcome.message, given_up))
    if failures:
        # What may succeed later decides; otherwise the first, which was the best candidate.
        raise next((failure for failure in failures if failure.retryable), failures[0])
    made = replace(_download(asked, got, way, new[0].link.name), kind="landing")
    message = Message("{url} offers nothing on the subject: {why}", url=page.address, why=join_messages(refused))
    return Outcome("refused", "off_topic", _joined(message, asked.notes), made)


def _gate(asked: _Request, page: Page, candidate: RankedLink) -> Message:
    """Return why a link is not followed, or ""."""
    return why_off_topic(
        candidate.link,
        expected=asked.source.title,
        page_name=page.name,
        language_model=asked.tools.language_model,
        seconds=asked.tools.config.model_seconds,
    )


def _judged(asked: _Request, page: Page) -> PageVerdict:
    if lists_records(page):
        return PageVerdict("directory", 1.0, Message("It is the list of a CKAN catalogue."))
    return page_kind(
        page,
        expected=asked.source.title,
        languages=expected_languages(page.language, asked.tools.config.deduplication.preferred_languages),
        direct_similarity=asked.tools.config.portals.direct_similarity,
        language_model=asked.tools.language_model,
        seconds=asked.tools.config.model_seconds,
    )


def _page(asked: _Request, page: Page, got: Content, way: tuple[str, ...]) -> Outcome:
    if len(page.text) < load_page_words().thresholds.least_text:
        raise Refusal(
            "empty_page",
            "{url} shows {count} characters of text and no document.",
            url=page.address,
            count=len(page.text),
        )
    content = saved_page(page)
    made = replace(
        _download(asked, got, way, page.name),
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        media_type="text/html",
        kind="content",
    )
    slug = slug_of(asked.source.title, page.name, file_name_of(page.address))
    return _stored(asked, made, slug, "html", content)


def _file(asked: _Request, got: Content, way: tuple[str, ...], link: PageLink) -> Outcome:
    if got.fetched.size == 0:
        raise Refusal("empty", "{url} gave an empty file.", help="Check the address.", url=got.fetched.url)
    named = file_name_of(quote(got.fetched.file_name)) or file_name_of(got.fetched.url)
    made = replace(_download(asked, got, way, link.name), kind="file")
    called = "" if says_nothing(link.name) else link.name
    return _stored(asked, made, slug_of(asked.source.title, called, named), got.suffix, got.path)


def _directory(asked: _Request, made: Download, message: str) -> Outcome:
    made = replace(made, kind="directory")
    if asked.before is not None and asked.before.kind == "directory" and asked.before.sha256 == made.sha256:
        made = asked.before
    return Outcome("skipped", "directory", _joined(message, asked.notes), made)


def _download(asked: _Request, got: Content, way: Sequence[str], title: str) -> Download:
    fetched = got.fetched
    return Download(
        path="",
        urls=tuple(url for place, url in enumerate(way) if place == 0 or way[place - 1] != url),
        sha256=fetched.sha256,
        size=fetched.size,
        media_type=got.media_type,
        kind="file",
        retrieved=asked.now,
        title=title,
        etag=fetched.etag,
        last_modified=fetched.last_modified,
        how=fetched.how,
    )


def _stored(asked: _Request, made: Download, slug: str, suffix: str, content: Path | bytes) -> Outcome:
    """Return the outcome of a local file; unchanged content keeps the former outcome."""
    before = asked.before
    if before is not None and before.sha256 == made.sha256 and _is_there(asked, before):
        return replace(_unchanged(before), message=_joined(_unchanged(before).message, asked.notes))
    place = place_for(folders.downloads(asked.tools.workspace), asked.source.code, slug, suffix, made.sha256)
    if isinstance(content, bytes):
        write_atomic(place, content, durable=True)
    else:
        content.replace(place)
    made = replace(made, path=place.relative_to(asked.tools.workspace).as_posix())
    return Outcome("done", "", _joined("", asked.notes), made)


def _unchanged(before: Download) -> Outcome:
    if before.kind == "directory":
        return Outcome(
            "skipped", "directory", Message("The list has not changed since {date}.", date=before.retrieved), before
        )
    return Outcome("done", "not_modified", Message("Nothing has changed since {date}.", date=before.retrieved), before)


def _validators(asked: _Request, url: str) -> Validators | None:
    """Return what to send for an address that led to the former file, if that is still there.

    The address may be a redirect to the file or a landing page; which of them answers 304 is known by the final
    address. The time goes to the file's own address alone: a landing page may be older than its document.
    """
    before = asked.before
    if before is None or url not in before.urls or not (before.etag or before.last_modified):
        return None
    if before.kind != "directory" and not _is_there(asked, before):
        return None
    if url == before.urls[-1]:
        return Validators(before.etag, before.last_modified)
    return Validators(before.etag) if before.etag else None


def _is_there(asked: _Request, before: Download) -> bool:
    return bool(before.path) and file_of(asked.tools.workspace, before) is not None


def _joined(message: str, notes: Sequence[Message]) -> Message:
    return join_messages([message, *notes])
