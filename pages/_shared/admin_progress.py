"""A run over the sources in words and figures: what it is at, how fast it goes, what came of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from ingestion.adding import Progress
from ingestion.admin_views import rate_per_minute, request_of, said, spoken_reason
from ingestion.ledger import Run
from pages._shared import resources
from pages._shared.plain import plain

_EVENTS = 500


def run_title(run: Run) -> str:
    """What a run does, as markdown."""
    return plain(said(request_of(run.arguments)))


def phase_rate(now: Progress) -> float | None:
    """Sources a minute that the phase has ended lately; None while too few are known."""
    return rate_per_minute(resources.register().latest(_EVENTS), now.phase, datetime.now(UTC))


def draw_tallies(run: Run) -> None:
    """Nothing; draws what each phase of a run did."""
    rows = [
        {
            "Phase": str(tally["phase"]).capitalize(),
            "Done": int(tally["done"]),
            "Skipped": int(tally["skipped"]),
            "Rejected": int(tally["rejected"]),
            "Failed": int(tally["failed"]),
            "Reasons": ", ".join(f"{count} {spoken_reason(reason)}" for reason, count in tally["reasons"].items()),
            "Seconds": float(tally["seconds"]),
        }
        for tally in run.results
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key=f"run {run.id}",
        column_config={"Seconds": st.column_config.NumberColumn(format="%.1f")},
        alt="What each phase of the run did",
    )
