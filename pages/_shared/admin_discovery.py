"""Seeds that an address proposes, of which the person takes some."""

from __future__ import annotations

import threading
from dataclasses import replace

import pandas as pd
import streamlit as st

from ingestion.backends.http import HttpWeb
from ingestion.config import read_ingestion_config
from ingestion.discovery import discover
from ingestion.seed_matching import SeedReport
from pages._shared import resources
from pages._shared.admin_seeds import add_sources, draw_unusable
from pages._shared.plain import plain
from pages._shared.trouble import told

# One call may take so long, and all of them together; then what was found until then is shown.
_CALL_SECONDS = 20.0
_SECONDS = 60.0
_FOUND = "seeds proposed"


def draw_discovery() -> None:
    """Nothing; asks an address for its sitemap or feed and shows the entries, of which some may be added."""
    with st.form("discovery", border=False):
        address = st.text_input(
            "Address of a feed, a sitemap, or a page that names one", placeholder="https://example.org/feed.xml"
        )
        words = st.text_input(
            "Only entries that contain one of these words", placeholder="flood, heat", help="Several words by commas."
        )
        asked = st.form_submit_button("Look for sources", icon=":material/travel_explore:", type="primary")
    if asked:
        st.session_state.pop(_FOUND, None)
        with told(), st.spinner(f"Asking {plain(address)} (at most a minute) …", show_time=True):
            st.session_state[_FOUND] = _discover(
                address.strip(), tuple(w.strip() for w in words.split(",") if w.strip())
            )
    if _FOUND in st.session_state:
        _draw_found(st.session_state[_FOUND])


def _discover(address: str, words: tuple[str, ...]) -> SeedReport:
    web = replace(read_ingestion_config().web, total_seconds=_CALL_SECONDS, tries=1)
    with HttpWeb(web) as opened:
        # Closing ends the call that is under way and refuses the later ones.
        limit = threading.Timer(_SECONDS, opened.close)
        limit.daemon = True
        limit.start()
        try:
            return discover(address, opened, resources.register().sources(), contains=words)
        finally:
            limit.cancel()


def _draw_found(report: SeedReport) -> None:
    for warning in report.warnings:
        st.caption(f":material/info: {plain(warning)}")
    draw_unusable(report.unusable)
    if not report.new:
        st.info(f"Nothing new: {report.known:,} entries are on the list already.", icon=":material/done_all:")
        return
    rows = [{"Take": True, "Title": one.title, "Address": one.url, "Notes": one.notes} for one in report.new]
    edited = st.data_editor(
        pd.DataFrame(rows),
        hide_index=True,
        disabled=["Title", "Address", "Notes"],
        height=min(38 + 35 * len(rows), 360),
        column_config={"Take": st.column_config.CheckboxColumn(width=60)},
        key="proposals",
        alt="Proposed sources with a box to take each",
    )
    chosen = [one for one, take in zip(report.new, edited["Take"], strict=True) if take]
    st.caption(f"{len(report.new):,} proposed, {report.known:,} on the list already.")
    with st.container(horizontal=True):
        if st.button(f"Add {len(chosen):,} of {len(report.new):,}", type="primary", disabled=not chosen, key="accept"):
            add_sources(chosen)
            del st.session_state[_FOUND]
            st.rerun()
        if st.button("Leave them", key="leave proposals"):
            del st.session_state[_FOUND]
            st.rerun()
