"""One document to parents and children, by a named strategy or the one that fits its structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_engine.chunking.headings import titles
from rag_engine.chunking.paragraph import paragraph_chunks
from rag_engine.chunking.parents import filled, parents_of, solid
from rag_engine.chunking.section.chunks import section_chunks, section_coverage
from rag_engine.chunking.semantic import semantic_chunks
from rag_engine.config import ChunkingConfig, ChunkSizes, Strategy
from rag_engine.errors import InputError
from rag_engine.protocols import Vectors
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types.document import Block, Line
from rag_engine.types.passage import Parent

# Sections decide if they are most of the text: a report that quotes three articles is no statute. Titles must not part
# it finer: in a guide that numbers its chapters, the titles inside them say more.
_FEWEST_SECTIONS = 3
_LEAST_SECTIONED = 0.6
# A text that is a single section is cited by its number.
_ALL_SECTIONED = 0.9
_TITLES_PER_SECTION = 2
# Titles decide if they are enough to say what the text below them is about.
_FEWEST_TITLES = 4
_LEAST_TITLED = 0.5
_PARENTS_PER_TITLE = 4

# Thai, Lao, Khmer, Japanese and Chinese put no space between words: each letter counts. And no word is endless.
_SPACELESS = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]{{1,100}}")
_LINE = re.compile(r"[^\n]+")
# From the coarsest to the finest; sentences are between the second and the third.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_END = re.compile(r"\n\s*")
_WORD_END = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Chunked:
    """The parents of a document, the strategy that cut them, and why that one, in a sentence.

    The strategy is never "auto".
    """

    parents: list[Parent]
    strategy: Strategy
    why: str


def chunk(
    text: str,
    language: str,
    *,
    title: str,
    blocks: Sequence[Block],
    lines: Sequence[Line],
    encode: Callable[[Sequence[str]], Vectors],
    config: ChunkingConfig,
) -> Chunked:
    """Return parents in reading order, each with its children, by `config.strategy`.

    `parent.text == text[parent.start:parent.end]` and `child.text == parent.text[child.start:child.end]`; every
    character but white space is in a parent and, within it, in a child. A text that fits into one child is one
    parent with one child by every strategy, unless it is an act of several sections. `encode` gives a vector for each
    text; only semantic chunking calls it. `title` is the document's; `blocks` and `lines` may be empty where the layout
    is not known.
    """
    sizes = config.sizes
    if len(text.strip()) <= sizes.child_size + sizes.child_minimum:
        if act := _short_act(text, language, title, blocks, config):
            return act
        strategy: Strategy = "semantic" if config.strategy == "auto" else config.strategy
        parents = _whole(text, language, title, blocks, sizes)
        return Chunked(parents, strategy, "The text fits into one passage." if parents else "There is no text.")
    strategy, why = _chosen(text, language, title, blocks, lines, config)
    if strategy == "section":
        parents = section_chunks(text, language, title=title, blocks=blocks, config=sizes)
    elif strategy == "paragraph":
        parents = paragraph_chunks(text, language, blocks=blocks, lines=lines, title=title, config=sizes)
    elif strategy == "semantic":
        parents = semantic_chunks(text, language, encode=encode, config=sizes)
    else:
        # These need to know nothing of the layout and the meaning.
        by_size = {"sentence": sentence_chunks, "fixed": fixed_chunks, "newline": newline_chunks}
        parents = by_size.get(strategy, recursive_chunks)(text, language, config=sizes)
    return Chunked(parents, strategy, why)


def _short_act(text: str, language: str, title: str, blocks: Sequence[Block], config: ChunkingConfig) -> Chunked | None:
    """Return a text of one passage cut at its sections, which are cited singly; None without several."""
    if config.strategy not in ("auto", "section"):
        return None
    count, share = section_coverage(text, language, title=title, blocks=blocks)
    if count < 2 or share < _LEAST_SECTIONED:
        return None
    parents = section_chunks(text, language, title=title, blocks=blocks, config=config.sizes)
    # Headings with a number alone are the plan of a short text and no law.
    if any(re.fullmatch(r"[\d.]+", parent.section) for parent in parents):
        return None
    return Chunked(parents, "section", f"{count} numbered sections with {share:.0%} of the text.")


def _whole(text: str, language: str, title: str, blocks: Sequence[Block], sizes: ChunkSizes) -> list[Parent]:
    """Return the text as one parent.

    A lone section keeps its number, by which it is cited.
    """
    whole = parents_of(text, [(0, len(text))], sentence_spans(text, language), sizes)
    sections = section_chunks(text, language, title=title, blocks=blocks, config=sizes)
    if len(whole) == len(sections) == 1:
        parent = sections[0]
        return [replace(whole[0], act=parent.act, section=parent.section, headings=parent.headings, depth=parent.depth)]
    return whole


@dataclass(frozen=True, slots=True)
class _Structure:
    """The number of pieces of one kind in a text, that in words, and whether they are enough to chunk by."""

    count: int
    found: str
    enough: bool


def _chosen(
    text: str, language: str, title: str, blocks: Sequence[Block], lines: Sequence[Line], config: ChunkingConfig
) -> tuple[Strategy, str]:
    """Return the strategy, never "auto", and why it is this one."""
    named: Strategy = config.strategy
    if named not in ("auto", "section", "paragraph"):
        return named, "Asked for by name."
    sections = _sections(text, language, title, blocks)
    titled = _titled(text, title, blocks, lines, config.sizes)
    if named != "auto":
        return named, f"Asked for by name; {(sections if named == 'section' else titled).found}."
    finer = titled.enough and titled.count > _TITLES_PER_SECTION * sections.count
    if sections.enough and not finer:
        return "section", f"{sections.found.capitalize()}."
    if titled.enough:
        return "paragraph", f"{titled.found.capitalize()}."
    return "semantic", f"{sections.found.capitalize()}; {titled.found}: cut where the topic turns."


def _sections(text: str, language: str, title: str, blocks: Sequence[Block]) -> _Structure:
    count, share = section_coverage(text, language, title=title, blocks=blocks)
    found = f"{_counted(count, 'numbered section')} with {share:.0%} of the text" if count else "no numbered sections"
    enough = share >= (_LEAST_SECTIONED if count >= _FEWEST_SECTIONS else _ALL_SECTIONED)
    return _Structure(count, found, enough)


def _titled(text: str, title: str, blocks: Sequence[Block], lines: Sequence[Line], sizes: ChunkSizes) -> _Structure:
    found = [one for one in titles(text, blocks, lines, title) if one.path]
    if not found:
        return _Structure(0, "no titles", enough=False)
    levels = max(len(one.path) for one in found)
    share = 1 - found[0].start / len(text)
    # Each row of a table needs no title to say what it is about.
    prose = len(text) - sum(block.end - block.start for block in blocks if block.kind == "table")
    dense = prose <= len(found) * _PARENTS_PER_TITLE * sizes.parent_size
    words = f"{_counted(len(found), 'title')} on {_counted(levels, 'level')} over {share:.0%} of the text"
    return _Structure(len(found), words, len(found) >= _FEWEST_TITLES and share >= _LEAST_TITLED and dense)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def fixed_chunks(text: str, language: str, *, config: ChunkSizes) -> list[Parent]:
    """Return parents of `fixed_words` words, with `fixed_overlap` words of the one before.

    Words stand for tokens. The number of tokens in a word depends on the encoder, and a text is cut alike for all.
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
    """Return a parent for every line of the text: paragraphs, headings, rows of tables."""
    lines = [found.span() for found in _LINE.finditer(text)]
    return parents_of(text, lines, sentence_spans(text, language), config)


def sentence_chunks(text: str, language: str, *, config: ChunkSizes) -> list[Parent]:
    """Return parents of whole sentences, of at most `maximum_words` words, in reading order.

    A parent is one chunk and not several, so that the bound holds for reading and for searching alike. It has one
    child, or several if it is longer than a child of `config` may be. Together the chunks hold every character but
    white space, and none crosses a gap of `solid`. `sentence_ranges` chooses the sentences of a chunk.
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
    """Yield ranges [first, beyond) of the sentences in a chunk, given the words of each sentence.

    A chunk is closed before the sentence that would take it over `maximum` words. If it has at least `minimum`, the
    next begins with its last sentences, the fewest that have `overlap` words together. Repeated sentences are left out
    again, from the front, until the next sentence fits. A sentence longer than `maximum` is a chunk by itself, and the
    only one that exceeds it.

    >>> list(sentence_ranges([4, 4, 4, 4], maximum=8, minimum=4, overlap=2))
    [(0, 2), (1, 3), (2, 4)]
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

    A text that is too long is cut where its paragraphs end. A longer piece is cut at lines, then sentences, then words,
    at last anywhere. Neighbouring pieces stay together as far as they fit.
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
