"""Lines of a PDF's index pages by PyMuPDF, and how its pages are numbered."""

from __future__ import annotations

import os
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pymupdf

from ingestion.extraction.assemble import one_line
from ingestion.extraction.formats.refusals import damaged, locked
from ingestion.extraction.layout.numerals import COUNTED
from ingestion.file_reading import PlacedLine, PrintedPages
from ingestion.types.outcome import Refusal
from rag_engine.types.document import Box

# Ligatures are spelled out (one cannot search for "ﬁ"), images are not decoded.
FLAGS = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES & ~pymupdf.TEXT_PRESERVE_LIGATURES
BOLD = 16
# A page that the damaged file counts, and that is not there once MuPDF has repaired it, is an index beyond its pages.
ERRORS = (RuntimeError, ValueError, IndexError, pymupdf.mupdf.FzErrorBase)
# A page number is in the outermost line at the top or bottom, or the one next to it.
_MARGIN_LINES = 2
_LONGEST_HEAD = 100
# How PDF names the ways of counting, by their names in HTML.
_STYLES = {"D": "1", "r": "i", "R": "I", "a": "a", "A": "A"}
_LARGEST_NUMBER = 100_000


def open_pdf(path: Path) -> pymupdf.Document:
    """Open a PDF without a message on standard error; Refusal if it is damaged or has a password."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype="pdf")
    except ERRORS as error:
        raise damaged_pdf(path, str(error).replace(os.fspath(path), path.name)) from error
    if document.needs_pass:
        raise locked(path)
    return document


def damaged_pdf(path: Path, cause: object) -> Refusal:
    """Return the refusal of a damaged PDF."""
    return damaged(path, one_line(str(cause)))


def read_lines(path: Path, pages: Collection[int], *, numbered: bool = True) -> PrintedPages:
    """Return the lines of the given pages (from 1) of a PDF, its page labels and its margins.

    The margins are the outermost lines of all its pages. Only an index needs them, so they are read only if `numbered`.

    Extraction must have read the file before: Refusal for the faults that it refuses.
    """
    margins: list[tuple[int, str]] = []
    lines: list[PlacedLine] = []
    heights: list[float] = []
    with open_pdf(path) as document:
        try:
            labels = declared_labels(document)
            for number, page in enumerate(document, 1):
                if number in pages:
                    lines += _placed(page, number)
                    heights.append(page.rect.height)
                if numbered:
                    margins += [(number, text) for text in _outermost(page)]
        except ERRORS as error:
            raise damaged_pdf(path, error) from error
    return PrintedPages(tuple(labels), tuple(margins), tuple(lines), median(heights) if heights else 0.0)


def declared_labels(document: pymupdf.Document) -> list[str]:
    """Return the label of each page, "" before the first; nothing if the file has no labels."""
    try:
        rules = document.get_page_labels() if document.is_pdf else []
    except ERRORS:
        return []
    starting = {rule["startpage"]: rule for rule in rules}
    starts = [start for start in sorted(starting) if 0 <= start < document.page_count]
    labels = [""] * starts[0] if starts else []
    for start, end in pairwise([*starts, document.page_count]):
        labels += [_label(starting[start], place) for place in range(end - start)]
    return labels


def _label(rule: dict[str, Any], place: int) -> str:
    number = rule["firstpagenum"] + place
    style = _STYLES.get(rule.get("style", ""))
    write = COUNTED[style] if style else lambda _: ""
    # A file may begin with any number, and Roman numerals grow with it.
    return f"{rule['prefix']}{write(number)}" if 0 < number < _LARGEST_NUMBER else ""


def _placed(page: pymupdf.Page, number: int) -> list[PlacedLine]:
    turn = page.rotation_matrix if page.rotation else None
    placed = []
    for block in page.get_text("dict", flags=FLAGS)["blocks"]:
        for line in block["lines"]:
            spans: list[dict[str, Any]] = line["spans"]
            text = one_line("".join(span["text"] for span in spans))
            if not text:
                continue
            box = pymupdf.Rect(line["bbox"]) * turn if turn is not None else line["bbox"]
            x0, y0, x1, y1 = (round(edge, 2) for edge in box)
            size = max(span["size"] for span in spans)
            placed.append(PlacedLine(text, number, Box(x0, y0, x1, y1), size, _bold_start(spans)))
    return placed


def _bold_start(spans: list[dict[str, Any]]) -> int:
    """Count the characters of a line, white space evened out, before the first that is not bold."""
    text = ""
    for span in spans:
        if span["text"].strip() and not span["flags"] & BOLD:
            break
        text += span["text"]
    return len(one_line(text))


def _outermost(page: pymupdf.Page) -> list[str]:
    """Return the texts of the lines nearest to the upper and lower edge."""
    rows: dict[int, list[tuple[float, str]]] = {}
    turn = page.rotation_matrix if page.rotation else None
    for x0, y0, x1, y1, text, *_ in page.get_text("blocks", flags=FLAGS):
        box = pymupdf.Rect(x0, y0, x1, y1)
        if turn is not None:
            box = box * turn
        written = [line for line in text.splitlines() if line.strip()]
        if written:
            rows.setdefault(round(box.y0), []).append((box.x0, written[0]))
            rows.setdefault(round(box.y1), []).append((box.x0, written[-1]))
    ordered = sorted(rows)
    nearest = dict.fromkeys([*ordered[:_MARGIN_LINES], *ordered[-_MARGIN_LINES:]])
    return [one_line(text)[:_LONGEST_HEAD] for y in nearest for _, text in sorted(rows[y])]
