"""Sources tab: adding to the list, the status of each source, and acts on chosen ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ingestion.operations.sources import remove_sources
from ingestion.status.source_status import STATES, State
from ingestion.status.views import SourceRow, display_reason, find_rows, source_rows
from ingestion.types import RunRequest
from pages._admin.add_sources import draw_added, draw_discovery, draw_document_upload, draw_seed_upload
from pages._admin.source_detail import draw_source
from pages._admin.tabs import start_run
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, follow_choice, open_in_address
from pages._shared.errors import show_errors
from pages._shared.markdown import escape


def draw_sources() -> None:
    """Draw the ways to add sources, the table, and the source that is open."""
    rows = source_rows(resources.records().values())
    with st.expander("Add sources", icon=":material/playlist_add:", expanded=not rows, key="add sources"):
        listed, own, found = st.tabs(["Seed list", "Documents", "Discover"])
        with listed:
            draw_seed_upload()
        with own:
            draw_document_upload()
        with found:
            draw_discovery()
    draw_added()
    if not rows:
        st.info("The list is empty. Start with a workbook of addresses, or with your own documents.")
        return
    _draw_list(rows)
    if "source" in st.query_params:
        draw_source(st.query_params["source"])


def _draw_list(rows: Sequence[SourceRow]) -> None:
    counts = Counter(row.state for row in rows)
    words = st.text_input(
        "Search the list", placeholder="Code, title, address, reason or origin", icon=":material/search:", key="words"
    )
    states: list[State] = st.pills(
        "Status",
        [state for state in STATES if state in counts],
        selection_mode="multi",
        format_func=lambda state: f"{STATES[state]} ({counts[state]:,})",
        key="states",
    )
    found = find_rows(rows, words, states)
    st.caption(
        f"{len(found):,} of {len(rows):,} sources. Select a row to open it; select several to run or remove them."
    )
    # Streamlit keeps a selection as positions: a key for each set of rows keeps it from naming other sources.
    with st.container(key="source list"):
        chosen = st.dataframe(
            pd.DataFrame([_row(row) for row in found], columns=list(_COLUMNS)),
            hide_index=True,
            key=f"sources {hash(tuple(row.code for row in found))}",
            on_select="rerun",
            selection_mode="multi-row",
            height=min(38 + 35 * max(len(found), 1), 420),
            column_config=_COLUMNS,
            alt="The sources with their status",
        )
    _draw_actions([found[position].code for position in chosen["selection"]["rows"]])


def _draw_actions(codes: Sequence[str]) -> None:
    follow_choice("source", codes[0] if len(codes) == 1 else "")
    if not codes:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="source actions"):
        st.markdown(f"**{escape(codes[0]) if len(codes) == 1 else f'{len(codes):,} sources'}**")
        if st.button(
            "Run selected", icon=":material/play_arrow:", type="primary", help="Runs all phases that are pending."
        ):
            start_run(RunRequest(codes=tuple(codes)))
        if act_button("remove_sources", "Remove selected", icon=":material/playlist_remove:", key="remove chosen"):
            _confirm(codes)


@st.dialog("Remove from the list?", icon=":material/playlist_remove:")
def _confirm(codes: Sequence[str]) -> None:
    st.markdown(f"**{escape(', '.join(codes[:12]))}**" + (f" and {len(codes) - 12:,} more" if len(codes) > 12 else ""))
    st.markdown(
        "The results of the phases are deleted; decisions, corrections and history are kept. Their documents "
        "are removed from the index at once."
    )
    author = draw_author()
    with st.container(horizontal=True):
        if act_button("remove_sources", "Remove", key="remove confirmed", type="primary"):
            with show_errors():
                remove_sources(resources.desk(), codes, author)
                open_in_address("source")
                st.rerun()
        if st.button("Cancel", key="remove refused"):
            st.rerun()


_COLUMNS = {
    "Code": st.column_config.TextColumn(width=100, pinned=True),
    "Title": st.column_config.TextColumn(width=260),
    "State": st.column_config.TextColumn(width=140),
    "Phase": st.column_config.TextColumn(width=110, help="The phase it has reached"),
    "Reason": st.column_config.TextColumn(width=140),
    "Message": st.column_config.TextColumn(width=300),
    "Address": st.column_config.TextColumn(width=260),
    "Under": st.column_config.TextColumn(width=80, help="The portal it was found under"),
    "From": st.column_config.TextColumn(width=180),
}


def _row(row: SourceRow) -> dict[str, str]:
    return {
        "Code": row.code,
        "Title": row.title,
        "State": STATES[row.state],
        "Phase": row.phase,
        "Reason": display_reason(row.reason),
        "Message": row.message,
        "Address": row.address,
        "Under": row.parent,
        "From": row.origin,
    }
