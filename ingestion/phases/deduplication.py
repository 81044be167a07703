"""Phase "deduplication": which documents are copies, versions or translations of others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from functools import lru_cache

from ingestion.deduplication.find_duplicates import relate
from ingestion.deduplication.pairs import ReadText
from ingestion.deduplication.signatures import SIGNATURE_VERSION, ComparedSource, candidate_of
from ingestion.extraction.dates import find_dates
from ingestion.phases.definition import Batch, CollectionPhase, CollectionRun
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome
from ingestion.types.run import Progress
from rag_engine.errors import SextantError

# Raised when the comparison gives something else for the same documents.
_VERSION = "3"
# Names under which the store caches what a document is compared by, and what the last comparison was made of.
_CANDIDATE, _COMPARED, _ALL = "candidate", "compared", "*"

# Texts held at once while nearly equal ones are compared.
_TEXTS = 16


def run_all(run: CollectionRun) -> Iterator[Batch]:
    """Compare all documents, unless nothing has changed since the last comparison."""
    total = len(run.ready)
    run.progress(Progress(0, total, 0, 0, "", "deduplication"))
    candidates, failed, made_of = _candidates(run)
    settings = [_VERSION, asdict(run.tools.config.deduplication), sorted(made_of.items()), sorted(failed)]
    compared = hashlib.sha256(json.dumps(settings).encode()).hexdigest()
    entries = {code: entry for (code, phase), entry in run.entries.items() if phase == "deduplication"}
    again = run.again or bool(failed) or any(record.source.code not in entries for record in run.ready)
    if again or run.store.kept(_COMPARED).get(_ALL, ("", ""))[0] != compared:
        texts = _texts(run)
        outcomes = {**relate(candidates, run.tools.config.deduplication, run.tools.encode, texts), **failed}
        yield {
            code: (outcome, compared)
            for code, outcome in outcomes.items()
            if code not in entries or entries[code].outcome != outcome
        }
    run.store.keep(_COMPARED, _ALL, compared, "")
    run.progress(Progress(total, total, 0, 0, "", "deduplication"))


def _texts(run: CollectionRun) -> ReadText:
    """Return a reader of the cleaned text of a source, which remembers those read last."""
    records = {record.source.code: record for record in run.ready}

    @lru_cache(maxsize=_TEXTS)
    def text_of(code: str) -> str:
        try:
            reading = run.tools.read(records[code])
        except SextantError:  # gone since it was compared; likeness alone decides
            return ""
        return reading.cleaned or reading.extracted.text

    return text_of


def _candidates(run: CollectionRun) -> tuple[list[ComparedSource], dict[str, Outcome], dict[str, str]]:
    """Return what documents are compared by, the failures, and from what each was made.

    It is made again where that changed.
    """
    cached = run.store.kept(_CANDIDATE)
    candidates: list[ComparedSource] = []
    failed: dict[str, Outcome] = {}
    made_of: dict[str, str] = {}
    for record in run.ready:
        code = record.source.code
        made_of[code] = _made_of(record)
        before = cached.get(code)
        if before is not None and before[0] == made_of[code]:
            candidates.append(ComparedSource(**json.loads(before[1])))
            continue
        try:
            candidate = compared_source(record, run.tools)
        except SextantError as error:
            failed[code] = Outcome("failed", "file_missing", error.message, retryable=True)
            continue
        keep_candidate(candidate, record, run.store)
        candidates.append(candidate)
    return candidates, failed, made_of


def kept_candidates(store: SourceStore) -> dict[str, ComparedSource]:
    """Return by code what documents are compared by: of the list, and added by themselves."""
    current = f"[{SIGNATURE_VERSION},"
    kept = store.kept(_CANDIDATE).items()
    return {code: ComparedSource(**json.loads(body)) for code, (made_of, body) in kept if made_of.startswith(current)}


def keep_candidate(candidate: ComparedSource, record: SourceRecord, store: SourceStore) -> None:
    """Cache what a document is compared by."""
    store.keep(_CANDIDATE, record.code, _made_of(record), json.dumps(asdict(candidate)))


def _made_of(record: SourceRecord) -> str:
    extraction, download = record.extraction, record.download
    assert extraction is not None, "the comparison follows extraction"
    assert download is not None, "the comparison follows acquisition"
    score = record.quality.score if record.quality else 0.0
    facts = [extraction.text_hash, extraction.title, extraction.language, score, download.sha256, download.urls[-1:]]
    facts.append(list(extraction.identifiers))
    return json.dumps([SIGNATURE_VERSION, *facts, record.source.title, record.source.parent])


def compared_source(record: SourceRecord, tools: Tools) -> ComparedSource:
    """Return what a document is compared by."""
    reading, extraction, download = tools.read(record), record.extraction, record.download
    assert extraction is not None, "the comparison follows extraction"
    assert download is not None, "the comparison follows acquisition"
    dates = find_dates(reading.extracted, record.source, reading.properties, reading.language, today=date.today())
    return candidate_of(
        record.source,
        extraction,
        reading.extracted,
        reading.cleaned,
        score=record.quality.score if record.quality else 0.0,
        date=dates[0].value if dates else "",
        sha256=download.sha256,
        url=download.urls[-1] if download.urls else "",
    )


PHASE = CollectionPhase(run_all=run_all)
