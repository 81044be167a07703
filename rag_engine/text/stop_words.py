"""Function words of each language, from data/stopwords.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rag_engine.text.folding import fold
from rag_engine.text.tables import read_table


@cache
def listed_stopwords() -> Mapping[str, tuple[str, ...]]:
    """Return the words of each language (ISO 639-1) as they are listed."""
    lists: dict[str, str] = read_table("stopwords")
    return {language: tuple(words.split()) for language, words in lists.items()}


@cache
def stopwords(language: str) -> frozenset[str]:
    """Return the folded function words of a language; none without a list.

    Both forms of Norwegian share one.
    """
    listed = listed_stopwords().get("no" if language in ("nb", "nn") else language, ())
    return frozenset(map(fold, listed))
