"""The records of an index or glossary, and the passages that they point to.

After Zhou, Li and Lemieux 2025: a term's page is opened, its first occurrence found, and the sentence around it kept
with the next ones. Here a record whose page does not name the term is anchored at the page too, and marked.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from rag_engine.book_index import matching
from rag_engine.messages import Message
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types.document import ExtractedText
from rag_engine.types.passage import Parent

# The sentence that names the term, and the two behind it.
_CONTEXT_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """One entry of an index: a term, its pages and the terms that it refers to.

    `pages` count from 1 in the PDF; `printed` are the page numbers as the index prints them. `file` names another file
    where the index says so, and is empty where the index is part of the document. `definition` is the explanation of
    the term in a glossary.
    """

    term: str
    subterm: str = ""
    pages: tuple[int, ...] = ()
    printed: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    file: str = ""
    definition: str = ""

    @property
    def entry(self) -> str:
        """The entry as a reader looks it up: "loss and damage, finance for"."""
        return matching.entry_name(self.term, self.subterm)


@dataclass(frozen=True, slots=True)
class IndexTable:
    """The records of an index in its own order, with warnings on how it was read."""

    records: tuple[IndexRecord, ...]
    warnings: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Anchor:
    """The passage to which one record points on one of its pages.

    `child` is (parent index, child index); `start` and `end` are offsets of the context in the document's text.
    `found` is False where the page does not name the term: then the context is the first child of the page.
    """

    term: str
    subterm: str
    page: int
    child: tuple[int, int]
    start: int
    end: int
    found: bool


@dataclass(frozen=True, slots=True)
class CachedQuery:
    """A term with the sentences in which its page first names it.

    It is a line of the query cache (metadata.json).
    """

    term: str
    subterm: str
    file: str
    page: int
    context: str
    found: bool


def anchors(
    records: Iterable[IndexRecord], extracted: ExtractedText, parents: Sequence[Parent], language: str
) -> list[Anchor]:
    """Return one anchor for each record and page, in the order of the records.

    Pages without text give none. `parents` are the chunks of `extracted.text`; `language` (ISO 639-1) decides which
    forms of a word are the same.
    """
    places = _Places(extracted, parents, language)
    found = (places.anchor(record, page) for record in records for page in dict.fromkeys(record.pages))
    return [anchor for anchor in found if anchor is not None]


class _Places:
    """A document's text by page: its spans, words, sentences and children."""

    def __init__(self, extracted: ExtractedText, parents: Sequence[Parent], language: str) -> None:
        self._text = extracted.text
        self._language = language
        self._spans: dict[int, list[Span]] = {}
        for line in extracted.lines:
            spans = self._spans.setdefault(line.page, [])
            # Lines that follow each other make one span, so that a term may run over a line's end.
            if spans and not self._text[spans[-1][1] : line.start].strip():
                spans[-1] = (spans[-1][0], line.end)
            else:
                spans.append((line.start, line.end))
        self._words: dict[int, list[list[matching.KeyedWord]]] = {}
        self._sentences = sentence_spans(extracted.text, language)
        self._sentence_starts = [start for start, _ in self._sentences]
        self._children = sorted(
            (parent.start + child.start, parent.start + child.end, parent.index, child.index)
            for parent in parents
            for child in parent.children
        )
        self._longest_child = max((end - start for start, end, *_ in self._children), default=0)

    def anchor(self, record: IndexRecord, page: int) -> Anchor | None:
        """Return the place of a record on one page; None where the page has no text, or no child holds it."""
        spans = self._spans.get(page)
        if not spans:
            return None
        place = self._find(record, page, spans)
        found = place is not None
        first = place or (spans[0][0], spans[0][0] + 1)
        child = self._child_at(first)
        if child is None:
            return None
        start, end = self._context(first[0]) if found else child[:2]
        return Anchor(record.term, record.subterm, page, child[2:], start, end, found)

    def _find(self, record: IndexRecord, page: int, spans: Sequence[Span]) -> Span | None:
        if page not in self._words:
            self._words[page] = [matching.words_of(self._text, self._language, *span) for span in spans]
        for phrase in matching.phrases_of(record.term, record.subterm):
            if found := next(self._places(phrase, page, spans), None):
                return found
        return None

    def _places(self, phrase: str, page: int, spans: Sequence[Span]) -> Iterator[Span]:
        """Yield where a page has a phrase: letter by letter for a sign, as a phrase, and within one sentence."""
        if matching.is_symbolic(phrase):
            yield from filter(None, (matching.find_literal(self._text, phrase, *span) for span in spans))
        sought = tuple(word.key for word in matching.words_of(phrase, self._language))
        if not sought:
            return
        yield from filter(None, (matching.find_phrase(words, sought) for words in self._words[page]))
        if len(sought) > 1:
            for words, span in zip(self._words[page], spans, strict=True):
                yield from filter(
                    None, (matching.find_together(part, sought) for part in self._sentences_in(words, span))
                )

    def _sentences_in(self, words: Sequence[matching.KeyedWord], span: Span) -> Iterator[Sequence[matching.KeyedWord]]:
        first = max(0, bisect_right(self._sentence_starts, span[0]) - 1)
        beyond = bisect_left(self._sentence_starts, span[1])
        starts = [word.start for word in words]
        edges = [bisect_left(starts, start) for start in self._sentence_starts[first:beyond]]
        for a, b in pairwise([*edges, len(words)]):
            yield words[a:b]

    def _context(self, place: int) -> Span:
        """Return the sentence at a place and the next two, as far as they are in the same run of paragraphs."""
        at = max(0, bisect_right(self._sentence_starts, place) - 1)
        last = min(at + _CONTEXT_SENTENCES, len(self._sentences)) - 1
        return self._sentences[at][0], self._sentences[last][1]

    def _child_at(self, place: Span) -> tuple[int, int, int, int] | None:
        """Return the child that holds the place; of several the one with the place furthest inside."""
        first = bisect_left(self._children, (place[0] - self._longest_child,))
        beyond = bisect_right(self._children, (place[0], len(self._text) + 1))
        holding = [child for child in reversed(self._children[first:beyond]) if child[1] > place[0]]
        return max(holding, key=lambda child: min(place[0] - child[0], child[1] - place[1]), default=None)


def query_cache(found: Iterable[Anchor], extracted: ExtractedText, file: str) -> list[CachedQuery]:
    """Return the anchors of one file with their sentences, white space evened out."""
    contexts = ((anchor, " ".join(extracted.text[anchor.start : anchor.end].split())) for anchor in found)
    return [
        CachedQuery(anchor.term, anchor.subterm, file, anchor.page, text, anchor.found) for anchor, text in contexts
    ]


def to_metadata_json(queries: Iterable[CachedQuery]) -> str:
    """Return the query cache as the text of a metadata.json."""
    return json.dumps([asdict(query) for query in queries], ensure_ascii=False, indent=1) + "\n"
