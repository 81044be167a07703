"""Tables of words, names and patterns that are kept in data/ as TOML."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from rag_engine.config import DATA


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return the table of a file in data/, by its name without the ending.

    It is read once, and stays as it is.
    """
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
