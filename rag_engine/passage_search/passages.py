"""Passages as they are shown: text with the words that matched, nearest sentence, and quote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_engine.answering.reference_list import limits_of
from rag_engine.engine import Engine
from rag_engine.passage_search.describe import describe_scattered, describe_searched, describe_unclosed
from rag_engine.passage_search.find import FoundPassages, PassageMatch
from rag_engine.passage_search.struck import StruckMatch
from rag_engine.protocols import Vectors
from rag_engine.retrieval.retrieve import hit_of
from rag_engine.storage.catalog import portions
from rag_engine.storage.sentence_vectors import sentence_cosines, sentence_places
from rag_engine.text.excerpt import told_apart, window
from rag_engine.text.sentences import Span
from rag_engine.text.words.key_words import find_key_words
from rag_engine.types.answer import Citation
from rag_engine.types.passage import Hit


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """A passage that was found, with the places of key words and of the nearest sentence in its text.

    The nearest sentence has a key word if any sentence has one. It is the whole text if that is one sentence, or if
    there are no vectors.
    """

    match: PassageMatch
    hit: Hit
    marks: tuple[Span, ...]
    sentence: Span

    @property
    def quote(self) -> str:
        """The nearest sentence."""
        return self.hit.text[slice(*self.sentence)]

    @property
    def place(self) -> Span:
        """Characters [start, end) of the document's text that are the nearest sentence."""
        return self.hit.start + self.sentence[0], self.hit.start + self.sentence[1]

    def excerpt(self, length: int) -> list[tuple[str, bool, bool]]:
        """Return pieces of about `length` characters around the nearest sentence.

        Each piece comes with whether it is a key word and whether it belongs to that sentence.
        """
        shown = window(self.hit.text, [self.sentence], 0, length)
        pieces = told_apart(self.hit.text, shown, self.marks, [self.sentence])
        return [(text, marked, near) for text, (marked, near) in pieces]


def read_passages(engine: Engine, found: FoundPassages, matches: Sequence[PassageMatch]) -> Iterator[MarkedPassage]:
    """Yield matches with their texts, in their order; one whose document was erased meanwhile is left out."""
    for some in portions(matches):
        records = engine.catalog.children(match.key for match in some)
        packed = _sentences(engine, some) if len(found.vector) else {}
        for match in some:
            if match.key in records:
                hit = hit_of(records[match.key], match.document, cosine=0.0, similarity=0.0)
                language = match.document.metadata.language
                marks = find_key_words(hit.text, language, found.wanted)
                sentence = _nearest(hit.text, language, packed.get(match.key, b""), found.vector, marks)
                yield MarkedPassage(match, hit, marks, sentence)


def citation_of(engine: Engine, passage: MarkedPassage) -> Citation:
    """Return the nearest sentence of a passage as a citation, with its page."""
    hit, (start, end) = passage.hit, passage.place
    document, metadata = hit.document, hit.document.metadata
    page = hit.page if hit.page == hit.last_page else engine.catalog.page_at(document.key, start)
    return Citation(
        n=1,
        child_id=hit.child_id,
        document_id=document.document_id,
        file=document.file,
        title=metadata.title,
        page=page,
        quote=passage.quote,
        start=start,
        end=end,
        authority=metadata.authority,
        year=metadata.year,
        licence=metadata.licence,
        page_label=document.page_label(page),
    )


def _sentences(engine: Engine, matches: Iterable[PassageMatch]) -> dict[int, bytes]:
    """Return the packed vectors of the sentences of passages, by the passage's key."""
    view = engine.collection.view()
    positions = view.snapshot.positions(np.array(sorted(match.key for match in matches), np.int64))
    rows = dict(zip(view.snapshot.keys[positions].tolist(), view.snapshot.rows[positions].tolist(), strict=True))
    held = view.sentences(list(rows.values()))
    return {key: held[row] for key, row in rows.items() if row in held}


def _nearest(text: str, language: str, packed: bytes, vector: Vectors, marks: Sequence[Span]) -> Span:
    """Return the sentence of a text that is nearest to the query, a marked one if there is any.

    A text of one sentence is returned whole.
    """
    places = sentence_places(text, language)
    cosines = sentence_cosines(packed, vector[0]) if packed else np.zeros(0, np.float32)
    # Vectors of sentences that were cut in another language, corrected since, name no place.
    if len(places) < 2 or len(cosines) != len(places):
        return 0, len(text)
    marked = [place for place, (start, end) in enumerate(places) if any(a < end and b > start for a, b in marks)]
    return places[max(marked or range(len(places)), key=lambda place: float(cosines[place]))]


def found_json(found: FoundPassages, passages: Iterable[MarkedPassage]) -> dict[str, Any]:
    """Return a search, its number of results, and the given passages."""
    query = found.query
    return {
        "words": query.words,
        "filter": {name: list(values) for name, values in query.wanted.items()},
        "sort": query.sort,
        "words_only": query.by_words,
        "anywhere": query.anywhere,
        "searched": describe_searched(found.wanted),
        "documents": {"allowed": found.allowed, "held": found.held, "found": len(found.documents)},
        "total": len(found),
        "with_all_words": sum(match.all_words for match in found.matches),
        "passages": [_passage_json(passage) for passage in passages],
        "struck": [_struck_json(match) for match in found.struck],
        "warnings": [*filter(None, (describe_unclosed(found.wanted), describe_scattered(found))), *found.warnings],
        "seconds": round(found.seconds, 3),
    }


def _passage_json(passage: MarkedPassage) -> dict[str, Any]:
    hit, document = passage.hit, passage.hit.document
    metadata = document.metadata
    return {
        "rank": passage.match.rank,
        "all_words": passage.match.all_words,
        "child_id": hit.child_id,
        "document_id": document.document_id,
        "file": document.file,
        "title": metadata.title,
        "authority": metadata.authority,
        "year": metadata.year,
        "undated": not metadata.since,
        "language": metadata.language,
        "licence": metadata.licence,
        "limits": list(limits_of(metadata.licence)),
        "page": hit.page,
        "page_label": document.page_label(hit.page),
        "section": hit.section,
        "text": hit.text,
        "marks": [list(span) for span in passage.marks],
        "sentence": list(passage.sentence),
    }


def _struck_json(match: StruckMatch) -> dict[str, Any]:
    return {
        "document_id": match.document.document_id,
        "file": match.document.file,
        "title": match.document.metadata.title,
        "page": match.struck.page,
        "page_label": match.document.page_label(match.struck.page),
        "start": match.struck.start,
        "text": match.struck.text,
        "before": match.before,
        "after": match.after,
    }
