"""Citable sections of the collection: acts, and the parents of their sections by label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import groupby, takewhile

import sqlalchemy as sql

from rag_engine.chunking.section.rules import normal_label
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog
from rag_engine.types.document import DocumentRecord

# Characters in front of an act's first section that are read for how it is called.
_OPENING = 3_000
# One act may be many documents, a section each; this many of them are opened.
_OPENED = 3
_FIRST_PARENTS = 4


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """A parent that holds a section or a part of it, and its document."""

    document_key: int
    parent_key: int


@dataclass(frozen=True, slots=True, eq=False)
class Act:
    """An act that is cited by its sections.

    `sections` has the places of each section by its normal label, in reading order. `titles` and `countries` are of the
    documents whose first act it is; `opening` is their text before the first section.
    """

    name: str
    titles: tuple[str, ...]
    countries: tuple[str, ...]
    language: str
    opening: str
    sections: Mapping[str, tuple[SectionPlace, ...]]

    @property
    def documents(self) -> frozenset[int]:
        """The keys of the documents that hold its sections."""
        return frozenset(place.document_key for places in self.sections.values() for place in places)

    def places(self, label: str, allowed: Collection[int] | None) -> list[SectionPlace]:
        """Return the places of a section in the allowed documents (None allows all)."""
        return [place for place in self.sections.get(label, ()) if allowed is None or place.document_key in allowed]

    def labels(self, allowed: Collection[int] | None) -> list[str]:
        """Return the labels of the sections that the allowed documents hold, in reading order."""
        return [label for label in self.sections if self.places(label, allowed)]


def read_acts(catalog: Catalog, documents: Mapping[int, DocumentRecord]) -> tuple[Act, ...]:
    """Return the acts of the given documents.

    Parents under one act's name in several documents belong together.
    """
    p = tables.parents.c
    columns = sql.select(p.key, p.document_key, p.act, p.section).where(p.section != "")
    sections: defaultdict[str, defaultdict[str, list[SectionPlace]]] = defaultdict(lambda: defaultdict(list))
    languages: dict[str, str] = {}
    first_act: dict[int, str] = {}
    for key, document_key, act, section in catalog.read(columns.order_by(p.document_key, p.index)):
        if document_key not in documents:
            continue
        metadata = documents[document_key].metadata
        name = " ".join((act or metadata.title).split())
        sections[name][normal_label(section)].append(SectionPlace(document_key, key))
        first_act.setdefault(document_key, name)
        languages.setdefault(name, metadata.language)
    titled: defaultdict[str, list[DocumentRecord]] = defaultdict(list)
    for document_key, name in first_act.items():
        titled[name].append(documents[document_key])
    openings = _openings(catalog, [record.key for records in titled.values() for record in records[:_OPENED]])
    return tuple(
        Act(
            name=name,
            titles=tuple(dict.fromkeys(record.metadata.title for record in titled[name])),
            countries=tuple(dict.fromkeys(c for record in titled[name] for c in record.metadata.countries)),
            language=languages[name],
            opening="\n".join(filter(None, (openings.get(record.key, "") for record in titled[name]))),
            sections={label: tuple(places) for label, places in labelled.items()},
        )
        for name, labelled in sections.items()
    )


def _openings(catalog: Catalog, document_keys: Collection[int]) -> dict[int, str]:
    """Return the text of each document before its first section."""
    p = tables.parents.c
    begins = sql.select(p.document_key, p.index, p.section, p.text).where(p.index < _FIRST_PARENTS)
    rows = sorted(catalog.read_in(begins, p.document_key, document_keys))
    openings: dict[int, str] = {}
    for document_key, group in groupby(rows, key=lambda row: int(row[0])):
        before = takewhile(lambda row: not row[2], group)
        openings[document_key] = "\n".join(row[3] for row in before)[:_OPENING]
    return openings
