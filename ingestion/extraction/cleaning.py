"""A document's text without the lines that repeat on every page.

The encoder and the content hash use it; the analyst sees the whole text.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache

from rag_engine.config import DATA
from rag_engine.text.url_masking import masked
from rag_engine.types.document import ExtractedText

# Shorter lines are menus, numbers and stray words (Buriasco 2026). Headings and the rows of tables are short by
# nature: without them two versions of a table that differ in one figure would have the same hash.
SHORTEST_LINE = 20
_SHORT_BY_NATURE = ("heading", "table")
# Whoever writes more than this on one line says something; it also bounds what a pattern can cost.
_LONGEST_BOILERPLATE = 240
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def clean(extracted: ExtractedText, language: str) -> str:
    """Return the text in compatibility characters, addresses masked, without boilerplate and short lines.

    After Buriasco 2026, section 4. Blocks stay parted by a blank line. Cleaning what is clean changes nothing.
    """
    boilerplate = _boilerplate(language if language in _patterns() else "")
    blocks: list[str] = []
    for block in extracted.blocks:
        shortest = 1 if block.kind in _SHORT_BY_NATURE else SHORTEST_LINE
        lines = map(_normalised, extracted.text[block.start : block.end].split("\n"))
        long_enough = (line for line in lines if len(line) >= shortest)
        kept = [one for one in long_enough if len(one) > _LONGEST_BOILERPLATE or not boilerplate.fullmatch(one)]
        if kept:
            blocks.append("\n".join(kept))
    return "\n\n".join(blocks)


def _normalised(line: str) -> str:
    if not line.isprintable():
        line = _UNSEEN.sub("", line)
    return masked(" ".join(unicodedata.normalize("NFKC", line).split()))


@cache
def _patterns() -> dict[str, list[str]]:
    patterns: dict[str, list[str]] = tomllib.loads((DATA / "boilerplate.toml").read_text(encoding="utf-8"))
    return patterns


@cache
def _boilerplate(language: str) -> re.Pattern[str]:
    listed = _patterns()
    used = ("any", "en", language) if language else tuple(listed)
    return re.compile("|".join(pattern for name in dict.fromkeys(used) for pattern in listed[name]), re.IGNORECASE)
