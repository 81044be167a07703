"""Versions of a work, and the changes from one to another under its headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from rag_engine.answering_documents import age_of
from rag_engine.text.identifiers import work_place
from rag_engine.text.sentences import Span
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.outline import OutlineEntry, heading_at

PieceKind = Literal["same", "removed", "added"]

# Two paragraphs from this likeness (0-100) on are one, amended; below, one was removed and the other added.
_AMENDED = 60
# An amended paragraph is searched among this many next ones, which keeps the work linear in the length of the text.
_LOOK_AHEAD = 8
# So few equal words between two changes are chance, and marking them apart would make both hard to read.
_CHANCE = 2
# A paragraph with more words is no paragraph (a page without breaks), and aligning it would take seconds.
_MOST_WORDS = 5_000

_PARAGRAPH = re.compile(r"\S(?:(?!\n\s*\n).)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ChangedPiece:
    """A run of words of a changed paragraph, in both versions or in one of them."""

    text: str
    kind: PieceKind


@dataclass(frozen=True, slots=True)
class ChangedParagraph:
    """A paragraph that was amended, removed or added.

    `start` is its offset in the newer version, or in the older version if it was `removed`.
    """

    pieces: tuple[ChangedPiece, ...]
    start: int
    removed: bool


@dataclass(frozen=True, slots=True)
class ChangedSection:
    """The changed paragraphs under one heading, in reading order.

    `heading` is empty before the first heading.
    """

    heading: str
    paragraphs: tuple[ChangedParagraph, ...]


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """Changes by section, with the number of words that were removed and added."""

    sections: tuple[ChangedSection, ...]
    removed: int
    added: int


@dataclass(frozen=True, slots=True)
class VersionText:
    """Text of a version with its outline."""

    text: str
    headings: tuple[OutlineEntry, ...] = ()


def compare_versions(older: VersionText, newer: VersionText) -> VersionChanges:
    """Return the changes from the older to the newer version, without spacing and line breaks.

    A paragraph that was moved counts as removed in its old place and added in its new one.

    >>> changes = compare_versions(VersionText("Dykes rise by 1 m."), VersionText("Dykes rise by 2 m."))
    >>> [(piece.text, piece.kind) for piece in changes.sections[0].paragraphs[0].pieces]
    [('Dykes rise by', 'same'), ('1', 'removed'), ('2', 'added'), ('m.', 'same')]
    """
    placed = list(_changed(older, newer))
    sections = tuple(
        ChangedSection(heading, tuple(paragraph for _, paragraph in those))
        for heading, those in groupby(placed, key=lambda one: one[0])
    )
    pieces = [piece for _, paragraph in placed for piece in paragraph.pieces]
    removed, added = (sum(len(one.text.split()) for one in pieces if one.kind == kind) for kind in ("removed", "added"))
    return VersionChanges(sections, removed, added)


def _changed(older: VersionText, newer: VersionText) -> Iterator[tuple[str, ChangedParagraph]]:
    """Yield the changed paragraphs, each with its heading."""
    old, new = _paragraphs(older.text), _paragraphs(newer.text)
    left = [" ".join(older.text[start:end].split()) for start, end in old]
    right = [" ".join(newer.text[start:end].split()) for start, end in new]
    for start, end, from_, to in _differing(left, right):
        for mine, theirs in _pairs(left[start:end], right[from_:to]):
            before = left[start + mine] if mine is not None else ""
            after = right[from_ + theirs] if theirs is not None else ""
            if theirs is not None:
                place = new[from_ + theirs][0]
                yield heading_at(newer.headings, place), ChangedParagraph(_pieces(before, after), place, removed=False)
            elif mine is not None:
                place = old[start + mine][0]
                yield heading_at(older.headings, place), ChangedParagraph(_pieces(before, after), place, removed=True)


def _paragraphs(text: str) -> list[Span]:
    """Return the spans between blank lines, each from its first letter on."""
    return [match.span() for match in _PARAGRAPH.finditer(text)]


def _differing(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield [start, end) in both sequences of the longest runs in which nothing is equal."""
    run: tuple[int, int, int, int] | None = None
    for step in Indel.opcodes(left, right):
        if step.tag == "equal":
            if run:
                yield run
            run = None
        elif run:
            run = run[0], step.src_end, run[2], step.dest_end
        else:
            run = step.src_start, step.src_end, step.dest_start, step.dest_end
    if run:
        yield run


def _pairs(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the paragraphs of a differing run in reading order.

    An amended paragraph is a pair; a removed or added one has None on the other side.
    """
    position, alone = 0, list[int]()
    for theirs, paragraph in enumerate(right):
        ahead = left[position : position + _LOOK_AHEAD]
        ratios = [fuzz.ratio(one, paragraph, score_cutoff=_AMENDED) for one in ahead]
        best = max(ratios, default=0.0)
        if best:
            mine = position + ratios.index(best)
            yield from ((skipped, None) for skipped in range(position, mine))
            yield from ((None, added) for added in alone)
            yield mine, theirs
            position, alone = mine + 1, []
        else:
            alone.append(theirs)
    yield from ((rest, None) for rest in range(position, len(left)))
    yield from ((None, added) for added in alone)


def _pieces(before: str, after: str) -> tuple[ChangedPiece, ...]:
    """Return the words of a paragraph of both versions in one sequence."""
    left, right = before.split(), after.split()
    if not left or not right or max(len(left), len(right)) > _MOST_WORDS:
        return tuple(_replaced(left, right))
    pieces: list[ChangedPiece] = []
    position = 0
    for start, end, from_, to in _joined(list(_differing(left, right))):
        if start > position:
            pieces.append(ChangedPiece(" ".join(left[position:start]), "same"))
        pieces += _replaced(left[start:end], right[from_:to])
        position = end
    if position < len(left):
        pieces.append(ChangedPiece(" ".join(left[position:]), "same"))
    return tuple(pieces)


def _replaced(removed: Sequence[str], added: Sequence[str]) -> Iterator[ChangedPiece]:
    if removed:
        yield ChangedPiece(" ".join(removed), "removed")
    if added:
        yield ChangedPiece(" ".join(added), "added")


def _joined(runs: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Return the differing runs, joined if only a few equal words separate them by chance."""
    joined: list[tuple[int, int, int, int]] = []
    for run in runs:
        if joined and run[0] - joined[-1][1] <= _CHANCE:
            joined[-1] = joined[-1][0], run[1], joined[-1][2], run[3]
        else:
            joined.append(run)
    return joined


@dataclass(frozen=True, slots=True)
class SameWork:
    """The versions of a document in its language, the oldest first, and its translations.

    The document is among its versions. `corrections` are its corrigenda, or of a corrigendum the versions it corrects.
    """

    versions: tuple[DocumentRecord, ...]
    translations: tuple[DocumentRecord, ...]
    corrections: tuple[DocumentRecord, ...] = ()


def documents_of_work(document: DocumentRecord, documents: Iterable[DocumentRecord]) -> SameWork:
    """Return the documents that share the document's work, or the document alone."""
    documents = tuple(documents)
    work, language = document.metadata.work, document.metadata.language
    same = [one for one in documents if work and one.metadata.work == work and one.key != document.key]
    versions = [document, *(one for one in same if one.metadata.language == language)]
    translations = [one for one in same if one.metadata.language != language]
    return SameWork(
        tuple(sorted(versions, key=age_of)),
        tuple(sorted(translations, key=lambda one: one.metadata.language)),
        tuple(_corrections(document, documents)),
    )


def _corrections(document: DocumentRecord, documents: Iterable[DocumentRecord]) -> Iterator[DocumentRecord]:
    """Yield the corrigenda of a document, and of a corrigendum what it corrects."""
    place = work_place(document.metadata.identifiers)
    for other in documents if place.works else ():
        its = work_place(other.metadata.identifiers)
        if its.is_corrigendum_of(place) or place.is_corrigendum_of(its):
            yield other


def newer_version(document: DocumentRecord, documents: Iterable[DocumentRecord]) -> DocumentRecord | None:
    """Return the newest version of a superseded document.

    Return None for a document that is not superseded, or if the newest version is missing.
    """
    if not document.metadata.superseded:
        return None
    newest = documents_of_work(document, documents).versions[-1]
    return None if newest.metadata.superseded else newest
