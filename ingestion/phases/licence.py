"""Phase "licence": the licence status of a source's address or file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingestion import workspace as folders
from ingestion.extraction.text_cache import forget_reading
from ingestion.file_names import file_hash
from ingestion.file_reading import FileReading
from ingestion.fingerprints import file_state
from ingestion.licence.check import judge_licence
from ingestion.navigation.fetch import fetch_with_browser
from ingestion.phases.definition import SourcePhase
from ingestion.records.source_record import SourceRecord
from ingestion.tools import Tools
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import NETWORK_REASONS, Outcome
from ingestion.types.source import Fetched, ListedSource
from ingestion.web.links import host_of
from rag_engine.messages import Message, join_messages


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:
    """Return the source's address or file, and the licence of the portal it was found under."""
    source, portal = record.source, tools.records.get(record.source.parent)
    above = portal.verdict if portal else None
    return {
        "source": [source.url, source.licence, *file_state(source.path)],
        "portal": [above.light, above.licence] if above else [],
    }


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Judge the licence; a document without a statement takes that of the portal it was found under."""
    folder = folders.licence_checks(tools.workspace)
    folder.mkdir(parents=True, exist_ok=True)
    # The first is the source's own, the others are terms of use.
    read_files: list[str] = []

    def read(path: Path) -> FileReading:
        """Return the kept reading of a file, so that the phases to come need not read and OCR it again."""
        sha256 = file_hash(path)
        read_files.extend([] if sha256 in read_files else [sha256])
        return tools.read_file(path, sha256).file

    def render(url: str) -> Fetched | None:
        browser = tools.open_browser()
        return browser.render(url) if browser else None

    found = judge_licence(
        record.source,
        partial(fetch_with_browser, tools.web, tools.open_browser),
        read,
        tools.language_model,
        folder=folder,
        seconds=tools.config.model_seconds,
        render=render,
    )
    if found.status != "done":
        # Of a page or file that must not be used nothing is kept.
        tools.forget(record.source.url)
    for sha256 in read_files[found.status == "done" :]:
        forget_reading(folders.readings(tools.workspace), sha256)
    before = record.outcomes.get("licence")
    if before is not None and before.passes and found.reason in NETWORK_REASONS:
        # An address that cannot be asked today has not changed its licence.
        again = Message("It could not be checked again: {why}", why=found.message)
        found = replace(before, message=join_messages([before.message, again]))
    portal = tools.records.get(record.source.parent)
    return _inherited(found, record.source, portal) if portal else found


def _inherited(found: Outcome, source: ListedSource, portal: SourceRecord) -> Outcome:
    """Return the portal's licence for a document on the same site that says nothing, else its own."""
    of_portal, of_document = portal.verdict, found.evidence
    if found.reason != "licence_unclear" or of_portal is None or not isinstance(of_document, LicenceVerdict):
        return found
    same_site = host_of(source.url) == host_of(portal.source.url)
    reserved = any(mark.light != "GREEN" for mark in of_document.marks)
    deciding = next((mark for mark in of_portal.marks if mark.light == "GREEN"), None)
    if of_portal.light != "GREEN" or reserved or not same_site or deciding is None:
        return found
    place = f"{portal.source.code}, the portal on the same site: {deciding.place}"
    verdict = replace(of_portal, marks=(replace(deciding, place=place), *of_document.marks))
    message = Message("{licence}, as its portal says.", licence=of_portal.licence)
    return Outcome("done", "licence_green", message, verdict)


PHASE = SourcePhase(
    run=run,
    inputs=inputs,
    tables=("licences.toml",),
    on_the_web=True,
    parallel=lambda config: config.web.parallel,
    asks_model=lambda outcome: outcome.reason == "licence_unclear",
    used_model=lambda outcome: (
        isinstance(outcome.evidence, LicenceVerdict) and any(mark.layer == "model" for mark in outcome.evidence.marks)
    ),
)
