"""The frame around every page: title, menu, and the way back into it from a deep link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages._shared import resources
from pages._shared.icon import ICON, WORDMARK

_OPEN = "frame is open"
_WANTED = "page wanted before the frame was open"
_ROOT = Path(__file__).resolve().parents[2]


def open_frame() -> Any:
    """The page to run; app.py calls this first."""
    # Before the menu, and never a :material/...: icon: Streamlit fetches those for the browser's tab from Google, also
    # the menu's when the tab has none yet.
    st.set_page_config(page_title="Sextant", page_icon=ICON)
    st.logo(WORDMARK, icon_image=ICON, size="large")
    st.session_state[_OPEN] = True
    pages = [
        st.Page(_ROOT / "pages/ask.py", title="Ask", icon=":material/forum:", default=True),
        st.Page(_ROOT / "pages/library.py", title="Library", icon=":material/library_books:"),
        st.Page(_ROOT / "pages/admin.py", title="Admin", icon=":material/tune:"),
        st.Page(_ROOT / "pages/evaluation.py", title="Evaluation", icon=":material/monitoring:"),
    ]
    page = st.navigation(pages)
    # Reading wants a narrow column, a table a wide one.
    st.set_page_config(page_title=f"{page.title} · Sextant", layout="centered" if page == pages[0] else "wide")
    wanted = st.session_state.pop(_WANTED, None)
    if wanted:
        st.switch_page(wanted[0], query_params=wanted[1])
    resources.engine()
    return page


def guard(file: str) -> None:
    """Nothing; goes through app.py when a page was reached without it.

    The first request of a fresh server to a deep link runs the page's file alone, without menu and frame
    (Streamlit 1.67 with a pages folder beside st.navigation).
    """
    if _OPEN not in st.session_state:
        page = Path(file).resolve().relative_to(_ROOT).as_posix()
        st.session_state[_WANTED] = page, {name: st.query_params.get_all(name) for name in st.query_params}
        st.switch_page("app.py")
