"""Phase "quality": whether a document is worth keeping, with its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from ingestion.fingerprints import facts
from ingestion.phases.definition import SourcePhase
from ingestion.quality.score import judge_quality
from ingestion.quality.topic import judge_topic, read_scope
from ingestion.records.source_record import SourceRecord
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:
    """Return the text, the thresholds and the title on the list."""
    thresholds = asdict(tools.config.quality)
    found = {"text": facts(record.extraction), "thresholds": thresholds, "title": record.source.title}
    # Without a scope what was judged before stays as it is.
    return found | ({"scope": tools.config.scope} if tools.config.scope else {})


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Score the text, compare it with the thresholds, and where a scope is set with that.

    A file of the analyst passes with any finding, which is recorded.
    """
    outcome = _judged(record, tools)
    return replace(outcome, status="done") if record.source.path else outcome


def _judged(record: SourceRecord, tools: Tools) -> Outcome:
    extraction, reading = record.extraction, tools.read(record)
    assert extraction is not None, "quality follows extraction"
    outcome = judge_quality(record.source, extraction, reading.extracted, reading.cleaned, tools.config.quality)
    if not tools.config.scope or not outcome.passes:
        return outcome
    topic = judge_topic(
        read_scope(tools.config.scope),
        extraction.title or record.source.title,
        reading.cleaned or reading.extracted.text,
        encode=tools.encode,
        model=tools.language_model,
        seconds=tools.config.model_seconds,
    )
    if topic.within:
        return replace(outcome, message=topic.why)
    return replace(outcome, status="refused", reason="out_of_scope", message=topic.why)


PHASE = SourcePhase(
    run=run, inputs=inputs, tables=("quality.toml", "scopes.toml", "stopwords.toml", "letter_pairs.toml")
)
