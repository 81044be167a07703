"""A document's title from what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ingestion.extraction.assemble import one_line
from ingestion.extraction.layout.title_block import LONGEST_TITLE, is_furniture, is_part_or_sentence, printed_titles
from ingestion.patterns import load_patterns
from rag_engine.types import Block

_PATTERNS = load_patterns("titles")
_WORD = re.compile(r"(?<!\S)[^\W\d_]{3,}")
_NAME = re.compile(r"[^\W\d_]{3,30}(?:_[^\W_]{2,30}){1,8}")
_LONGEST = 250
_LONGEST_HEADING = 120
_OPENING = 8_000
# From here on a printed line is a title for certain, and a declared one that is not printed was left over.
STRONG = 2.6


def looks_like_title(text: str) -> bool:
    """Return True for words a person would put above a text; false for file names, document numbers and programs."""
    enough_words = len(_WORD.findall(text)) >= 2
    return (
        enough_words
        and len(text) <= _LONGEST
        and not _PATTERNS["program"].match(text)
        and not _PATTERNS["file_name"].search(text)
        and not is_part_or_sentence(text)
    )


def choose_title(declared: str, text: str, blocks: Sequence[Block], path: Path) -> str:
    """Return the declared title if it is printed, else the printed one, else the declared one, else the file name.

    A workbook has no print: its sheets' names and columns are no titles.
    """
    declared = one_line(declared)
    usable = looks_like_title(declared)
    if usable and is_printed(declared, text):
        return whole_line(declared, text, blocks)
    printed = [] if is_workbook(blocks) else printed_titles(text, blocks)
    if printed and (not usable or printed[0].strength >= STRONG):
        return printed[0].text
    if usable:
        return declared
    return first_line(text, blocks) or stem_words(path) or path.name


def stem_words(path: Path) -> str:
    """Return the words that a file's name is made of, without its ending."""
    return " ".join(re.sub(r"[_\-.]+", " ", path.stem).split())


def is_printed(title: str, text: str) -> bool:
    """Return whether a title is in the opening of a text, whatever its capitals and line ends."""
    return _letters(title) in _letters(text[:_OPENING])


def is_workbook(blocks: Sequence[Block]) -> bool:
    """Return whether there is nothing but tables below the names of their sheets."""
    kinds = [block.kind for block in blocks]
    return "table" in kinds and kinds[0] == "heading" and not {"text", "note"} & set(kinds)


def first_line(text: str, blocks: Sequence[Block]) -> str:
    """Return the first line of the first page that could stand above a text; "" where there is none."""
    if is_workbook(blocks):
        first = next(block for block in blocks if block.kind == "table")
        line = one_line(text[first.start : first.end].partition("\n")[0][:LONGEST_TITLE])
        alone = not first.rows or sum(map(bool, first.rows[0])) == 1
        return line if alone and looks_like_title(line) and len(line) <= 120 else ""
    lines = [
        (block, one_line(text[block.start : min(block.end, block.start + LONGEST_TITLE)]))
        for block in blocks[:200]
        if block.page == blocks[0].page
    ]
    headings = [line for block, line in lines if block.kind == "heading"]
    for line in headings or [line for _, line in lines[:20]]:
        whole = line[:1].isalnum() and not line[:1].islower() and not line.endswith((".", ";", ":", ","))
        if whole and len(line) <= _LONGEST_HEADING and looks_like_title(line) and not is_furniture(line):
            return line
    # The name of a table or a variable is all that some technical files are called.
    return lines[0][1] if lines and _NAME.fullmatch(lines[0][1]) else ""


def whole_line(title: str, text: str, blocks: Sequence[Block]) -> str:
    """Return the printed line that begins with the title and continues a little, where there is one; else the title."""
    for block in blocks[:20]:
        line = one_line(text[block.start : min(block.end, block.start + LONGEST_TITLE)])
        longer = len(title) < len(line) <= min(_LONGEST_HEADING, 3 * len(title)) and not line.endswith((".", ";", ":"))
        if longer and block.kind in ("heading", "text") and _letters(line).startswith(_letters(title)):
            return line
    return title


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
