"""Pictures pasted into office files: pages of text are read as scanned pages, others as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pymupdf

from ingestion.extraction.assemble import Draft, DraftBlock, DraftLine, PastedPicture, one_line
from ingestion.extraction.formats.pdf import page_blocks
from ingestion.extraction.formats.pdf_figures import (
    FEWEST_PIXELS,
    LEAST_SHARE,
    LOWEST,
    NARROWEST,
    PLACEHOLDER,
    REPEATED,
    are_words,
    native_picture_of,
)
from ingestion.extraction.formats.pdf_lines import ERRORS
from ingestion.extraction.formats.refusals import scan_without_ocr
from ingestion.extraction.formats.zip_container import UNPACKING_ERRORS
from ingestion.extraction.layout.text_rows import PageRows, recognised_lines, rows_of
from ingestion.file_reading import OcrEngine, OcrLine, Picture
from ingestion.types.outcome import Refusal
from rag_engine.errors import BackendError
from rag_engine.messages import Message

# How the formats begin that MuPDF draws and that are nothing but pictures.
_DRAWN = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")
# Points: the area of an A4 page, and the share of it from which a picture is a page and no figure.
_PAGE = 595.0 * 842.0
_PAGE_SHARE = 0.4
_MOST_PIXELS = 12_000_000
# Of a file; pages pasted as pictures are read as far as those of a PDF.
_MOST_FIGURES = 100
_MOST_PAGES = 1_000
# A photograph has fewer plain tiles, of so many pixels and with no greater differences in them.
_TILE, _PLAIN, _LEAST_PLAIN = 16, 24, 0.2


@dataclass(frozen=True, slots=True)
class _Seen:
    """A picture, without its pixels, and the lines that OCR reads in it."""

    picture: Picture
    lines: tuple[OcrLine, ...]


def with_pictures(path: Path, draft: Draft, ocr: OcrEngine | None, opened: Callable[[str], bytes]) -> Draft:
    """Return a draft with the words of its pictures, and a warning that counts those not read.

    `opened` gives the bytes of a part; Refusal or ValueError if it cannot. Small pictures, photographs and those
    repeated as a letterhead is are passed over. Refusal if OCR fails.
    """
    uses = Counter(block.picture.part for block in draft.blocks if block.picture)
    sizes = {block.picture.part: block.picture for block in draft.blocks if block.picture}
    wanted = [picture for part, picture in sizes.items() if uses[part] < REPEATED]
    unread: list[str] = []
    try:
        seen = dict(_seen(opened, wanted, ocr, unread))
    except BackendError as error:
        raise Refusal(
            "ocr_missing",
            "{file} has pictures that could not be read: {error}",
            help=error.help,
            file=path.name,
            error=error.fault,
        ) from error
    first: set[str] = set()
    blocks: list[DraftBlock] = []
    for page_like, run in groupby(_unrepeated(draft.blocks, first), key=lambda block: _is_page(block, seen)):
        of_kind = list(run)
        blocks += _as_pages(of_kind, seen) if page_like else [_as_figure(block, seen) for block in of_kind]
    told = Message("Pictures that were not read: {count}.", count=len(unread))
    has_text = any(line.text.strip() for block in blocks for line in block.lines)
    if ocr is None and unread and not has_text:
        raise scan_without_ocr(path)
    pages = {block.page for block in draft.blocks if _is_page(block, seen)}
    missed = set() if has_text else {block.page for block in draft.blocks if block.picture}
    return replace(
        draft,
        blocks=[block for block in blocks if block.picture is None],
        warnings=(*draft.warnings, *([told] if unread else [])),
        ocr_pages=tuple(sorted(pages)),
        unread_pages=tuple(sorted(missed)),
    )


def _unrepeated(blocks: Sequence[DraftBlock], first: set[str]) -> Iterator[DraftBlock]:
    """Yield the blocks, each picture in its first place alone."""
    for block in blocks:
        if block.picture is None or block.picture.part not in first:
            yield block
        if block.picture is not None:
            first.add(block.picture.part)


def _seen(
    opened: Callable[[str], bytes], wanted: Sequence[PastedPicture], ocr: OcrEngine | None, unread: list[str]
) -> Iterator[tuple[str, _Seen]]:
    """Yield the pictures in which OCR reads words; `unread` takes those that it cannot read."""
    drawn: list[tuple[str, Picture]] = []

    def pictures() -> Iterator[Picture]:
        left = {True: _MOST_PAGES, False: _MOST_FIGURES} if ocr else {True: 0, False: 0}
        for pasted in wanted:
            try:
                picture = _drawn(opened, pasted, left)
            except (*ERRORS, *UNPACKING_ERRORS, Refusal):
                unread.append(pasted.part)
                continue
            if picture is not None:
                drawn.append((pasted.part, replace(picture, samples=b"")))
                yield replace(picture, page=len(drawn))

    for index, lines in enumerate(ocr.read(pictures()) if ocr else (() for _ in pictures())):
        part, picture = drawn[index]
        if are_words([one_line(line.text) for line in lines]):
            yield part, _Seen(picture, lines)


def _drawn(opened: Callable[[str], bytes], pasted: PastedPicture, left: dict[bool, int]) -> Picture | None:
    """Return a picture drawn in grey; None for a small one and a photograph.

    `left` is how many more may be drawn that are pages, and that are not. ValueError for those that cannot be.
    """
    if pasted.width and not _is_seen(pasted.width, pasted.height):
        return None
    content = opened(pasted.part)
    if not content.startswith(_DRAWN):
        raise ValueError("not a picture that is drawn")
    with pymupdf.open(stream=content) as document:
        page = document[0]
        width, height = (pasted.width, pasted.height) if pasted.width else (page.rect.width, page.rect.height)
        pixels = max((one["width"] * one["height"] for one in page.get_image_info()), default=0)
        if not _is_seen(width, height) or pixels < FEWEST_PIXELS:
            return None
        is_page = _is_large(width, height)
        left[is_page] -= 1
        if left[is_page] < 0:
            raise ValueError("too many pictures")
        picture = native_picture_of(page, _MOST_PIXELS)
    return picture if is_page or not _is_photograph(picture) else None


def _is_seen(width: float, height: float) -> bool:
    return width >= NARROWEST and height >= LOWEST and width * height >= LEAST_SHARE * _PAGE


def _is_large(width: float, height: float) -> bool:
    """Return whether a picture is shown as large as a page, in points."""
    return width * height >= _PAGE_SHARE * _PAGE


def _is_photograph(picture: Picture) -> bool:
    """Return whether hardly a tile of a picture is plain, as the ground of letters is."""
    across, down = picture.width // _TILE, picture.height // _TILE
    grey = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.width)
    tiles = grey[: down * _TILE, : across * _TILE].reshape(down, _TILE, across, _TILE)
    differences = tiles.max(axis=(1, 3)).astype(int) - tiles.min(axis=(1, 3))
    return bool((differences <= _PLAIN).mean() < _LEAST_PLAIN) if differences.size else True


def _is_page(block: DraftBlock, seen: dict[str, _Seen]) -> bool:
    """Return whether a block is a picture with the words of a page."""
    pasted = block.picture
    if pasted is None or pasted.part not in seen:
        return False
    picture = seen[pasted.part].picture
    scale = 72.0 / picture.dpi
    shown = (pasted.width, pasted.height) if pasted.width else (picture.width * scale, picture.height * scale)
    return _is_large(*shown)


def _as_pages(blocks: Sequence[DraftBlock], seen: dict[str, _Seen]) -> list[DraftBlock]:
    """Return the paragraphs of successive pictures, as those of scanned pages; they have no place."""
    pages = []
    for number, block in enumerate(blocks, 1):
        found = seen[block.picture.part if block.picture else ""]
        scale = 72.0 / found.picture.dpi
        rows = rows_of(recognised_lines(found.lines, scale))
        pages.append(PageRows(number, found.picture.width * scale, found.picture.height * scale, rows, recognised=True))
    made = page_blocks(pages, {})
    return [replace(_unplaced(block, blocks), page=blocks[block.page - 1].page) for block in made]


def _unplaced(block: DraftBlock, blocks: Sequence[DraftBlock]) -> DraftBlock:
    """Return a block without boxes, its lines on the pages where their pictures are."""
    lines = (replace(line, box=None, page=blocks[line.page - 1].page if line.page else 0) for line in block.lines)
    return replace(block, lines=tuple(lines), font_size=None)


def _as_figure(block: DraftBlock, seen: dict[str, _Seen]) -> DraftBlock:
    """Return the words of a picture below a placeholder for it; a block of text as it is."""
    found = seen.get(block.picture.part) if block.picture else None
    if found is None:
        return block
    texts = filter(None, (one_line(line.text) for line in found.lines))
    return replace(block, lines=(DraftLine(PLACEHOLDER), *map(DraftLine, texts)), picture=None)
