"""Drawing process: pages as pictures, by PyMuPDF, with limits on memory and processor time.

Started by `PageRenderer`, never by hand. It is given open files and opens none. A document that takes it over finds
only the interpreter's own files: no network, and nothing that it could write or start.
"""

from __future__ import annotations

import html
import json
import mmap
import os
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from rag_engine.backends.drawing.passage_finder import SoughtPassage, compact, find_passage, found_share, join_lines
from rag_engine.confinement.confine import Reach, confine
from rag_engine.confinement.parent import end_with_parent, limit_processor_time
from rag_engine.confinement.pool import READY

# x0, y0, x1, y1 in points of the page as it is drawn.
Rectangle = tuple[float, float, float, float]
CharacterRange = tuple[int, int]

# Each colour multiplies the print, as a highlighter does: black stays black, white takes the colour.
_SOFT = (0.93, 0.98, 0.75)
_STRONG = (0.80, 0.93, 0.38)
_RULE = (26, 124, 60)
_MARGIN = 1.5  # points around a mark, so that it does not touch the letters
_TALLEST = 4  # heights in widths: a page longer than this is drawn smaller, to bound memory
_MOST_LINES = 5_000  # of a page: more than any has that can be read
_SHEET = 595.0  # points: the width of A4
# Of a layout in which a passage is looked for: its pages nearest to where it should be, within the time of a request.
_MOST_CHARACTERS = 4_000_000
_MOST_SECONDS = 2.0
_TEXT = pymupdf.TEXTFLAGS_TEXT


def main() -> None:
    """Answer requests on the inherited descriptor until the other end closes it."""
    confine(Reach.from_argument(sys.argv[1]))
    memory_bytes, seconds, descriptor = (int(word) for word in sys.argv[2:])
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    end_with_parent()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    with Connection(descriptor) as parent:
        parent.send_bytes(READY)
        while True:
            try:
                request = json.loads(parent.recv_bytes())
            except EOFError:
                return
            limit_processor_time(seconds)
            # Not its name: the file is the one thing outside that we are given.
            file = recv_handle(parent) if "page" in request else None
            try:
                parent.send_bytes(answer(request, file))
            finally:
                if file is not None:
                    os.close(file)


def answer(request: Mapping[str, Any], file: int | None) -> bytes:
    """Return the answer to a request to draw a page or a `text`: a word, a line break, details.

    - "picture": the PNG
    - "size" (of a page that is only to be measured): width and height in points
    - "found": the places of the words
    - "lines": the size of the page and its lines
    - "no such page": the number of pages
    - "damaged": a message
    - "password" and "too large": nothing
    """
    try:
        if "text" in request:
            return b"picture\n" + _draw_text(request["text"], request["marks"], request["strong"], request["width"])
        assert file is not None
        # Mapped: of a file of 500 MB only the bytes for the page are read.
        with (
            mmap.mmap(file, 0, prot=mmap.PROT_READ) as content,
            memoryview(content) as stream,
            pymupdf.open(stream=stream, filetype="pdf") as document,
        ):
            if document.needs_pass:
                return b"password\n"
            if not 1 <= request["page"] <= document.page_count:
                return b"no such page\n" + str(document.page_count).encode()
            if "find" in request:
                return b"found\n" + json.dumps(_find(document, SoughtPassage(**request["find"]))).encode()
            page = document[request["page"] - 1]
            if request.get("lines"):
                return b"lines\n" + json.dumps(_lines(page)).encode()
            if request.get("measure"):
                return f"size\n{page.rect.width} {page.rect.height}".encode()
            return b"picture\n" + _draw(page, request["marks"], request["strong"], request["width"])
    except (MemoryError, pymupdf.mupdf.FzErrorSystem):
        return b"too large\n"
    # ValueError for an empty file, RuntimeError at opening, IndexError for a page that the file only claims to have,
    # the rest of MuPDF as it is.
    except (ValueError, RuntimeError, IndexError, pymupdf.mupdf.FzErrorBase) as error:
        return b"damaged\n" + str(error).encode()


def _find(document: pymupdf.Document, sought: SoughtPassage) -> dict[str, Any]:
    """Return where a passage is: first page, boxes on each, pages of its part, number of all.

    If the passage is not found, the page is the first of its part. If the layout lacks the part, as it does a hidden
    sheet, the page is 0. `share` is how much of the passage was found, `unread` the number of pages not searched.
    """
    own = _part_pages(document, sought)
    answer: dict[str, Any] = {"page": own.start, "pages": document.page_count, "boxes": {}, "share": 0.0, "unread": 0}
    answer |= {"first": own.start, "last": own.stop - 1}
    is_there = sought.parts > 1 and len(own) < document.page_count
    # A sheet's name is not printed.
    if not own or not sought.words or sought.words == sought.sheet or (is_there and not sought.marked):
        return answer
    read = _read_lines(document, own, sought.share)
    found = find_passage(sought, join_lines([line for lines in read.values() for line in lines]))
    start = 0
    for number, lines in read.items():
        end = start + len(compact("".join(lines)))
        on_page = [(max(one, start) - start, min(other, end) - start) for one, other in found]
        on_page = [one for one in on_page if one[0] < one[1]]
        if on_page:
            answer["boxes"][number] = _boxes(document[number - 1], on_page) if sought.marked else []
        start = end
    answer |= {"share": found_share(sought, found), "unread": len(own) - len(read)}
    return answer | {"page": min(answer["boxes"], default=own.start)}


def _part_pages(document: pymupdf.Document, sought: SoughtPassage) -> range:
    """Return the pages of the slide or the sheet of a passage, or all pages if it is unknown.

    LibreOffice has a bookmark at every sheet that it prints. A slide is a page, unless it is hidden.
    """
    pages = document.page_count
    if sought.parts == 1:
        return range(1, pages + 1)
    begun = [(" ".join(title.split()), page) for level, title, page in document.get_toc() if level == 1]
    if sought.sheet and begun:
        first = next((page for title, page in begun if title == " ".join(sought.sheet.split())), 0)
        after = min((page for _, page in begun if page > first), default=pages + 1)
        return range(first, after) if first > 0 else range(0)
    if pages == sought.parts and not sought.sheet:
        return range(sought.part, sought.part + 1)
    # A part without words is hidden, and the layout has no page for it.
    return range(1, pages + 1) if sought.words or sought.parts == 1 else range(0)


def _read_lines(document: pymupdf.Document, pages: range, share: float) -> dict[int, list[str]]:
    """Return the lines of pages, of as many around a share of them as are read in time."""
    expected = pages.start + share * len(pages)
    begun, characters = time.process_time(), 0
    read: dict[int, list[str]] = {}
    for number in sorted(pages, key=lambda page: abs(page - expected)):
        text = document[number - 1].get_text(flags=_TEXT)
        characters += len(text)
        if characters > _MOST_CHARACTERS or time.process_time() - begun > _MOST_SECONDS:
            break
        read[number] = text.splitlines()
    return dict(sorted(read.items()))


def _boxes(page: pymupdf.Page, spans: Sequence[CharacterRange]) -> list[Rectangle]:
    """Return the boxes of some letters and digits of a page; neighbours in a line share a box."""
    boxes: list[Rectangle] = []
    position = 0
    blocks = page.get_text("rawdict", flags=_TEXT)["blocks"]
    for line in (line for block in blocks for line in block.get("lines", ())):
        box: pymupdf.Rect | None = None
        # Other signs are marked between two letters.
        for character in (one for span in line["spans"] for one in span["chars"]):
            length = len(compact(character["c"]))
            if length and any(start < position + length and end > position for start, end in spans):
                box = pymupdf.Rect(character["bbox"]) | (box or pymupdf.Rect(character["bbox"]))
            elif length and box:
                boxes.append(tuple(box))
                box = None
            position += length
        if box:
            boxes.append(tuple(box))
    return boxes


def _lines(page: pymupdf.Page) -> dict[str, Any]:
    """Return width and height of a page in points, and its lines in reading order, each with its box."""
    blocks = page.get_text("dict", flags=pymupdf.TEXTFLAGS_TEXT, sort=True)["blocks"]
    lines = [line for block in blocks for line in block.get("lines", ())]
    texts = (("".join(span["text"] for span in line["spans"]).strip(), *line["bbox"]) for line in lines)
    shown = [text for text in texts if text[0]][:_MOST_LINES]
    return {"width": page.rect.width, "height": page.rect.height, "lines": shown}


def _draw_text(text: str, marks: Sequence[CharacterRange], strong: Sequence[CharacterRange], width: int) -> bytes:
    """Draw a plain sheet, as tall as its text, with some characters marked; all of the text is escaped."""
    levels = np.zeros(len(text), dtype=np.int8)
    for level, spans in ((1, marks), (2, strong)):
        for start, end in spans:
            levels[max(start, 0) : max(end, 0)] = level
    edges = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    body = "".join(_piece(text[start:end], int(levels[start])) for start, end in pairwise(edges) if start < end)
    style = (
        "body {font-family: sans-serif; font-size: 11px; line-height: 1.45; color: #1c1c1c; white-space: pre-wrap}"
        f".m1 {{background-color: {_css(_SOFT)}}} .m2 {{background-color: {_css(_STRONG)}}}"
    )
    with pymupdf.open() as document:
        tallest = _SHEET * _TALLEST
        page = document.new_page(width=_SHEET, height=tallest)
        frame = pymupdf.Rect(40, 32, _SHEET - 40, tallest - 32)
        spare, _ = page.insert_htmlbox(frame, body, css=style, scale_low=0)
        page.set_cropbox(pymupdf.Rect(0, 0, _SHEET, tallest - max(spare, 0.0)))
        return _draw(page, (), (), width)


def _draw(page: pymupdf.Page, marks: Sequence[Rectangle], strong: Sequence[Rectangle], width: int) -> bytes:
    scale = min(width / page.rect.width, width * _TALLEST / page.rect.height)
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
    picture = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3)
    kept = _cover(picture, strong, scale)
    washed = _wash(picture, _cover(picture, marks, scale) & ~kept, _SOFT)
    washed = _wash(washed, kept, _STRONG)
    for box in strong:
        # A thin rule under the box: visible on dark paper too, and without seeing the colour.
        rows, columns = _pixels(box, scale)
        washed[max(rows.stop - 2, 0) : rows.stop, columns] = _RULE
    samples = np.ascontiguousarray(washed).tobytes()
    drawn = pymupdf.Pixmap(pymupdf.csRGB, pixmap.width, pixmap.height, samples, False)
    return bytes(drawn.tobytes("png"))


def _cover(picture: NDArray[np.uint8], boxes: Sequence[Rectangle], scale: float) -> NDArray[np.bool_]:
    """Return the pixels under the boxes, each counted once however many boxes overlap there."""
    covered = np.zeros(picture.shape[:2], dtype=bool)
    for box in boxes:
        rows, columns = _pixels(box, scale)
        covered[rows, columns] = True
    return covered


def _wash(picture: NDArray[np.uint8], where: NDArray[np.bool_], colour: tuple[float, ...]) -> NDArray[np.uint8]:
    washed = picture.copy()
    washed[where] = (washed[where] * np.asarray(colour)).astype(np.uint8)
    return washed


def _pixels(box: Rectangle, scale: float) -> tuple[slice, slice]:
    top, bottom = (max(round(value * scale), 0) for value in (box[1] - _MARGIN, box[3] + _MARGIN))
    left, right = (max(round(value * scale), 0) for value in (box[0] - _MARGIN, box[2] + _MARGIN))
    return slice(top, bottom), slice(left, right)


def _piece(text: str, level: int) -> str:
    escaped = html.escape("".join(sign for sign in text if sign == "\n" or sign.isprintable()))
    escaped = escaped.replace("\n", "<br/>")
    return f'<span class="m{level}">{escaped}</span>' if level else escaped


def _css(colour: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(share * 255):02x}" for share in colour)


if __name__ == "__main__":
    main()
