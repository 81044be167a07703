"""Sentence-aware chunks: whole sentences up to M words, the last of them repeated in the next chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_engine.chunking.parents import parents_of, solid
from rag_engine.config import ChunkSizes
from rag_engine.errors import InputError
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types import Parent


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
