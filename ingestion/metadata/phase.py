"""Phase "metadata": the document described in the taxonomy, by rules and by a language model where one answers."""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.fingerprints import facts
from ingestion.metadata.describe import describe_source
from ingestion.metadata.rules import METADATA_VERSION
from ingestion.phase import SourcePhase
from ingestion.records.source_record import SourceRecord
from ingestion.tools import Tools
from ingestion.types import Outcome


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:  # noqa: ARG001 - as every phase
    """Return the text and the row of the list."""
    source = record.source
    return {"text": facts(record.extraction), "list": [source.title, source.authority, source.url]}


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Describe the document."""
    extraction, reading = record.extraction, tools.read(record)
    assert extraction is not None, "metadata follows extraction"
    return describe_source(
        record.source,
        reading.extracted,
        extraction,
        reading.properties,
        tools.language_model,
        gazetteer=tools.gazetteer,
        config=tools.config,
    )


PHASE = SourcePhase(
    run=run,
    inputs=inputs,
    tables=("taxonomy.toml", "authorities.toml", "geography.toml", "subnational.toml"),
    version=METADATA_VERSION,
    asks_model=lambda _: True,
    used_model=lambda outcome: outcome.evidence is not None and outcome.reason not in ("model_failed", "model_missing"),
)
