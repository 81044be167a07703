"""A document's text without what every page says: for the encoder and the content hash, never for the analyst."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache

from rag_engine.config import DATA
from rag_engine.text.url_masking import masked
from rag_engine.types import ExtractedText

# Shorter lines are menus, numbers and stray words (Buriasco 2026). Headings and the rows of tables are short by
# nature: without them two versions of a table that differ in one figure would have the same hash.
SHORTEST_LINE = 20
_SHORT_BY_NATURE = ("heading", "table")
# Whoever writes more than this on one line says something; it also bounds what a pattern can cost.
_LONGEST_BOILERPLATE = 240
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned text; `removed` counts the lines that were left out, `reduction` is the share 0..1 of characters."""

    text: str
    removed: int
    reduction: float


def clean(extracted: ExtractedText, language: str) -> Cleaned:
    """Return the text in compatibility characters, addresses masked, without boilerplate and short lines.

    After Buriasco 2026, section 4. Blocks stay parted by a blank line. Cleaning what is clean changes nothing.
    """
    boilerplate = _boilerplate(language if language in _patterns() else "")
    blocks: list[str] = []
    removed = 0
    for block in extracted.blocks:
        shortest = 1 if block.kind in _SHORT_BY_NATURE else SHORTEST_LINE
        lines = extracted.text[block.start : block.end].split("\n")
        kept = [line for line in map(_normalised, lines) if len(line) >= shortest and not _matches(line, boilerplate)]
        removed += len(lines) - len(kept)
        if kept:
            blocks.append("\n".join(kept))
    text = "\n\n".join(blocks)
    return Cleaned(text, removed, max(0.0, 1 - len(text) / len(extracted.text)) if extracted.text else 0.0)


def _normalised(line: str) -> str:
    if not line.isascii():
        line = _UNSEEN.sub("", line) if not line.isprintable() else line
        if not unicodedata.is_normalized("NFKC", line):
            line = unicodedata.normalize("NFKC", line)
    elif not line.isprintable():
        line = _UNSEEN.sub("", line)
    return masked(" ".join(line.split()))


def _matches(line: str, boilerplate: re.Pattern[str]) -> bool:
    return len(line) <= _LONGEST_BOILERPLATE and boilerplate.fullmatch(line) is not None


@cache
def _patterns() -> dict[str, list[str]]:
    patterns: dict[str, list[str]] = tomllib.loads((DATA / "boilerplate.toml").read_text(encoding="utf-8"))
    return patterns


@cache
def _boilerplate(language: str) -> re.Pattern[str]:
    listed = _patterns()
    used = ("any", "en", language) if language else tuple(listed)
    return re.compile("|".join(pattern for name in dict.fromkeys(used) for pattern in listed[name]), re.IGNORECASE)
