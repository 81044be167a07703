"""The controlled taxonomy: labels, what they mean, and the words that speak for them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from ingestion.metadata.term_matching import TermTable, build_table
from rag_engine.config import DATA
from rag_engine.errors import InputError

DEFAULT_TAXONOMY = DATA / "taxonomy.toml"
NATIONAL = "National"

Vocabulary = Literal["hazards", "key_criteria", "tags"]


@dataclass(frozen=True, slots=True)
class Label:
    """A label with its meaning and the least evidence for it; `terms` by language.

    A document type has instead the words that give it away in a title (`named`) and on a first page (`opening`).
    """

    name: str
    definition: str
    mentions: int = 0
    places: int = 0
    per_thousand: float = 0.0
    terms: Mapping[str, tuple[str, ...]] | None = None
    named: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """Every label of the controlled fields, in the order in which they are shown."""

    geographical_levels: tuple[Label, ...]
    document_types: tuple[Label, ...]
    hazards: tuple[Label, ...]
    key_criteria: tuple[Label, ...]
    tags: tuple[Label, ...]

    def labels(self, field: str) -> tuple[str, ...]:
        """Return the names allowed in a field ("hazards", "document_type", "geographical_level", ...)."""
        found: Sequence[Label] = getattr(self, {"document_type": "document_types"}.get(field, field), None) or (
            self.geographical_levels
        )
        return tuple(label.name for label in found)

    def label(self, vocabulary: Vocabulary, name: str) -> Label:
        """Return one label of a vocabulary by its name."""
        found: Sequence[Label] = getattr(self, vocabulary)
        return next(label for label in found if label.name == name)


@lru_cache(maxsize=4)
def load_taxonomy(path: Path = DEFAULT_TAXONOMY) -> Taxonomy:
    """Return the taxonomy of a TOML table, read once per path; InputError when it cannot be read."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return Taxonomy(
            tuple(_plain(one) for one in table["geographical_levels"]),
            tuple(_plain(one) for one in table["document_types"]),
            tuple(_spoken_for(one) for one in table["hazards"]),
            tuple(_spoken_for(one) for one in table["key_criteria"]),
            tuple(_spoken_for(one) for one in table["tags"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise InputError(f"The taxonomy {path} cannot be read: {error}.", help="Restore data/taxonomy.toml.") from error


@cache
def term_table(language: str, vocabulary: Vocabulary, path: Path = DEFAULT_TAXONOMY) -> TermTable:
    """Return the terms of one vocabulary in a language and in English.

    In all languages where it has none of its own.
    """
    labels: Sequence[Label] = getattr(load_taxonomy(path), vocabulary)
    pairs = []
    for label in labels:
        terms = label.terms or {}
        wanted = [language, "en"] if language in terms else list(terms)
        pairs += [(label.name, term) for one in dict.fromkeys(wanted) for term in terms.get(one, ())]
    return build_table(dict.fromkeys(pairs))


@cache
def type_table(where: Literal["named", "opening"], path: Path = DEFAULT_TAXONOMY) -> TermTable:
    """Return the words that give a document type away, of all languages: in titles ("named") or on first pages."""
    types = load_taxonomy(path).document_types
    return build_table((one.name, term) for one in types for term in (one.named if where == "named" else one.opening))


def _plain(entry: Mapping[str, Any]) -> Label:
    named, opening = entry.get("named", ()), entry.get("opening", ())
    return Label(str(entry["label"]), str(entry["definition"]), named=tuple(named), opening=tuple(opening))


def _spoken_for(entry: Mapping[str, Any]) -> Label:
    return Label(
        str(entry["label"]),
        str(entry["definition"]),
        int(entry["mentions"]),
        int(entry["places"]),
        float(entry["per_thousand"]),
        {language: tuple(map(str, terms)) for language, terms in entry["terms"].items()},
    )
