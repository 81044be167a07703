"""One document to parents and children, by the strategy that was asked for or by the one that fits its structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_engine.chunking.baselines import fixed_chunks, newline_chunks, recursive_chunks, sentence_chunks
from rag_engine.chunking.headings import titles
from rag_engine.chunking.paragraph import paragraph_chunks
from rag_engine.chunking.parents import parents_of
from rag_engine.chunking.sections.chunks import section_chunks, section_coverage
from rag_engine.chunking.semantic import semantic_chunks
from rag_engine.config import ChunkingConfig, ChunkSizes, Strategy
from rag_engine.protocols import Vectors
from rag_engine.text.sentences import sentence_spans
from rag_engine.types import Block, Line, Parent

# Strategies that need to know nothing of the layout and the meaning.
_BY_SIZE: Mapping[str, Callable[..., list[Parent]]] = {
    "sentence": sentence_chunks,
    "fixed": fixed_chunks,
    "newline": newline_chunks,
    "recursive": recursive_chunks,
}

# Sections decide where they are most of the text, for a report that quotes three articles is no statute, and where
# titles part it no finer: in a guide that numbers its chapters, the titles inside them say more.
_FEWEST_SECTIONS = 3
_LEAST_SECTIONED = 0.6
# A text that is a single section is cited by its number.
_ALL_SECTIONED = 0.9
_TITLES_PER_SECTION = 2
# Titles decide where they are many enough, for the text below them, to say what it is about.
_FEWEST_TITLES = 4
_LEAST_TITLED = 0.5
_PARENTS_PER_TITLE = 4


@dataclass(frozen=True, slots=True)
class Chunked:
    """The parents of a document, the strategy that cut them (never "auto"), and in one sentence why that one."""

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
    parent with one child by every strategy. `encode` gives a vector for each text; only semantic chunking calls it.
    `title` is the document's; `blocks` and `lines` may be empty where the layout is not known.
    """
    sizes = config.sizes
    if len(text.strip()) <= sizes.child_size + sizes.child_minimum:
        strategy: Strategy = "semantic" if config.strategy == "auto" else config.strategy
        parents = _whole(text, language, title, blocks, sizes)
        return Chunked(parents, strategy, "The text fits into one passage." if parents else "There is no text.")
    strategy, why = _chosen(text, language, title, blocks, lines, config)
    if strategy == "section":
        parents = section_chunks(text, language, title=title, blocks=blocks, config=sizes)
    elif strategy == "paragraph":
        parents = paragraph_chunks(text, language, blocks=blocks, lines=lines, title=title, config=sizes)
    elif strategy in _BY_SIZE:
        parents = _BY_SIZE[strategy](text, language, config=sizes)
    else:
        parents = semantic_chunks(text, language, encode=encode, config=sizes)
    return Chunked(parents, strategy, why)


def _whole(text: str, language: str, title: str, blocks: Sequence[Block], sizes: ChunkSizes) -> list[Parent]:
    """Return the text as one parent; a lone section keeps its number, for it is cited by it however short it is."""
    whole = parents_of(text, [(0, len(text))], sentence_spans(text, language), sizes)
    sections = section_chunks(text, language, title=title, blocks=blocks, config=sizes)
    if len(whole) == len(sections) == 1:
        one = sections[0]
        return [replace(whole[0], act=one.act, section=one.section, headings=one.headings, depth=one.depth)]
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
    # Each row of a table says by itself what it is about.
    prose = len(text) - sum(block.end - block.start for block in blocks if block.kind == "table")
    dense = prose <= len(found) * _PARENTS_PER_TITLE * sizes.parent_size
    words = f"{_counted(len(found), 'title')} on {_counted(levels, 'level')} over {share:.0%} of the text"
    return _Structure(len(found), words, len(found) >= _FEWEST_TITLES and share >= _LEAST_TITLED and dense)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
