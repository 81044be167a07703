"""One source through one phase: what is handed to each phase, and what it gives back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from ingestion.acquisition.acquire import acquire
from ingestion.acquisition.fetch import BrowserWeb
from ingestion.config import IngestionConfig
from ingestion.extraction.text_cache import Reading, load_reading, reading_of, save_reading
from ingestion.licence.check import domain_mark, judge_licence
from ingestion.licence.patterns import read_statements
from ingestion.licence.verdict import decide
from ingestion.metadata.phase import describe_source
from ingestion.portals.explore import explore
from ingestion.protocols import Extractor, LanguageModel, OpenBrowser, Web
from ingestion.quality.score import judge_quality
from ingestion.records.quarantine import file_of, remove_file
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import now
from ingestion.types import (
    NETWORK_REASONS,
    Download,
    Extraction,
    FileRefused,
    FoundDocument,
    LicenceMark,
    LicenceVerdict,
    Outcome,
    Phase,
    PortalFindings,
    SeedSource,
)
from ingestion.web.links import host_of
from ingestion.web.urls import normal_url
from rag_engine import workspace as paths
from rag_engine.errors import SextantError
from rag_engine.geography import Gazetteer
from rag_engine.protocols import Vectors

# What a licence is read from in a document: its first two pages and its last, about as long as pages are.
_OPENING, _ENDING = 6000, 3000


@dataclass(frozen=True, slots=True)
class Tools:
    """What the phases work with; made once for a run.

    `web` keeps what it fetched until `forget` is called for the address, so that the check of a licence and the
    download are one request. `judge_trouble` says why a model that was
    named is not asked. `abort` ends what the network and the readers are at. `reader` names what reads files:
    the version of extraction, its limits, OCR and tables. `listed` maps the
    addresses on the list in normal form to the portal they were found under, or to "".
    """

    workspace: Path
    config: IngestionConfig
    web: Web
    open_browser: OpenBrowser
    forget: Callable[[str], None]
    abort: Callable[[], None]
    reader: str
    extractor: Extractor
    language_model: LanguageModel | None
    language_model_error: str
    gazetteer: Gazetteer
    identify: Callable[[str], str]
    encode: Callable[[list[str]], Vectors] | None
    today: date
    listed: Mapping[str, str] = field(default_factory=dict)


Step = Callable[[SourceRecord, Tools], Outcome]


def take(phase: Phase, record: SourceRecord, tools: Tools) -> Outcome:
    """How the phase ends for the source. Whatever goes wrong ends here: one source never stops the others."""
    try:
        return STEPS[phase](record, tools)
    except FileRefused as refusal:
        return Outcome(refusal.status, refusal.reason, str(refusal), retryable=refusal.retryable)
    except SextantError as error:
        return Outcome("failed", "unexpected", str(error), retryable=error.retryable)
    except Exception as error:
        return Outcome("failed", "unexpected", f"{type(error).__name__}: {error}", retryable=True)


def licence(record: SourceRecord, tools: Tools) -> Outcome:
    """The traffic light for the source's address or file."""
    folder = paths.licence_checks(tools.workspace)
    folder.mkdir(parents=True, exist_ok=True)
    language_model = tools.language_model if tools.config.use_model else None
    seconds = tools.config.model_seconds
    web = BrowserWeb(tools.web, tools.open_browser)
    found = judge_licence(record.source, web, tools.extractor, language_model, folder=folder, seconds=seconds)
    if found.status != "done":
        # Nothing of a page or file stays that may not be used.
        tools.forget(record.source.url)
    before = record.outcomes.get("licence")
    if before is not None and before.passes and found.reason in NETWORK_REASONS:
        # An address that cannot be asked today has not changed its licence.
        return replace(before, message=f"{before.message} It could not be checked again: {found.message}")
    return found


def inherited(found: Outcome, source: SeedSource, portal: SourceRecord) -> Outcome:
    """The licence of a document under a portal: where nothing is said of it, what its portal says on the same site."""
    of_portal, of_document = portal.verdict, found.evidence
    if found.reason != "licence_unclear" or of_portal is None or not isinstance(of_document, LicenceVerdict):
        return found
    same_site = host_of(source.url) == host_of(portal.source.url)
    reserved = any(mark.light != "GREEN" for mark in of_document.marks)
    if of_portal.light != "GREEN" or reserved or not same_site:
        return found
    deciding = next((mark for mark in of_portal.marks if mark.light == "GREEN"), None)
    if deciding is None:
        return found
    place = f"{portal.source.code}, the portal on the same site: {deciding.place}"
    verdict = replace(of_portal, marks=(replace(deciding, place=place), *of_document.marks))
    return Outcome("done", "licence_green", f"{of_portal.licence}, as its portal says.", verdict)


def acquisition(record: SourceRecord, tools: Tools) -> Outcome:
    """The file behind the source's address."""
    acquired = acquire(
        record.source,
        tools.web,
        tools.open_browser,
        tools.language_model if tools.config.use_model else None,
        folder=paths.downloads(tools.workspace),
        workspace=tools.workspace,
        before=record.download,
        config=tools.config,
        now=now(),
    )
    download, before = acquired.evidence, record.download
    for url in download.urls if isinstance(download, Download) and download.path else ():
        tools.forget(url)
    if acquired.passes and isinstance(download, Download) and (elsewhere := _left_trustedhost_of(record, download)):
        if before is None or before.path != download.path:
            remove_file(tools.workspace, download)
        return Outcome("skipped", "licence_unclear", elsewhere)
    stays = before is not None and before.path and file_of(tools.workspace, before) is not None
    if stays and acquired.status == "rejected":
        # What an address gives no longer is still what it gave.
        return Outcome("failed", acquired.reason, f"{acquired.message} The file at hand is kept.", before)
    return acquired


def _left_trustedhost_of(record: SourceRecord, download: Download) -> str:
    """What is to be said of a file that lies on another host than the one whose works are known to be free."""
    verdict = record.verdict
    if verdict is None or not download.urls or record.licence_decided:
        return ""
    freed = [mark for mark in verdict.marks if mark.light == "GREEN"]
    last = domain_mark(download.urls[-1])
    if not freed or any(mark.layer != "domain" for mark in freed) or (last is not None and last.light == "GREEN"):
        return ""
    return f"{freed[0].quote} is known to be free, but the address leads to {host_of(download.urls[-1])}, which is not."


def portals(record: SourceRecord, tools: Tools) -> Outcome:
    """The documents that a portal offers."""
    download = record.download
    if download is None or download.kind != "directory":
        return Outcome("skipped", "not_a_portal")
    if record.source.parent:
        bounds = f"Portals are explored {tools.config.portals.depth} levels deep."
        return Outcome("rejected", "nothing_found", f"It lists documents itself. {bounds} Put its address on the list.")
    language_model = tools.language_model if tools.config.use_model else None
    # Its own documents are found again; those of other rows are not its.
    own = normal_url(record.source.url)
    known = frozenset(url for url, above in tools.listed.items() if above != record.source.code and url != own)
    explored = explore(
        record.source, download, tools.web, tools.open_browser, language_model, config=tools.config, known=known
    )
    findings = explored.evidence
    for url in findings.visited if isinstance(findings, PortalFindings) else ():
        tools.forget(url)
    return explored


def children_of(
    portal: SeedSource, found: Sequence[FoundDocument], existing: Sequence[SeedSource], last: int = 0
) -> list[SeedSource]:
    """The documents of a portal as sources: {parent}.{n}, where n stays with its address for ever.

    `last` is the highest number that was ever given.
    """
    numbers = [int(one.code.rpartition(".")[2]) for one in existing]
    known, last = {one.url for one in existing}, max([last, *numbers])
    new = [one for one in found if one.url not in known]
    return [
        SeedSource(
            code=f"{portal.code}.{last + offset}",
            url=one.url,
            title=one.title,
            authority=one.authority or portal.authority,
            licence=one.licence,
            parent=portal.code,
            origin=f"found under {portal.code}" + (f" ({one.via})" if one.via else ""),
        )
        for offset, one in enumerate(new, start=1)
    ]


def extraction(record: SourceRecord, tools: Tools) -> Outcome:
    """The file's text with positions, its cleaned form, its language; a file that says other than its page waits."""
    download = record.download
    path = file_of(tools.workspace, download) if download else None
    if download is None or path is None:
        return Outcome("failed", "file_missing", "The file is gone from the workspace. Run acquisition again.")
    reading = read_file(path, download.sha256, tools)
    text = reading.extracted.text
    size = path.stat().st_size
    evidence = Extraction(
        text_hash=hashlib.sha256(reading.cleaned.encode()).hexdigest(),
        media_type=reading.extracted.media_type,
        pages=reading.extracted.pages,
        ocr_pages=len(reading.extracted.ocr_pages),
        unread_pages=len(reading.extracted.unread_pages),
        characters=len(text),
        cleaned_characters=len(reading.cleaned),
        title=reading.extracted.title,
        language=reading.language,
        size=size,
        warnings=reading.extracted.warnings,
    )
    against = _contradiction(record, text)
    if against:
        said = min(against, key=lambda mark: ("RED", "YELLOW", "GREEN").index(mark.light))
        page = record.verdict.licence or record.verdict.light if record.verdict else ""
        message = f"Its page said {page}, but {said.place} says: “{said.quote}”"
        return Outcome("skipped", "licence_conflict", message, replace(evidence, licence_marks=against))
    return Outcome("done", "", " ".join(reading.extracted.warnings), evidence)


def read_file(path: Path, sha256: str, tools: Tools) -> Reading:
    """What the file says, from the workspace where it was read before."""
    folder = paths.readings(tools.workspace)
    kept = load_reading(folder, sha256, tools.reader)
    if kept is None:
        extracted = tools.extractor.extract(path)
        kept = reading_of(extracted, tools.extractor.declared(path), tools.identify(extracted.text))
        save_reading(folder, sha256, tools.reader, kept)
    return kept


def quality(record: SourceRecord, tools: Tools) -> Outcome:
    """Whether the document is worth keeping, with its score."""
    extraction, reading = record.extraction, reading_at_hand(record, tools)
    assert extraction is not None, "quality follows extraction"
    return judge_quality(record.source, extraction, reading.extracted, reading.cleaned, tools.config.quality)


def metadata(record: SourceRecord, tools: Tools) -> Outcome:
    """The document described in the taxonomy."""
    extraction, reading = record.extraction, reading_at_hand(record, tools)
    assert extraction is not None, "metadata follows extraction"
    return describe_source(
        record.source,
        reading.extracted,
        extraction,
        reading.declared,
        tools.language_model if tools.config.use_model else None,
        gazetteer=tools.gazetteer,
        config=tools.config,
    )


def reading_at_hand(record: SourceRecord, tools: Tools) -> Reading:
    """What was read from the source's file; read again where it is no longer kept."""
    download = record.download
    path = file_of(tools.workspace, download) if download else None
    if download is None or path is None:
        raise SextantError(
            "The file is gone from the workspace.", help="Run acquisition again for this source.", retryable=True
        )
    return read_file(path, download.sha256, tools)


def _contradiction(record: SourceRecord, text: str) -> tuple[LicenceMark, ...]:
    """What a downloaded document says of its licence, where that speaks against what its page said."""
    verdict = record.verdict
    if verdict is None or record.source.path or record.licence_decided:
        return ()
    marks = (
        *read_statements(text[:_OPENING], "the document's opening"),
        *(read_statements(text[-_ENDING:], "the document's end") if len(text) > _OPENING else ()),
    )
    return marks if marks and decide((*verdict.marks, *marks)).light != "GREEN" else ()


STEPS: Mapping[Phase, Step] = {
    "licence": licence,
    "acquisition": acquisition,
    "portals": portals,
    "extraction": extraction,
    "quality": quality,
    "metadata": metadata,
}
