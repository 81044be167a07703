"""The usual ways to cut a text without looking at what it is: fixed size, newline, recursive.

They are what the other strategies are compared with. What they cut is the parent; children are cut inside it, since
few encoders read 800 words.
"""

from __future__ import annotations

import re

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
