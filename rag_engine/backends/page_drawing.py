"""Pictures of pages with the passage marked, by PyMuPDF."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_engine.errors import InputError, WorkspaceError
from rag_engine.types import Box

if TYPE_CHECKING:
    import pymupdf

# Each colour multiplies what is printed, as a highlighter does: black stays black, white takes the colour.
_SOFT = (0.93, 0.98, 0.75)
_STRONG = (0.80, 0.93, 0.38)
_RULE = (26, 124, 60)
_MARGIN = 1.5  # points around a mark, so that it does not touch the letters
_TALLEST = 4  # heights in widths: a page longer than this is drawn smaller, to bound memory
_SHEET = 595.0  # points: the width of A4

# MuPDF shares its state among the threads of a process and does not guard it.
_drawing = threading.Lock()


def draw_page(file: Path, page: int, marks: Sequence[Box], strong: Sequence[Box] = (), *, width: int = 1000) -> bytes:
    """PNG of a page (counted from 1) with `marks` washed softly and `strong` more, `width` pixels wide.

    Boxes are in points of the page as it is drawn. A page much taller than wide comes out narrower. InputError when
    the file has no such page, WorkspaceError when file or page cannot be read.
    """
    import pymupdf

    with _drawing, _damage_told(file, page), pymupdf.open(file) as document:
        if document.needs_pass:
            raise WorkspaceError(f"{file.name} asks for a password.", help="Add a copy without a password.")
        if not 1 <= page <= document.page_count:
            raise InputError(f"{file.name} has no page {page}.", help=f"It has pages 1 to {document.page_count}.")
        return _draw(document[page - 1], marks, strong, width)


def draw_text(
    text: str, marks: Sequence[tuple[int, int]], strong: Sequence[tuple[int, int]] = (), *, width: int = 1000
) -> bytes:
    """PNG of a plain sheet with the text, characters of `marks` washed softly and of `strong` more.

    For formats without page geometry. The sheet is as tall as the text; all of the text is escaped.
    """
    import pymupdf

    levels = np.zeros(len(text), dtype=np.int8)
    for level, spans in ((1, marks), (2, strong)):
        for start, end in spans:
            levels[max(start, 0) : max(end, 0)] = level
    body = "".join(_piece(text[start:end], level) for start, end, level in _runs(levels))
    style = (
        "body {font-family: sans-serif; font-size: 11px; line-height: 1.45; color: #1c1c1c; white-space: pre-wrap}"
        f".m1 {{background-color: {_css(_SOFT)}}} .m2 {{background-color: {_css(_STRONG)}}}"
    )
    with _drawing, pymupdf.open() as document:
        tallest = _SHEET * _TALLEST
        page = document.new_page(width=_SHEET, height=tallest)
        frame = pymupdf.Rect(40, 32, _SHEET - 40, tallest - 32)
        spare, _ = page.insert_htmlbox(frame, body, css=style, scale_low=0)
        page.set_cropbox(pymupdf.Rect(0, 0, _SHEET, tallest - max(spare, 0.0)))
        return _draw(page, (), (), width)


@contextmanager
def _damage_told(file: Path, page: int) -> Iterator[None]:
    """Nothing; what PyMuPDF raises over a file, at opening or at a page, becomes a WorkspaceError."""
    import pymupdf

    try:
        yield
    # RuntimeError at opening, IndexError for a page that the file only claims to have, the rest of MuPDF as it is.
    except (RuntimeError, IndexError, pymupdf.mupdf.FzErrorBase) as error:
        raise WorkspaceError(
            f"Page {page} of {file.name} cannot be drawn: {error}.",
            help="Add the document again; its stored file is damaged or gone.",
        ) from error


def _draw(page: pymupdf.Page, marks: Sequence[Box], strong: Sequence[Box], width: int) -> bytes:
    import pymupdf

    scale = min(width / page.rect.width, width * _TALLEST / page.rect.height)
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
    picture = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3)
    kept = _cover(picture, strong, scale)
    washed = _wash(picture, _cover(picture, marks, scale) & ~kept, _SOFT)
    washed = _wash(washed, kept, _STRONG)
    for box in strong:
        _underline(washed, box, scale)
    samples = np.ascontiguousarray(washed).tobytes()
    drawn = pymupdf.Pixmap(pymupdf.csRGB, pixmap.width, pixmap.height, samples, False)
    return bytes(drawn.tobytes("png"))


def _cover(picture: NDArray[np.uint8], boxes: Sequence[Box], scale: float) -> NDArray[np.bool_]:
    """The pixels under the boxes, each counted once however many boxes overlap there."""
    covered = np.zeros(picture.shape[:2], dtype=bool)
    for box in boxes:
        rows, columns = _pixels(box, scale)
        covered[rows, columns] = True
    return covered


def _wash(picture: NDArray[np.uint8], where: NDArray[np.bool_], colour: tuple[float, ...]) -> NDArray[np.uint8]:
    washed = picture.copy()
    washed[where] = (washed[where] * np.asarray(colour)).astype(np.uint8)
    return washed


def _underline(picture: NDArray[np.uint8], box: Box, scale: float) -> None:
    """A thin rule under a box: seen also on dark paper and by those who do not see the colour."""
    rows, columns = _pixels(box, scale)
    picture[max(rows.stop - 2, 0) : rows.stop, columns] = _RULE


def _pixels(box: Box, scale: float) -> tuple[slice, slice]:
    top, bottom = (max(round(value * scale), 0) for value in (box.y0 - _MARGIN, box.y1 + _MARGIN))
    left, right = (max(round(value * scale), 0) for value in (box.x0 - _MARGIN, box.x1 + _MARGIN))
    return slice(top, bottom), slice(left, right)


def _runs(levels: NDArray[np.int8]) -> list[tuple[int, int, int]]:
    """Runs (start, end, level) of equal level."""
    edges = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    return [(start, end, int(levels[start])) for start, end in pairwise(edges) if start < end]


def _piece(text: str, level: int) -> str:
    escaped = html.escape("".join(sign for sign in text if sign == "\n" or sign.isprintable()))
    escaped = escaped.replace("\n", "<br/>")
    return f'<span class="m{level}">{escaped}</span>' if level else escaped


def _css(colour: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(share * 255):02x}" for share in colour)
