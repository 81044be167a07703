"""Links in the layout of an office file, where the words of its references are found again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rag_engine.answering.page_image import regions
from rag_engine.storage.cross_references import PlacedReference
from rag_engine.types import Box, Line


def layout_links(
    lines: Iterable[tuple[str, Box]], text: str, references: Iterable[PlacedReference]
) -> Iterator[tuple[PlacedReference, Sequence[Box]]]:
    """Yield the references of a document's text whose words are on a page of its layout, with their boxes there.

    Words that lead to several places, such as a "paragraph 2" of each section, are left out: which is meant is not
    known where only the words are.
    """
    told: dict[str, list[PlacedReference]] = {}
    for reference in references:
        told.setdefault(" ".join(text[reference.start : reference.end].split()), []).append(reference)
    placed, page = _joined(lines)
    for words, those in told.items():
        if words and len({one.target_start for one in those}) == 1:
            for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", page):
                yield those[0], [one.box for one in regions(placed, *match.span())]


def _joined(lines: Iterable[tuple[str, Box]]) -> tuple[list[Line], str]:
    placed: list[Line] = []
    written: list[str] = []
    start = 0
    for words, box in lines:
        placed.append(Line(start, start + len(words), 1, box))
        written.append(words)
        start += len(words) + 1
    return placed, " ".join(written)
