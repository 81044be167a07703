"""Threads of the program and of Streamlit, waited for by name."""

from __future__ import annotations

import threading


def join_threads(name: str) -> None:
    """Wait, at most a minute each, for the threads whose names begin so."""
    for thread in threading.enumerate():
        if thread.name.startswith(name):
            thread.join(60)
