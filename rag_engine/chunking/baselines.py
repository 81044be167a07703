"""The usual ways to cut a text without looking at what it is: fixed size, newline, whole sentences, recursive.

They are what the other strategies are compared with. What they cut is the parent; children are cut inside it, since
few encoders read 800 words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_engine.chunking.parents import filled, parents_of, solid
from rag_engine.config import ChunkSizes
from rag_engine.errors import InputError
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types import Parent

# Thai, Lao, Khmer, Japanese and Chinese put no space between words: each letter counts. And no word is endless.
_SPACELESS = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]{{1,100}}")
_LINE = re.compile(r"[^\n]+")
# From the coarsest to the finest; sentences are between the second and the third.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_END = re.compile(r"\n\s*")
_WORD_END = re.compile(r"\s+")


def fixed_chunks(text: str, language: str, *, config: ChunkSizes) -> list[Parent]:
    """Return parents of `fixed_words` words, each beginning with the last `fixed_overlap` words of the one before.

    Words stand for tokens: how many tokens a word has depends on the encoder, and a text is to be cut alike for all.
    """
    size, overlap = config.fixed_words, config.fixed_overlap
    if not 0 <= overlap < size:
        raise InputError(
            f"fixed_overlap={overlap} does not fit into fixed_words={size}.",
            help="Make the overlap the smaller of the two.",
        )
    spans: list[Span] = []
    for start, end in solid(text, [(0, len(text))], config):
        words = [found.span() for found in _WORD.finditer(text, start, end)]
        firsts = range(0, max(len(words) - overlap, 1), size - overlap)
        spans += [(words[first][0], words[min(first + size, len(words)) - 1][1]) for first in firsts]
    return parents_of(text, spans, sentence_spans(text, language), config)


def newline_chunks(text: str, language: str, *, config: ChunkSizes) -> list[Parent]:
    """Return a parent for every line of the text, however short: paragraphs, headings, rows of tables."""
    lines = [found.span() for found in _LINE.finditer(text)]
    return parents_of(text, lines, sentence_spans(text, language), config)


def sentence_chunks(text: str, language: str, *, config: ChunkSizes) -> list[Parent]:
    """Return chunks of whole sentences in reading order, each a parent of its own, of at most `maximum_words` words.

    A parent is one chunk and not several, so that the bound holds for what is read as for what is searched; it has
    one child, or several where it is longer than a child of `config` may be. Together the chunks hold every
    character but white space, and none crosses a gap as `solid` knows them. `sentence_ranges` says which sentences make
    a chunk.
    """
    maximum, minimum, overlap = config.maximum_words, config.minimum_words, config.overlap_words
    if not (0 < minimum <= maximum and overlap > 0):
        raise InputError(
            f"Sentence chunks cannot have maximum_words={maximum}, minimum_words={minimum}, overlap_words={overlap}.",
            help="Make all of them at least 1, and the minimum no larger than the maximum.",
        )
    every: list[Span] = []
    spans: list[Span] = []
    for begin, stop in solid(text, [(0, len(text))], config):
        sentences = [(begin + start, begin + end) for start, end in sentence_spans(text[begin:stop], language)]
        words = [len(text[start:end].split()) for start, end in sentences]
        for first, beyond in sentence_ranges(words, maximum, minimum, overlap):
            spans.append((sentences[first][0], sentences[beyond - 1][1]))
        every += sentences
    return parents_of(text, spans, every, config)


def sentence_ranges(words: Sequence[int], maximum: int, minimum: int, overlap: int) -> Iterator[Span]:
    """Yield ranges [first, beyond) of the sentences that make a chunk, given the number of words of each sentence.

    A chunk is closed before the sentence that would take it over `maximum` words. If it has at least `minimum`, the
    next begins with the fewest of its last sentences that have `overlap` words together, else with nothing. Of these
    as many are left out again, from the front, as the next sentence needs to fit. Only a sentence that is longer
    than `maximum` alone exceeds it, in a chunk of its own.
    """
    first = held = 0
    for place, count in enumerate(words):
        if first < place and held + count > maximum:
            yield first, place
            seed, repeated = place, 0
            while held >= minimum and first < seed and repeated < overlap:
                seed -= 1
                repeated += words[seed]
            # The seed and the sentence can exceed the maximum again: the bound goes before the overlap.
            while seed < place and repeated + count > maximum:
                repeated -= words[seed]
                seed += 1
            first, held = seed, repeated
        held += count
        if count > maximum:
            yield first, place + 1
            first, held = place + 1, 0
    if first < len(words):
        yield first, len(words)


def recursive_chunks(text: str, language: str, *, config: ChunkSizes) -> list[Parent]:
    """Return parents of at most `parent_size` characters, without overlap.

    A text that is too long is cut where its paragraphs end, a piece that still is where its lines end, then its
    sentences, then its words, at last anywhere; neighbouring pieces stay together as far as they fit.
    """
    sentences = sentence_spans(text, language)
    levels = [
        [found.end() for found in _PARAGRAPH_END.finditer(text)],
        [found.end() for found in _LINE_END.finditer(text)],
        [end for _, end in sentences],
        [found.end() for found in _WORD_END.finditer(text)],
        range(1, len(text)),
    ]
    return parents_of(text, filled((0, len(text)), levels, config.parent_size), sentences, config)
