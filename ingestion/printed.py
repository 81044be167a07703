"""What a PDF prints where: the lines of some of its pages, its page labels, the numbers in its margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ingestion.index_layout import PlacedLine
from rag_engine.types import Box


@dataclass(frozen=True, slots=True)
class PrintedPages:
    """The lines of the pages that were asked for, with what tells how the pages of the file are numbered.

    `labels` has one label a page, or is empty where the file has none; `margins` are the first and last lines of
    pages, as (page, text); `height` is that of most pages, in points.
    """

    labels: tuple[str, ...] = ()
    margins: tuple[tuple[int, str], ...] = ()
    lines: tuple[PlacedLine, ...] = ()
    height: float = 0.0

    def margins_by_page(self) -> dict[int, list[str]]:
        """The margin lines of each page."""
        pages: dict[int, list[str]] = {}
        for page, text in self.margins:
            pages.setdefault(page, []).append(text)
        return pages


def printed_to_json(printed: PrintedPages) -> dict[str, Any]:
    """A message that `printed_from_json` turns back into equal pages."""
    lines = [
        (line.text, line.page, line.box.x0, line.box.y0, line.box.x1, line.box.y1, line.size, line.bold)
        for line in printed.lines
    ]
    return {"labels": printed.labels, "margins": printed.margins, "lines": lines, "height": printed.height}


def printed_from_json(fields: dict[str, Any]) -> PrintedPages:
    """The pages that `printed_to_json` was given; KeyError, TypeError or ValueError for anything else."""
    lines = tuple(
        PlacedLine(text, page, Box(x0, y0, x1, y1), size, bold)
        for text, page, x0, y0, x1, y1, size, bold in fields["lines"]
    )
    margins = tuple((int(page), str(text)) for page, text in fields["margins"])
    return PrintedPages(tuple(map(str, fields["labels"])), margins, lines, float(fields["height"]))
