"""How the sources stand to each other: what the comparison of documents is given, and what it says of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from ingestion.deduplication.compare import SIGNATURE_VERSION, Candidate, candidate_of, relate
from ingestion.metadata.dates import find_dates
from ingestion.pipeline.phases import Tools, reading_at_hand
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.types import Outcome
from rag_engine.errors import SextantError

# The name under which it is kept what the last comparison was made of.
_COMPARED, _ALL = "compared", "*"


def relate_sources(
    ready: Sequence[SourceRecord], store: SourceStore, tools: Tools, *, version: str = "", again: bool = False
) -> tuple[dict[str, Outcome], str]:
    """The outcome of the comparison for every source that is ready for it, and a hash of what was compared.

    There is no outcome where nothing has changed since the comparison that `keep_compared` was told of, unless
    `again` is true. What is compared of a document is computed once and kept until its text changes.
    """
    kept = store.kept("candidate")
    candidates: list[Candidate] = []
    lost: dict[str, Outcome] = {}
    made_of: dict[str, str] = {}
    for record in ready:
        code = record.source.code
        made_of[code] = _made_of(record)
        before = kept.get(code)
        if before is not None and before[0] == made_of[code]:
            candidates.append(Candidate(**json.loads(before[1])))
            continue
        try:
            candidate = _candidate(record, tools)
        except SextantError as error:
            lost[code] = Outcome("failed", "file_missing", str(error), retryable=True)
            continue
        store.keep("candidate", code, made_of[code], json.dumps(asdict(candidate), ensure_ascii=False))
        candidates.append(candidate)
    settings = json.dumps([version, asdict(tools.config.deduplication), sorted(made_of.items()), sorted(lost)])
    compared = hashlib.sha256(settings.encode()).hexdigest()
    if store.kept(_COMPARED).get(_ALL, ("", ""))[0] == compared and not lost and not again:
        return {}, compared
    return {**relate(candidates, tools.config.deduplication, tools.encode), **lost}, compared


def keep_compared(store: SourceStore, compared: str) -> None:
    """Nothing; the outcomes of this comparison are recorded, it need not be made again."""
    store.keep(_COMPARED, _ALL, compared, "")


def _made_of(record: SourceRecord) -> str:
    extraction, download = record.extraction, record.download
    assert extraction is not None, "the comparison follows extraction"
    assert download is not None, "the comparison follows acquisition"
    score = record.quality.score if record.quality else 0.0
    facts = [extraction.text_hash, extraction.title, extraction.language, score]
    return json.dumps([SIGNATURE_VERSION, *facts, download.sha256, download.urls[-1:], record.source.title])


def _candidate(record: SourceRecord, tools: Tools) -> Candidate:
    reading, extraction, download = reading_at_hand(record, tools), record.extraction, record.download
    assert extraction is not None, "the comparison follows extraction"
    assert download is not None, "the comparison follows acquisition"
    dates = find_dates(reading.extracted, record.source, reading.declared, reading.language, today=tools.today)
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
