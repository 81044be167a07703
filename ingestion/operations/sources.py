"""Acts of a person upon the list of sources: read it, add to it, change it and remove from it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from ingestion import workspace as folders
from ingestion.config import read_ingestion_config
from ingestion.jobs.queue import Run
from ingestion.jobs.uploads import keep_upload
from ingestion.operations.acts import act, enter, entered_as_begun, name_act, signed
from ingestion.operations.desk import Desk, queue_action, queue_run
from ingestion.records.quarantine import remove_files
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.seeds.discover import discover
from ingestion.seeds.merge import SeedReport
from ingestion.seeds.read import read_seeds
from ingestion.seeds.urls import addresses_in
from ingestion.tools import named_places, open_web
from ingestion.types.run import RunRequest
from ingestion.types.source import SeedSource
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
    run: Run | None


@act("curator", "Reading a list of sources")
def read_list(desk: Desk, file: Path) -> SeedReport:
    """Return the sources that a list or a folder of files would add; add nothing."""
    return read_seeds(file, desk.store.sources())


@act("curator", "Adding sources")
def add_list(desk: Desk, file: Path) -> SeedReport:
    """Put the new sources of a list, or the files of a folder, on the list; return the reading."""
    report = read_list(desk, file)
    # One act through every door.
    with entered_as_begun(desk, add_sources.__name__, ""):
        name_act(desk, _codes(report.new, report.corrected))
        desk.store.correct_addresses(report.corrected)
        lost, added = desk.store.add_new(report.new), report.new
        while lost:
            # Somebody has just given their codes to others. Read again they get the next ones; one that the list gives
            # itself is then refused with the reason.
            again = read_list(desk, file)
            added = (*(one for one in added if one not in lost), *again.new)
            report = replace(report, rejected=again.rejected, warnings=again.warnings, known=again.known)
            lost = desk.store.add_new(again.new)
        _enter_sources(desk, added, report.corrected)
    return replace(report, new=added)


@act("curator", "Adding sources", on="")
def add_sources(desk: Desk, new: Sequence[SeedSource], corrected: Sequence[SeedSource] = ()) -> None:
    """Put sources on the list, and give `corrected` ones their new addresses.

    InputError if somebody else has just given the codes of new ones to others.
    """
    name_act(desk, _codes(new, corrected))
    desk.store.correct_addresses(corrected)
    lost = desk.store.add_new(new)
    if lost:
        raise InputError(
            "{lost} of {count} sources were not added: their codes were given to others at the same moment.",
            help="Add the list again; these rows get other codes.",
            lost=len(lost),
            count=len(new),
        )
    _enter_sources(desk, new, corrected)


def _enter_sources(desk: Desk, new: Sequence[SeedSource], corrected: Sequence[SeedSource]) -> None:
    """Enter in the audit log which sources came onto the list and which have new addresses, if any."""
    if new or corrected:
        enter(desk, _codes(new, corrected))


def _codes(new: Sequence[SeedSource], corrected: Sequence[SeedSource]) -> str:
    return ", ".join(one.code for one in (*new, *corrected))


@act("curator", "Correcting an address", on_first=True)
def correct_address(desk: Desk, code: str, address: str, author: str) -> SourceRecord:
    """Give a source its right address and return it; the next run begins there.

    InputError if it cannot be fetched, is another source's, or if no list gave the source an address.
    """
    author = signed(desk, author)
    check_codes(desk.store, [code])
    before = desk.store.records()[code].source
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
    known = {normal_url(source.url): source.code for source in desk.store.sources() if source.url}
    if known.get(normal_url(url), code) != code:
        raise InputError(
            "{url} is the address of {code}.", help="Remove one of the two.", url=url, code=known[normal_url(url)]
        )
    desk.store.correct_addresses([replace(before, url=url)], author)
    enter(desk, f"{code}: {url}", by=author)
    return desk.store.records()[code]


@act("curator", "Adding sources")
def add_own_files(desk: Desk, files: Sequence[tuple[str, IO[bytes]]]) -> SeedReport:
    """Keep named files in the workspace and put them on the list, without unreadable ones."""
    folder = own_files(desk)
    folder.mkdir(exist_ok=True)
    kept = [keep_upload(desk.workspace, name, data).parent for name, data in files]
    # With its folder, so that two files of one name both stay.
    names = {one.replace(folder / one.name).name for one in kept}
    report = read_list(desk, folder)
    # Others may be adding files in this moment.
    new = tuple(one for one in report.new if Path(one.path).relative_to(folder.absolute()).parts[0] in names)
    rejected = tuple(one for one in report.rejected if Path(one.place).parts[0] in names)
    for one in rejected:
        shutil.rmtree(folder / Path(one.place).parts[0], ignore_errors=True)
    add_sources(desk, new)
    return replace(report, new=new, rejected=rejected)


@act("curator", "Looking for sources")
def discover_sources(desk: Desk, address: str, contains: Sequence[str] = ()) -> SeedReport:
    """Return the sources that an address proposes, found within a minute; nothing is added.

    InputError if the lists of its site hold no other address than the page itself.
    """
    config = read_ingestion_config(desk.workspace)
    hurried = replace(config, web=replace(config.web, total_seconds=_CALL_SECONDS, tries=1))
    with open_web(hurried, named_places([address])) as opened:
        # Closing ends the call that is under way and refuses the later ones.
        limit = threading.Timer(_DISCOVERY_SECONDS, opened.close)
        limit.daemon = True
        limit.start()
        try:
            report = discover(address, opened, desk.store.sources(), contains=tuple(contains))
        finally:
            limit.cancel()
    _check_leads_elsewhere(address, report, desk.store)
    return report


@act("admin", "Removing sources", on_first=True)
def remove_sources(desk: Desk, codes: Sequence[str], author: str) -> Removed:
    """Take sources off the list, their files off the disk and their documents out of the index.

    Conversations keep their quotations of a document, unless it is erased.
    """
    author = signed(desk, author)
    removed = check_codes(desk.store, codes)
    indexed = any(is_indexed(desk.store, code) for code in removed)
    empty_cache(folders.pages(desk.workspace))
    for code, record in desk.store.records().items():
        if code in removed:
            remove_kept_files(record.source, desk)
            # With what was known of its files, which a copy may share.
            desk.store.remove([code], author)
    enter(desk, ", ".join(removed), by=author)
    left = tuple(one.code for one in desk.store.sources() if one.parent in removed)
    return Removed(removed, left, queue_run(desk, RunRequest(("indexing",), removed)) if indexed else None)


@act("admin", "Removing sources")
def queue_removal(desk: Desk, codes: Sequence[str], author: str, *, undo_seconds: float = 0) -> Run:
    """Have the worker take sources off the list, after `undo_seconds` in which it can be cancelled."""
    author = signed(desk, author)
    removed = check_codes(desk.store, codes)
    return queue_action(desk, "remove", {"codes": removed, "author": author, "undo_seconds": undo_seconds})


def remove_kept_files(source: SeedSource, desk: Desk) -> None:
    """Remove the files of a source from the workspace: fetched, uploaded, and read."""
    remove_files(desk.workspace, desk.store, source.code)
    upload = Path(source.path)
    if source.path and is_inside(own_files(desk), upload.parent):
        shutil.rmtree(upload.parent, ignore_errors=True)


def check_codes(store: SourceStore, codes: Sequence[str]) -> tuple[str, ...]:
    """Return the codes, once each; InputError names those of no source."""
    known = {source.code for source in store.sources()}
    unknown = list(dict.fromkeys(code for code in codes if code not in known))
    if unknown:
        raise InputError(
            "No source has the code {codes}.", help="`sextant seeds list` lists the codes.", codes=", ".join(unknown)
        )
    return tuple(dict.fromkeys(codes))


def is_indexed(store: SourceStore, code: str) -> bool:
    """Return whether the source's document is in the index; after a failure of indexing it may be."""
    entry = store.entries().get((code, "indexing"))
    return entry is not None and entry.outcome.status in ("done", "failed")


@act("reader")
def own_files(desk: Desk) -> Path:
    """Return the folder of the files that were put on the list from elsewhere."""
    return desk.workspace / "sources"


def _check_leads_elsewhere(address: str, report: SeedReport, store: SourceStore) -> None:
    here = normal_url(address)
    known = any(normal_url(source.url) == here for source in store.sources())
    found = {normal_url(source.url) for source in report.new}
    if (found or report.known) and found <= {here} and report.known <= known and not report.rejected:
        raise InputError(
            "{address} leads to no other address: the feeds and sitemaps of its site hold nothing but this address.",
            help="Give the address of a sitemap or feed, or add the page itself as a seed of a portal.",
            address=address,
        )
