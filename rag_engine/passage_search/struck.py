"""Finding words that documents show struck out, which are no part of a passage."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rag_engine.storage.catalog import Catalog
from rag_engine.storage.snapshot import Snapshot
from rag_engine.text.sentences import Span
from rag_engine.text.words.key_words import WantedWords, find_key_words, holds_words
from rag_engine.types.document import DocumentRecord, ExtractedText, StruckText


@dataclass(frozen=True, slots=True)
class StruckMatch:
    """Struck words that were found, with the span of their paragraph and its text around them."""

    document: DocumentRecord
    struck: StruckText
    paragraph: Span
    before: str
    after: str


def find_struck(
    catalog: Catalog, snapshot: Snapshot, wanted: WantedWords, allowed: Collection[int] | None
) -> tuple[StruckMatch, ...]:
    """Return the struck words with a key word in paragraphs that hold all of them, document by document."""
    keys = sorted(snapshot.documents if allowed is None else allowed)
    held = catalog.struck(keys)
    return tuple(
        match
        for key in keys
        if key in held and key in snapshot.documents
        for match in _matches(snapshot.documents[key], catalog.extracted(snapshot.documents[key]), wanted)
    )


def _matches(document: DocumentRecord, extracted: ExtractedText, wanted: WantedWords) -> Iterator[StruckMatch]:
    language, text = document.metadata.language, extracted.text
    for one in extracted.struck:
        if find_key_words(one.text, language, wanted):
            start, end = _paragraph(extracted, one.start)
            match = StruckMatch(document, one, (start, end), text[start : one.start], text[one.start : end])
            if holds_words(f"{match.before} {one.text} {match.after}", language, wanted):
                yield match


def _paragraph(extracted: ExtractedText, offset: int) -> Span:
    """Return the block at an offset; where a whole paragraph is struck, the one before it."""
    return next(
        ((block.start, block.end) for block in extracted.blocks if block.start <= offset <= block.end), (offset, offset)
    )
