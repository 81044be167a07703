"""How many sources came how far, as a picture and as a table."""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from ingestion.admin_views import spoken_reason
from ingestion.funnel import Station, funnel
from pages._shared import resources

# Told apart by lightness too, so that they can be read without seeing colours.
_COLOURS = {"came through": "#1a7f3c", "waiting": "#9bb8d3", "stopped": "#d9822b"}
_NAMES = {"raw": "On the list"}


def draw_funnel() -> None:
    """Nothing; draws the stations with what reached them, what waits and what was stopped on the way."""
    stations = funnel(resources.dossiers().values())
    rows = [row for station in stations for row in _bars(station)]
    names = [_name(station) for station in stations]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("Sources:Q", stack="zero", title=None, axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=alt.Y("Station:N", sort=names, title=None, axis=alt.Axis(labelLimit=140, labelOverlap=False)),
            color=alt.Color(
                "What:N",
                scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            order=alt.Order("order:Q"),
            tooltip=["Station:N", "What:N", alt.Tooltip("Sources:Q", format=","), "Why:N"],
        )
        .properties(height=alt.Step(26), padding={"left": 0, "top": 5, "right": 5, "bottom": 0})
    )
    st.altair_chart(chart, alt="How many sources reached each station; the table beside it gives the figures")
    st.dataframe(
        pd.DataFrame([_row(station) for station in stations]),
        hide_index=True,
        key="funnel",
        column_config={"Why": st.column_config.TextColumn("Why they were stopped", width=420)},
        alt="Sources at each station with the reasons for which others were stopped",
    )


def _bars(station: Station) -> list[dict[str, str | int]]:
    stopped = sum(station.stopped.values())
    counts = {"came through": station.reached, "waiting": station.waiting, "stopped": stopped}
    return [
        {
            "Station": _name(station),
            "What": what,
            "Sources": count,
            "Why": _why(station) if what == "stopped" else "",
            "order": order,
        }
        for order, (what, count) in enumerate(counts.items())
    ]


def _row(station: Station) -> dict[str, str | int]:
    return {
        "Station": _name(station),
        "Came through": station.reached,
        "Waiting": station.waiting,
        "Stopped": sum(station.stopped.values()),
        "Why": _why(station),
    }


def _why(station: Station) -> str:
    return ", ".join(f"{count:,} {spoken_reason(reason)}" for reason, count in station.stopped.items())


def _name(station: Station) -> str:
    return _NAMES.get(station.name, station.name.capitalize())
