"""Phase "acquisition": the file behind a source's address."""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.acquisition.acquire import acquire
from ingestion.fingerprints import file_state
from ingestion.phases.definition import SourcePhase
from ingestion.records.quarantine import file_of, remove_file
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import now
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome
from ingestion.types.run import RunRequest
from ingestion.types.source import Download
from ingestion.web.links import host_of
from ingestion.web.trusted_domains import domain_mark
from rag_engine.messages import NO_MESSAGE, Message


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:
    """Return the source's address or file, whether a browser may be used, and whether a person decided."""
    source = record.source
    return {
        "source": [source.url, source.title, *file_state(source.path)],
        "browser": tools.config.web.browser,
        "decided": record.licence_decided,
    }


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Fetch the file; an earlier file stays if the address no longer gives it."""
    before = record.download
    acquired = acquire(record.source, tools, before=before, now=now())
    download = acquired.evidence
    for url in download.urls if isinstance(download, Download) and download.path else ():
        tools.forget(url)
    if acquired.passes and isinstance(download, Download) and (elsewhere := _left_trusted_host(record, download)):
        if before is None or before.path != download.path:
            remove_file(tools.workspace, download)
        return Outcome("skipped", "licence_unclear", elsewhere)
    if acquired.passes and isinstance(download, Download) and _is_unfreed_document(record, download):
        remove_file(tools.workspace, download)
        return Outcome(
            "skipped", "licence_unclear", Message("It was taken for a catalogue, but it is a single document.")
        )
    return acquired


def _is_unfreed_document(record: SourceRecord, download: Download) -> bool:
    """Return whether a source that passed the licence phase as a catalogue turns out to be a document.

    The records of a catalogue have their own licences, so the licence of the page says nothing about this document.
    """
    verdict = record.page_verdict
    if verdict is None or verdict.light == "GREEN" or record.source.path or record.licence_decided:
        return False
    return download.kind != "directory"


def _left_trusted_host(record: SourceRecord, download: Download) -> Message:
    """Return a message if the file left the host whose works are known to be free, else ""."""
    verdict = record.verdict
    if verdict is None or not download.urls or record.licence_decided:
        return NO_MESSAGE
    freed = [mark for mark in verdict.marks if mark.light == "GREEN"]
    last = domain_mark(download.urls[-1])
    if not freed or any(mark.layer != "domain" for mark in freed) or (last is not None and last.light == "GREEN"):
        return NO_MESSAGE
    return Message(
        "{host} is known to be free, but the address leads to {other}, which is not.",
        host=freed[0].quote,
        other=host_of(download.urls[-1]),
    )


def _is_stale(record: SourceRecord, tools: Tools, request: RunRequest) -> bool:
    """Return whether newer files are asked for, or the file is gone from the workspace."""
    download = record.download
    missing = download is not None and bool(download.path) and file_of(tools.workspace, download) is None
    return request.refresh or missing


PHASE = SourcePhase(
    run=run,
    inputs=inputs,
    tables=("pages.toml", "licences.toml"),
    on_the_web=True,
    parallel=lambda config: config.web.parallel,
    is_stale=_is_stale,
)
