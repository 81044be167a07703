"""Figures and pictures inside pages of text: a placeholder at its place, with what OCR reads in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import count

import pymupdf

from ingestion.extraction.assemble import DraftBlock, DraftLine, one_line
from ingestion.extraction.formats.pdf_lines import ERRORS
from ingestion.extraction.layout.paragraphs import ends_sentence
from ingestion.extraction.layout.text_layer_check import is_scrambled
from ingestion.extraction.layout.text_rows import PageRows
from ingestion.file_reading import OcrEngine, OcrLine, Picture
from rag_engine.types.document import Box

PLACEHOLDER = "[Figure]"
# Points, and a share of the page: smaller pictures are logos, seals and rules.
NARROWEST, LOWEST, LEAST_SHARE = 80.0, 50.0, 0.03
FEWEST_PIXELS = 20_000
# With neither a caption nor words, a smaller one says nothing to a reader.
_BARE_SHARE = 0.1
# On so many pages the same place holds the picture of a letterhead.
REPEATED = 3
# What lies under so much of its area of text is a background.
_MOST_COVERED = 0.15
# Share of the area around them that strips of one picture cover.
_WITHOUT_GAPS = 0.95
_CAPTION = re.compile(
    r"(?:fig(?:ure|ura|\.)?|abb(?:ildung|\.)?|gr[aá]fi(?:co|ca|k)|graph(?:ique)?|graf(?:iek|ikon)?|[şs]ekil|foto(?:graf\w*)?|"
    r"photo(?:graph\w*)?|map|karte|carte|mapa|harita|chart|diagramm?|schema|sch[eé]ma|box|image|imagem|imagen)\b\W{0,2}\s*\w",
    re.IGNORECASE,
)
_CAPTION_POINTS = 40.0
_DPI = 200
_MOST_PIXELS = 20_000_000
# A poster is drawn as coarse as this, and no coarser.
_LEAST_DPI = 36.0
# Along the longer side: letters of a smaller picture are too low for OCR.
_FEW_PIXELS = 1_600
_WORD = re.compile(r"[^\W\d_]{3,}|\d[\d.,%]*")
_FEWEST_WORDS = 3
_LEAST_WORDLIKE = 0.6


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture on a page, its share of the page, and the lines that OCR read in it, in points."""

    page: int
    box: Box
    share: float
    lines: tuple[DraftLine, ...] = ()


def figures_on(page: pymupdf.Page, rows: PageRows) -> list[Figure]:
    """Return the pictures on a page of text that are neither small nor under its text."""
    # Width and height are the third and fourth of what is listed of an image.
    if not rows.rows or not any(image[2] * image[3] >= FEWEST_PIXELS for image in page.get_images()):
        return []
    whole = abs(page.rect.get_area())
    found: dict[tuple[int, ...], Figure] = {}
    for image in page.get_image_info():
        area = pymupdf.Rect(image["bbox"]) & page.rect
        if area.width < NARROWEST or area.height < LOWEST or abs(area.get_area()) < LEAST_SHARE * whole:
            continue
        if page.rotation:
            area = area * page.rotation_matrix
        covered = sum(abs((area & pymupdf.Rect(astuple(rows.box_of(row)))).get_area()) for row in rows.rows)
        if covered <= _MOST_COVERED * abs(area.get_area()):
            box = Box(*(round(edge, 2) for edge in area))
            found.setdefault(_rounded(box), Figure(rows.number, box, abs(area.get_area()) / whole))
    return sorted(found.values(), key=lambda figure: (figure.box.y0, figure.box.x0))


def without_letterheads(figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures whose place does not hold one on several pages."""
    places = Counter(_rounded(figure.box) for figure in figures)
    return [figure for figure in figures if places[_rounded(figure.box)] < REPEATED]


def read_figures(document: pymupdf.Document, figures: Sequence[Figure], ocr: OcrEngine) -> list[Figure]:
    """Return the figures with the words that OCR reads in them; a photograph has none."""
    drawn: list[tuple[int, float]] = []
    read = list(figures)

    def pictures() -> Iterator[Picture]:
        for place, figure in enumerate(figures):
            try:
                picture = picture_of(document[figure.page - 1], _MOST_PIXELS, pymupdf.Rect(astuple(figure.box)))
            except ERRORS:
                continue
            drawn.append((place, 72.0 / picture.dpi))
            yield picture

    for index, lines in enumerate(ocr.read(pictures())):
        place, scale = drawn[index]
        if are_words([one_line(line.text) for line in lines]):
            read[place] = replace(
                read[place], lines=tuple(_placed(line, read[place].box, scale) for line in lines if one_line(line.text))
            )
    return read


def are_words(texts: Sequence[str]) -> bool:
    """Return whether OCR read words in a picture, and not the grain of a photograph."""
    parts = " ".join(texts).split()
    words = [part for part in parts if _WORD.search(part)]
    return len(words) >= _FEWEST_WORDS and len(words) >= _LEAST_WORDLIKE * len(parts) and not is_scrambled(texts)


def picture_of(page: pymupdf.Page, most_pixels: int, clip: pymupdf.Rect | None = None) -> Picture:
    """Return a page, or a part of it, drawn at 200 dpi, or less for a poster, within a number of pixels."""
    area = page.rect if clip is None else clip
    return _drawn(page, min(_DPI, max(_LEAST_DPI, _densest(area, most_pixels))), clip)


def native_picture_of(page: pymupdf.Page, most_pixels: int) -> Picture:
    """Return a page that is one picture, drawn with its pixels, or with twice as many if it has few."""
    shown = page.get_image_info()
    wide = max((max(image["width"], image["height"]) for image in shown), default=0)
    native = 72.0 * wide / max(page.rect.width, page.rect.height, 1.0)
    return _drawn(page, min(2 * native if wide < _FEW_PIXELS else native, _densest(page.rect, most_pixels)))


def _densest(area: pymupdf.Rect, most_pixels: int) -> float:
    """Return the dots per inch at which an area has a number of pixels."""
    return float((most_pixels / max(area.width * area.height / 72.0**2, 1e-6)) ** 0.5)


def _drawn(page: pymupdf.Page, resolution: float, clip: pymupdf.Rect | None = None) -> Picture:
    dpi = max(1, int(resolution))
    pixmap = page.get_pixmap(clip=clip, dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
    return Picture(page.number + 1, pixmap.width, pixmap.height, dpi, pixmap.samples)


def with_figures(blocks: Sequence[DraftBlock], figures: Sequence[Figure]) -> list[DraftBlock]:
    """Return the blocks of a page with a placeholder for each figure, before its caption or in its place."""
    placed = list(blocks)
    for figure in figures:
        lines = (DraftLine(PLACEHOLDER, figure.box), *figure.lines)
        caption = next((place for place, block in enumerate(placed) if _is_caption(block, figure)), None)
        if caption is not None:
            block = placed[caption]
            shown = (*lines[:-1], replace(lines[-1], joint="\n"))
            placed[caption] = replace(block, lines=(*shown, *block.lines))
        elif figure.lines or figure.share >= _BARE_SHARE:
            placed.insert(_place(placed, figure), DraftBlock(figure.page, "text", lines))
    return placed


def _is_caption(block: DraftBlock, figure: Figure) -> bool:
    first, last = block.lines[0].box, block.lines[-1].box
    if block.kind in ("table", "note") or first is None or last is None or not _CAPTION.match(block.lines[0].text):
        return False
    below, above = first.y0 - figure.box.y1, figure.box.y0 - last.y1
    near = -_CAPTION_POINTS / 4 < below < _CAPTION_POINTS or -_CAPTION_POINTS / 4 < above < _CAPTION_POINTS
    return near and _beside(first, figure.box)


def _place(blocks: Sequence[DraftBlock], figure: Figure) -> int:
    """Return where in the blocks a figure stands.

    It is neither inside a sentence over the page's edge nor in a title.
    """
    texts = sum(block.kind != "note" for block in blocks)
    tops = [(place, block.lines[0].box) for place, block in enumerate(blocks[:texts])]
    column = [(place, box) for place, box in tops if box is not None and _beside(box, figure.box)]
    below = next((place for place, box in column if box.y0 >= figure.box.y0 - 2), None)
    above = next((place + 1 for place, box in reversed(column) if box.y0 < figure.box.y0), texts)
    place = above if below is None else below
    while 0 < place < texts and blocks[place].kind == blocks[place - 1].kind == "heading":
        place -= 1
    if place == 0 and texts and blocks[0].lines[0].text[:1].islower():
        return 1
    open_end = 0 < place == texts and not ends_sentence(blocks[texts - 1].lines[-1].text)
    return place - 1 if open_end else place


def _beside(box: Box, other: Box) -> bool:
    """Return whether two boxes share a column."""
    return min(box.x1, other.x1) - max(box.x0, other.x0) > 0.3 * min(box.x1 - box.x0, other.x1 - other.x0)


def _rounded(box: Box) -> tuple[int, ...]:
    return tuple(map(round, astuple(box)))


def _placed(line: OcrLine, figure: Box, scale: float) -> DraftLine:
    x0, y0, x1, y1 = (round(edge * scale, 2) for edge in astuple(line.box))
    return DraftLine(one_line(line.text), Box(figure.x0 + x0, figure.y0 + y0, figure.x0 + x1, figure.y0 + y1))


def by_page(figures: Sequence[Figure]) -> Mapping[int, list[Figure]]:
    """Return the figures of each page."""
    pages: dict[int, list[Figure]] = {}
    for figure in figures:
        pages.setdefault(figure.page, []).append(figure)
    return pages


def covered_share(page: pymupdf.Rect, images: Sequence[pymupdf.Rect]) -> float:
    """Return the share of a page under its largest image, or under all if they lie edge to edge."""
    areas = [abs(image.get_area()) for image in images]
    around = pymupdf.Rect(images[0]) if images else pymupdf.Rect()
    for image in images[1:]:
        around |= image
    touching = sum(areas) >= _WITHOUT_GAPS * abs(around.get_area())
    return float(max((sum(areas) if touching else 0.0, *areas)) / max(abs(page.get_area()), 1.0))


def drawings(page: pymupdf.Page) -> int:
    """Return the number of drawings of a page, which a list of them would need gigabytes to tell of some."""
    counted = count()
    page.get_cdrawings(callback=lambda _drawing: next(counted))
    return next(counted)
