"""Phase "quality": whether a document is worth keeping, with its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from ingestion.fingerprints import facts
from ingestion.phase import SourcePhase
from ingestion.quality.score import judge_quality
from ingestion.records.source_record import SourceRecord
from ingestion.tools import Tools
from ingestion.types import Outcome


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:
    """Return the text, the thresholds and the title on the list."""
    thresholds = asdict(tools.config.quality)
    return {"text": facts(record.extraction), "thresholds": thresholds, "title": record.source.title}


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Score the text and compare it with the thresholds."""
    extraction, reading = record.extraction, tools.read(record)
    assert extraction is not None, "quality follows extraction"
    return judge_quality(record.source, extraction, reading.extracted, reading.cleaned, tools.config.quality)


PHASE = SourcePhase(run=run, inputs=inputs, tables=("quality.toml", "stopwords.toml", "letter_pairs.toml"))
