"""Phase "extraction": the file's text with positions, its cleaned form and its language."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from ingestion.extraction.date_of_effect import stated_effect
from ingestion.extraction.identifiers import identifiers_of
from ingestion.extraction.text_cache import languages_of_parts
from ingestion.licence.check import decide
from ingestion.licence.reading import document_statements
from ingestion.phases.definition import SourcePhase
from ingestion.records.quarantine import file_of
from ingestion.records.source_record import SourceRecord
from ingestion.tools import Tools
from ingestion.types.licence import LicenceMark
from ingestion.types.outcome import Outcome
from ingestion.types.source import Extraction
from rag_engine.messages import Message, join_messages
from rag_engine.text.identifiers import work_place
from rag_engine.types.document import ExtractedText


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:
    """Return the file, what reads it, and the licence that its text is compared with."""
    return {
        "file": record.download.sha256 if record.download else "",
        "decided": record.licence_decided,
        "licence": record.verdict.licence if record.verdict else "",
        "reader": tools.reader,
    }


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Read the file; if its licence contradicts that of its page, it awaits a decision."""
    path = file_of(tools.workspace, record.download) if record.download else None
    if path is None:
        return Outcome("failed", "file_missing", Message("The file is gone from the workspace. Run acquisition again."))
    reading, urls = tools.read(record), record.download.urls if record.download else ()
    text = reading.extracted.text
    identifiers = identifiers_of(reading.extracted, reading.properties, urls)
    # A consolidated text stands from the day that its identifier names.
    effect = reading.file.properties.in_force or work_place(identifiers).date or stated_effect(text)
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
        other_languages=languages_of_parts(reading.extracted, reading.language),
        identifiers=identifiers,
        in_force=effect,
        size=path.stat().st_size,
        warnings=reading.extracted.warnings,
    )
    against = _contradiction(record, reading.extracted)
    if against:
        return _against_its_page(record, replace(evidence, licence_marks=against))
    return Outcome("done", "", join_messages(reading.extracted.warnings), evidence)


def _contradiction(record: SourceRecord, extracted: ExtractedText) -> tuple[LicenceMark, ...]:
    """Return the licence evidence in a downloaded document that contradicts its page."""
    verdict = record.page_verdict
    if verdict is None or record.source.path or record.licence_decided:
        return ()
    marks = tuple(document_statements(extracted))
    return marks if marks and decide((*verdict.marks, *marks)).light != "GREEN" else ()


def _against_its_page(record: SourceRecord, evidence: Extraction) -> Outcome:
    """Return the end of a document that contradicts its page.

    A reservation in it wins; a person decides on anything else.
    """
    statement = min(evidence.licence_marks, key=lambda mark: ("RED", "YELLOW", "GREEN").index(mark.light))
    # Not `verdict`, which holds this phase's own evidence when it is run again.
    page = record.page_verdict.licence or record.page_verdict.light if record.page_verdict else ""
    message = Message(
        "Its page says {licence}, but {place} says: “{quote}”",
        licence=page,
        place=statement.place,
        quote=statement.quote,
    )
    if decide(evidence.licence_marks).light == "RED":
        return Outcome("refused", "licence_reserved", message, evidence)
    return Outcome("skipped", "licence_conflict", message, evidence)


PHASE = SourcePhase(
    run=run,
    inputs=inputs,
    tables=("boilerplate.toml", "licences.toml"),
    parallel=lambda config: config.extraction_processes,
)
