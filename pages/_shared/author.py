"""Who is at the page, so that every decision and correction bears a name."""

from __future__ import annotations

import getpass

import streamlit as st

from ingestion.config import user_name

_NAME = "admin author"


def draw_author() -> str:
    """The name given, "" for none; draws the place for it, filled from SEXTANT_USER or the system's user."""
    st.session_state.setdefault(_NAME, _known())
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


def _known() -> str:
    try:
        return user_name() or getpass.getuser()
    except (OSError, KeyError, ImportError):
        # A container may run under a number that has no name.
        return ""
