"""A person's word on sources, with what must follow from it at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from ingestion.reporting import decide
from ingestion.request import Request
from pages._shared import resources
from pages._shared.runs import queue


def take_word(codes: Sequence[str], choice: str, author: str, note: str) -> None:
    """Nothing; the word is kept, and documents that may not answer any more leave the index without being asked."""
    leaving = tuple(code for code in codes if decide(resources.register(), code, choice, author, note))
    if leaving:
        queue("run", asdict(Request(phases=("indexing",), codes=leaving)))
