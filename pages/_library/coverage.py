"""Coverage of the documents that are shown: counts as charts, and the gaps in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from ingestion.status.coverage import UNKNOWN, coverage
from ingestion.status.views import pluralised
from pages._shared.filter_widgets import display_text
from pages._shared.markdown import escape
from rag_engine.types import DocumentRecord

_CHARTS = {
    "country": "Country",
    "hazard": "Hazard",
    "language": "Language",
    "document_type": "Document type",
    "licence": "Licence",
}
# Bars of a chart; the rest is counted together.
_MOST = 12
_GREEN = "#2b9a52"


def draw_coverage(documents: Sequence[DocumentRecord]) -> None:
    """Draw what the documents cover and what they leave out."""
    found = coverage(documents)
    st.caption(f"{pluralised(found.documents, 'document')} with the filters that are set.")
    if not documents:
        return
    st.header("Gaps", anchor=False)
    st.markdown("\n".join(f"- {escape(gap)}" for gap in found.gaps) or "No gap was found.")
    years = {year: count for year, count in found.counts["year"].items() if year != UNKNOWN}
    if years:
        st.header("Year", anchor=False)
        span = range(int(min(years)), int(max(years)) + 1)
        counted = pd.DataFrame(
            {"Year": [str(year) for year in span], "Documents": [years.get(str(y), 0) for y in span]}
        )
        st.bar_chart(counted, x="Year", y="Documents", height=220, color=_GREEN)
    for place, (name, heading) in enumerate(_CHARTS.items()):
        if place % 2 == 0:
            columns = st.columns(2)
        with columns[place % 2]:
            st.header(heading, anchor=False)
            _draw_bars(name, found.counts[name])


def _draw_bars(name: str, counts: Mapping[str, int]) -> None:
    listed = [(value if value == UNKNOWN else display_text(name, value), count) for value, count in counts.items()]
    rest = sum(count for _, count in listed[_MOST:])
    listed = [*listed[:_MOST], *([(f"{len(listed) - _MOST} others", rest)] if rest else [])]
    frame = pd.DataFrame(listed, columns=["Value", "Documents"])
    st.dataframe(
        frame,
        hide_index=True,
        key=f"coverage {name}",
        height=38 + 35 * len(listed),
        column_config={
            "Value": st.column_config.TextColumn("", width=200),
            "Documents": st.column_config.ProgressColumn(
                "Documents", format="%d", min_value=0, max_value=max(count for _, count in listed)
            ),
        },
        alt=f"Documents by {_CHARTS[name].lower()}",
    )
