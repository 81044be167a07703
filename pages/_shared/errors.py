"""How an error is shown to the person whom it concerns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages._shared.markdown import plain
from rag_engine.errors import SextantError


@contextmanager
def told() -> Iterator[None]:
    """Nothing; an error of ours inside the block is shown with its cure, and the rest of the page goes on."""
    try:
        yield
    except SextantError as error:
        show_trouble(str(error))


def show_trouble(message: str) -> None:
    """Nothing; draws the message of an error."""
    st.error(plain(message), icon=":material/error:")
