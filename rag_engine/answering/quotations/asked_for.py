"""Kinds of answer that a question asks for: several things, a figure, a time, a definition."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Literal

from rag_engine.config import DATA

Asked = Literal["list", "figure", "time", "definition"]

_FIGURE = re.compile(r"\d|\b(?:half|third|quarter|tous|metà|terzo|hälfte|drittel|mitad|tercio|metade|terço|yarı)\b")
_SEPARATED = re.compile(r"[;,、]|(?<=\s)[•–-](?=\s)")
_SEVERAL = 3


def asked_for(question: str, language: str) -> frozenset[Asked]:
    """Return what a question asks for, by its words; nothing in a language without patterns."""
    folded = question.strip().casefold()
    patterns = _tables()[0].get(language, {})
    return frozenset(kind for kind, pattern in patterns.items() if pattern.search(folded))


def gives(asked: frozenset[Asked], text: str, language: str, *, listed: bool) -> bool:
    """Return whether a text looks like something that is asked for; `listed` says that it is of a list or a table."""
    folded = text.casefold()
    defines = _tables()[1].get(language)
    return (
        ("list" in asked and (listed or len(_SEPARATED.findall(folded)) >= _SEVERAL))
        or (bool({"figure", "time"} & asked) and bool(_FIGURE.search(folded)))
        or ("definition" in asked and defines is not None and bool(defines.search(folded)))
    )


@cache
def _tables() -> tuple[Mapping[str, Mapping[Asked, re.Pattern[str]]], Mapping[str, re.Pattern[str]]]:
    table = tomllib.loads((DATA / "asked_for.toml").read_text(encoding="utf-8"))
    questions = {
        language: {kind: re.compile(pattern) for kind, pattern in kinds.items()}
        for language, kinds in table["questions"].items()
    }
    return questions, {language: re.compile(pattern) for language, pattern in table["defines"].items()}
