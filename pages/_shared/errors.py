"""Errors, drawn for the person at the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages._shared.markdown import escape
from rag_engine.errors import SextantError


@contextmanager
def show_errors() -> Iterator[None]:
    """Draw a SextantError of the block with its remedy, and go on with the rest of the page."""
    try:
        yield
    except SextantError as error:
        show_error(str(error))


def show_error(message: str) -> None:
    """Draw an error message."""
    st.error(escape(message), icon=":material/error:")
