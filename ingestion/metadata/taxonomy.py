"""The controlled taxonomy: labels, their meanings, and the words that speak for them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from ingestion.metadata.term_matching import TermTable, build_table
from rag_engine.config import DATA

NATIONAL = "National"

Vocabulary = Literal["hazards", "key_criteria", "tags"]


@dataclass(frozen=True, slots=True)
class Label:
    """A label with its meaning and the least evidence for it; `terms` by language.

    A document type has instead the words that give it away in a title (`named`) and on a first page (`opening`).
    """

    name: Annotated[str, Field(alias="label")]
    definition: str
    mentions: int = 0
    places: int = 0
    per_thousand: float = 0.0
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """Every label of the controlled fields, in the order in which they are shown."""

    geographical_level: Annotated[tuple[Label, ...], Field(alias="geographical_levels")]
    document_type: Annotated[tuple[Label, ...], Field(alias="document_types")]
    hazards: tuple[Label, ...]
    key_criteria: tuple[Label, ...]
    tags: tuple[Label, ...]

    def definitions(self, name: str) -> tuple[Label, ...]:
        """Return the labels of a field ("hazards", "document_type", "geographical_level", ...)."""
        found: tuple[Label, ...] = getattr(self, name)
        return found

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the names of the labels of a field."""
        return tuple(label.name for label in self.definitions(name))


_TAXONOMY = TypeAdapter(Taxonomy)


@cache
def load_taxonomy() -> Taxonomy:
    """Return the taxonomy of data/taxonomy.toml, read once."""
    return _TAXONOMY.validate_python(tomllib.loads((DATA / "taxonomy.toml").read_text(encoding="utf-8")))


@cache
def term_table(language: str, vocabulary: Vocabulary) -> TermTable:
    """Return the terms of one vocabulary in a language and English.

    A label without terms in the language gives its terms in all languages.
    """
    pairs = []
    for label in load_taxonomy().definitions(vocabulary):
        wanted = [language, "en"] if language in label.terms else list(label.terms)
        pairs += [(label.name, term) for one in dict.fromkeys(wanted) for term in label.terms.get(one, ())]
    return build_table(dict.fromkeys(pairs))


@cache
def type_table(where: Literal["named", "opening"]) -> TermTable:
    """Return the words, in all languages, that tell the type of a document.

    They stand in its title ("named") or on its first pages ("opening").
    """
    types = load_taxonomy().document_type
    return build_table(
        (kind.name, term) for kind in types for term in (kind.named if where == "named" else kind.opening)
    )
