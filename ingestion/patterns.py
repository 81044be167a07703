"""Words and regular expressions of many languages, from data/patterns/.

They are code in another notation: a change of a match raises the version of its phase.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache

from rag_engine.config import DATA


@cache
def load_words(name: str) -> Mapping[str, str]:
    """Return the texts of data/patterns/NAME.toml by their keys; the lines of a text are joined."""
    table: dict[str, str] = tomllib.loads((DATA / "patterns" / f"{name}.toml").read_text(encoding="utf-8"))
    return {key: "".join(line.strip() for line in text.splitlines()) for key, text in table.items()}


@cache
def load_patterns(name: str) -> Mapping[str, re.Pattern[str]]:
    """Return the regular expressions of data/patterns/NAME.toml by their keys, compiled."""
    return {key: re.compile(text) for key, text in load_words(name).items()}
