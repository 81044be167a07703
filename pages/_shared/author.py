"""Name of the person at the page, kept with every decision and correction."""

from __future__ import annotations

import streamlit as st

from ingestion.operations import system_user

_NAME = "admin author"


def draw_author() -> str:
    """Draw the field for the person's name, filled with the system's user; return the name, "" for none."""
    st.session_state.setdefault(_NAME, system_user())
    return str(
        st.text_input(
            "Your name",
            key=_NAME,
            max_chars=80,
            icon=":material/person:",
            help="Kept with every decision and correction that you make.",
            persist_state="session",
            width=340,
        )
    ).strip()
