"""One document to parents and children by the strategy that was asked for, or by the one that fits its structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_engine.chunking.baselines import fixed_chunks, newline_chunks, recursive_chunks
from rag_engine.chunking.parents import parents_of
from rag_engine.chunking.semantic import semantic_chunks
from rag_engine.chunking.sentence import sentence_chunks
from rag_engine.config import ChunkingConfig, Strategy
from rag_engine.protocols import Vectors
from rag_engine.sentences import sentence_spans
from rag_engine.types import Block, Line, Parent


@dataclass(frozen=True, slots=True)
class Chunked:
    """The parents of a document, the strategy that cut them ("auto" never), and in one sentence why that one."""

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
    """Parents in reading order, each with its children, by `config.strategy`.

    `parent.text == text[parent.start:parent.end]` and `child.text == parent.text[child.start:child.end]`; every
    character but white space lies in a parent and, within it, in a child. A text that fits into one child is one
    parent with one child by every strategy. `encode` gives a vector for each text; only semantic chunking calls it.
    """
    if len(text.strip()) <= config.child_size + config.child_minimum:
        strategy: Strategy = "semantic" if config.strategy == "auto" else config.strategy
        return Chunked(_whole(text, language, config), strategy, "the text fits into one passage")
    if config.strategy == "auto":
        return Chunked(
            semantic_chunks(text, language, encode=encode, config=config),
            "semantic",
            "no sections, no headings: topics",
        )
    return Chunked(_parents(text, language, title, blocks, lines, encode, config), config.strategy, "asked for by name")


def _whole(text: str, language: str, config: ChunkingConfig) -> list[Parent]:
    return parents_of(text, [(0, len(text))], sentence_spans(text, language), config)


def _parents(
    text: str,
    language: str,
    title: str,
    blocks: Sequence[Block],
    lines: Sequence[Line],
    encode: Callable[[Sequence[str]], Vectors],
    config: ChunkingConfig,
) -> list[Parent]:
    match config.strategy:
        case "auto" | "semantic":
            return semantic_chunks(text, language, encode=encode, config=config)
        case "section":
            from rag_engine.chunking.section import section_chunks  # type: ignore

            parents: list[Parent] = section_chunks(text, language, title=title, blocks=blocks, config=config)
            return parents
        case "paragraph":
            from rag_engine.chunking.paragraph import paragraph_chunks

            return paragraph_chunks(text, language, blocks=blocks, lines=lines, title=title, config=config)
        case "sentence":
            return sentence_chunks(
                text,
                language,
                maximum_words=config.maximum_words,
                minimum_words=config.minimum_words,
                overlap_words=config.overlap_words,
                config=config,
            )
        case "fixed":
            return fixed_chunks(text, language, config=config)
        case "newline":
            return newline_chunks(text, language, config=config)
        case "recursive":
            return recursive_chunks(text, language, config=config)
