"""Acts of a person upon the list of sources: read it, add to it, change it and remove from it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from ingestion import workspace as folders
from ingestion.acts.context import ActContext, queue_job, queue_run
from ingestion.acts.register import act, enter, entered_as_begun, name_act, signed
from ingestion.config import read_ingestion_config
from ingestion.jobs.queue import Job
from ingestion.jobs.uploads import keep_upload
from ingestion.records.quarantine import remove_files
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.discover import discover
from ingestion.source_lists.merge import SourceListReport
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.source_lists.urls import addresses_in
from ingestion.tools import named_places, open_web
from ingestion.types.run import RunRequest
from ingestion.types.source import ListedSource
from ingestion.web.cache import empty_cache
from ingestion.web.urls import normal_url
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.workspace import is_inside

# One call of a discovery may take so long, and all of them together.
_CALL_SECONDS, _DISCOVERY_SECONDS = 20.0, 60.0


@dataclass(frozen=True, slots=True)
class Removed:
    """Sources taken off the list.

    `left` are the sources found under them, which stay. `run` takes their documents out of the index.
    """

    codes: tuple[str, ...]
    left: tuple[str, ...]
    job: Job | None


@act("curator", "Reading a list of sources")
def read_list(context: ActContext, file: Path) -> SourceListReport:
    """Return the sources that a list or a folder of files would add; add nothing."""
    return read_source_list(file, context.store.sources())


@act("curator", "Adding sources")
def add_list(context: ActContext, file: Path) -> SourceListReport:
    """Put the new sources of a list, or the files of a folder, on the list; return the reading."""
    report = read_list(context, file)
    # One act through every door.
    with entered_as_begun(context, add_sources.__name__, ""):
        name_act(context, _codes(report.new, report.corrected))
        context.store.correct_addresses(report.corrected)
        lost, added = context.store.add(report.new), report.new
        while lost:
            # Somebody has just given their codes to others. Read again they get the next ones; one that the list gives
            # itself is then refused with the reason.
            again = read_list(context, file)
            added = (*(source for source in added if source not in lost), *again.new)
            report = replace(report, refused=again.refused, warnings=again.warnings, known=again.known)
            lost = context.store.add(again.new)
        _enter_sources(context, added, report.corrected)
    return replace(report, new=added)


@act("curator", "Adding sources", on="")
def add_sources(context: ActContext, new: Sequence[ListedSource], corrected: Sequence[ListedSource] = ()) -> None:
    """Put sources on the list, and give `corrected` ones their new addresses.

    InputError if somebody else has just given the codes of new ones to others.
    """
    name_act(context, _codes(new, corrected))
    context.store.correct_addresses(corrected)
    lost = context.store.add(new)
    if lost:
        raise InputError(
            "{lost} of {count} sources were not added: their codes were given to others at the same moment.",
            help="Add the list again; these rows get other codes.",
            lost=len(lost),
            count=len(new),
        )
    _enter_sources(context, new, corrected)


def _enter_sources(context: ActContext, new: Sequence[ListedSource], corrected: Sequence[ListedSource]) -> None:
    """Enter in the audit log which sources came onto the list and which have new addresses, if any."""
    if new or corrected:
        enter(context, _codes(new, corrected))


def _codes(new: Sequence[ListedSource], corrected: Sequence[ListedSource]) -> str:
    return ", ".join(source.code for source in (*new, *corrected))


@act("curator", "Correcting an address", on_first=True)
def correct_address(context: ActContext, code: str, address: str, author: str) -> SourceRecord:
    """Give a source its right address and return it; the next run begins there.

    InputError if it cannot be fetched, is another source's, or if no list gave the source an address.
    """
    author = signed(context, author)
    check_codes(context.store, [code])
    before = context.store.records()[code].source
    if before.parent or not before.url:
        raise InputError(
            "{code} has no separate address: it was found under {parent}." if before.parent else "{code} is a file.",
            help="Put the right address on the list as a new source.",
            code=code,
            parent=before.parent,
        )
    read = addresses_in(address)
    if read.refused or len(read.found) != 1:
        why = read.refused[0] if read.refused else Message("“{text}” is not one web address", text=address[:80])
        raise InputError("{why}.", help="Give one address that begins with http:// or https://.", why=why)
    [url] = read.found
    known = {normal_url(source.url): source.code for source in context.store.sources() if source.url}
    if known.get(normal_url(url), code) != code:
        raise InputError(
            "{url} is the address of {code}.", help="Remove one of the two.", url=url, code=known[normal_url(url)]
        )
    context.store.correct_addresses([replace(before, url=url)], author)
    enter(context, f"{code}: {url}", by=author)
    return context.store.records()[code]


@act("curator", "Adding sources")
def add_own_files(context: ActContext, files: Sequence[tuple[str, IO[bytes]]]) -> SourceListReport:
    """Keep named files in the workspace and put them on the list, without unreadable ones."""
    folder = own_files(context)
    folder.mkdir(exist_ok=True)
    kept = [keep_upload(context.workspace, name, data).parent for name, data in files]
    # With its folder, so that two files of one name both stay.
    names = {path.replace(folder / path.name).name for path in kept}
    report = read_list(context, folder)
    # Others may be adding files in this moment.
    new = tuple(source for source in report.new if Path(source.path).relative_to(folder.absolute()).parts[0] in names)
    refused = tuple(row for row in report.refused if Path(row.place).parts[0] in names)
    for row in refused:
        shutil.rmtree(folder / Path(row.place).parts[0], ignore_errors=True)
    add_sources(context, new)
    return replace(report, new=new, refused=refused)


@act("curator", "Looking for sources")
def discover_sources(context: ActContext, address: str, contains: Sequence[str] = ()) -> SourceListReport:
    """Return the sources that an address proposes, found within a minute; nothing is added.

    InputError if the lists of its site hold no other address than the page itself.
    """
    config = read_ingestion_config(context.workspace)
    hurried = replace(config, web=replace(config.web, total_seconds=_CALL_SECONDS, tries=1))
    with open_web(hurried, named_places([address])) as opened:
        # Closing ends the call that is under way and refuses the later ones.
        limit = threading.Timer(_DISCOVERY_SECONDS, opened.close)
        limit.daemon = True
        limit.start()
        try:
            report = discover(address, opened, context.store.sources(), contains=tuple(contains))
        finally:
            limit.cancel()
    _check_leads_elsewhere(address, report, context.store)
    return report


@act("admin", "Removing sources", on_first=True)
def remove_sources(context: ActContext, codes: Sequence[str], author: str) -> Removed:
    """Take sources off the list, their files off the disk and their documents out of the index.

    Conversations keep their quotations of a document, unless it is erased.
    """
    author = signed(context, author)
    removed = check_codes(context.store, codes)
    indexed = any(is_indexed(context.store, code) for code in removed)
    empty_cache(folders.pages(context.workspace))
    for code, record in context.store.records().items():
        if code in removed:
            remove_kept_files(record.source, context)
            # With what was known of its files, which a copy may share.
            context.store.remove([code], author)
    enter(context, ", ".join(removed), by=author)
    left = tuple(source.code for source in context.store.sources() if source.parent in removed)
    return Removed(removed, left, queue_run(context, RunRequest(("indexing",), removed)) if indexed else None)


@act("admin", "Removing sources")
def queue_removal(context: ActContext, codes: Sequence[str], author: str, *, undo_seconds: float = 0) -> Job:
    """Have the worker take sources off the list, after `undo_seconds` in which it can be cancelled."""
    author = signed(context, author)
    removed = check_codes(context.store, codes)
    return queue_job(context, "remove", {"codes": removed, "author": author, "undo_seconds": undo_seconds})


def remove_kept_files(source: ListedSource, context: ActContext) -> None:
    """Remove the files of a source from the workspace: fetched, uploaded, and read."""
    remove_files(context.workspace, context.store, source.code)
    upload = Path(source.path)
    if source.path and is_inside(own_files(context), upload.parent):
        shutil.rmtree(upload.parent, ignore_errors=True)


def check_codes(store: SourceStore, codes: Sequence[str]) -> tuple[str, ...]:
    """Return the codes, once each; InputError names those of no source."""
    known = {source.code for source in store.sources()}
    unknown = list(dict.fromkeys(code for code in codes if code not in known))
    if unknown:
        raise InputError(
            "No source has the code {codes}.", help="`sextant sources list` lists the codes.", codes=", ".join(unknown)
        )
    return tuple(dict.fromkeys(codes))


def is_indexed(store: SourceStore, code: str) -> bool:
    """Return whether the source's document is in the index; after a failure of indexing it may be."""
    entry = store.entries().get((code, "indexing"))
    return entry is not None and entry.outcome.status in ("done", "failed")


@act("reader")
def own_files(context: ActContext) -> Path:
    """Return the folder of the files that were put on the list from elsewhere."""
    return context.workspace / "sources"


def _check_leads_elsewhere(address: str, report: SourceListReport, store: SourceStore) -> None:
    here = normal_url(address)
    known = any(normal_url(source.url) == here for source in store.sources())
    found = {normal_url(source.url) for source in report.new}
    if (found or report.known) and found <= {here} and report.known <= known and not report.refused:
        raise InputError(
            "{address} leads to no other address: the feeds and sitemaps of its site hold nothing but this address.",
            help="Give the address of a sitemap or feed, or add the page itself as a source of a portal.",
            address=address,
        )
