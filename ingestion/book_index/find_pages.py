"""Detection of index pages by their lines: a term, page numbers, and the order of the alphabet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ingestion.book_index.entries import has_locators, is_glossary_title, is_index_title, is_locators
from rag_engine.text.folding import fold
from rag_engine.types.document import ExtractedText

# Of the lines of a page: with a title of an index above them, without one, and on the pages behind.
_TITLED_SHARE = 0.3
_BARE_SHARE = 0.5
_FURTHER_SHARE = 0.3
_FEWEST_LINES = 8
_TITLE_LINES = 3
_LAST_NUMBER = re.compile(r"(\d{1,4})\W*$")


def index_pages(extracted: ExtractedText) -> tuple[int, ...]:
    """Return the pages of the document's index, or indexes, in order; empty if it has none.

    A page begins an index if it has entries and the title of an index, or if half of it is entries. In both cases the
    entries must be in alphabetical order, unlike those of a table of contents.
    """
    lines = lines_by_page(extracted)
    found: list[int] = []
    for page in sorted(lines):
        texts = lines[page]
        share = entry_share(texts)
        titled = any(is_index_title(text) and not has_locators(text) for text in texts[:_TITLE_LINES])
        if found and found[-1] == page - 1 and share >= _FURTHER_SHARE and (titled or _is_alphabetical(texts)):
            found.append(page)
            continue
        enough = share >= (_TITLED_SHARE if titled else _BARE_SHARE) and (titled or len(texts) >= _FEWEST_LINES)
        if enough and _is_alphabetical(texts, few=titled):
            found.append(page)
    return tuple(found)


def glossary_pages(extracted: ExtractedText) -> tuple[int, ...]:
    """Return the pages on which a glossary begins by its title."""
    lines = lines_by_page(extracted)
    headings = {extracted.text[block.start : block.end] for block in extracted.blocks if block.kind == "heading"}
    return tuple(
        page
        for page, texts in sorted(lines.items())
        if any(is_glossary_title(text) and (text in headings or text in texts[:_TITLE_LINES]) for text in texts)
    )


def lines_by_page(extracted: ExtractedText) -> dict[int, list[str]]:
    """Return the texts of the lines of each page, in reading order."""
    pages: dict[int, list[str]] = {}
    for line in extracted.lines:
        pages.setdefault(line.page, []).append(extracted.text[line.start : line.end])
    return pages


def entry_share(texts: Sequence[str]) -> float:
    """Return the share of the lines that are entries of an index, or their page numbers; 0 for no lines."""
    return sum(has_locators(text) or is_locators(text) for text in texts) / max(1, len(texts))


def _is_alphabetical(texts: Sequence[str], *, few: bool = False) -> bool:
    """Return whether entries are in alphabetical order, and not in the order of their pages."""
    entries = [text for text in texts if has_locators(text)]
    numbers = [int(found[1]) for text in entries if (found := _LAST_NUMBER.search(text))]
    if len(numbers) >= _FEWEST_LINES // 2 and goes_up(numbers):
        return False
    initials = [initial for text in entries if (initial := initial_of(text))]
    if len(initials) < _FEWEST_LINES // 2:
        return few and 1 < len(entries) < _FEWEST_LINES and initials == sorted(initials)
    return is_alphabetical(initials)


def is_alphabetical(initials: Sequence[str]) -> bool:
    """Return whether most entries begin with the letter of the one before or the next.

    Sub-entries need not.
    """
    steps = [ord(after) - ord(before) for before, after in pairwise(initials)]
    near = sum(0 <= step <= 1 for step in steps)
    upward = sum(step >= 0 for step in steps)
    return near >= 0.5 * len(steps) or upward >= 0.85 * len(steps)


def goes_up(numbers: Sequence[int]) -> bool:
    """Return whether page numbers only go up, as in a table of contents."""
    return list(numbers) == sorted(numbers) and len(set(numbers)) > 1


def initial_of(text: str) -> str:
    """Return the first letter of an entry without case and accent; empty if it begins with a number."""
    for character in text[:4]:
        if character.isdigit():
            return ""
        if character.isalpha():
            return fold(character)[:1]
    return ""
