"""Author of decisions and corrections: the name of whoever is at the page."""

from __future__ import annotations

import streamlit as st

from ingestion.operations import system_user

_NAME = "admin author"


def draw_author() -> str:
    """Draw the input for the name, filled from SEXTANT_USER or the system's user; return the name, "" for none."""
    st.session_state.setdefault(_NAME, system_user())
    return str(
        st.text_input(
            "Your name",
            key=_NAME,
            max_chars=80,
            icon=":material/person:",
            help="Stored with every decision and correction you make.",
            persist_state="session",
            width=340,
        )
    ).strip()
