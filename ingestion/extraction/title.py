"""A document's title from what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ingestion.extraction.assemble import tidy
from rag_engine.types import Block

_PROGRAM = re.compile(
    r"microsoft (word|excel|powerpoint)|powerpoint|adobe |untitled|sans titre|unbenannt|senza titolo|"
    r"(document|slide|folie|diapositiva|layout|présentation|presentazione) ?\d*$",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"\.(docx?|pdf|indd|qxd|wpd|rtf|odt|pptx?|xlsx?|html?|tex|dvi|fm|pmd)\s*$|[\\_]", re.IGNORECASE)
_WORD = re.compile(r"(?<!\S)[^\W\d_]{3,}")
_LONGEST = 250


def looks_like_title(text: str) -> bool:
    """True for words a person would put above a text; false for file names, document numbers and programs."""
    enough_words = len(_WORD.findall(text)) >= 2
    return enough_words and len(text) <= _LONGEST and not _PROGRAM.match(text) and not _FILE_NAME.search(text)


def choose_title(declared: str, text: str, blocks: Sequence[Block], path: Path) -> str:
    """The declared title, else the largest heading of the first page, else the first line, else the file name."""
    declared = tidy(declared)
    if looks_like_title(declared):
        return declared
    headings = [block for block in blocks if block.kind == "heading"]
    opening = [block for block in headings if block.page == blocks[0].page and _worded(text, block)]
    if opening:
        largest = max(opening, key=lambda block: block.font_size or 0.0)
        return _with_next_line(text, blocks, largest)
    for block in headings or blocks:
        line = tidy(text[block.start : block.end])
        if looks_like_title(line):
            return line
    return " ".join(re.sub(r"[_\-.]+", " ", path.stem).split()) or path.name


def _worded(text: str, block: Block) -> bool:
    return looks_like_title(tidy(text[block.start : block.end]))


def _with_next_line(text: str, blocks: Sequence[Block], heading: Block) -> str:
    """The heading with the lines of the same size below it: titles are often set as several blocks."""
    title = tidy(text[heading.start : heading.end])
    if heading.font_size is None:
        return title
    for block in blocks[list(blocks).index(heading) + 1 :]:
        more = f"{title} {tidy(text[block.start : block.end])}"
        if block.kind != "heading" or block.font_size != heading.font_size or len(more) > _LONGEST:
            break
        title = more
    return title
