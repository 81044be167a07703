"""PDF by PyMuPDF: text with boxes from the text layer, OCR for the pages that have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pymupdf

from ingestion.extraction.assemble import DraftBlock, assemble, one_line, too_long, within
from ingestion.extraction.file_type import MEDIA_TYPES, Format
from ingestion.extraction.formats.pdf_figures import (
    Figure,
    by_page,
    covered_share,
    drawings,
    figures_on,
    native_picture_of,
    picture_of,
    read_figures,
    with_figures,
    without_letterheads,
)
from ingestion.extraction.formats.pdf_forms import (
    XFA_FORM,
    beside_labels,
    fields_of,
    pinned_files,
    unread_attachments,
    with_drawn_fields,
    xfa_blocks,
)
from ingestion.extraction.formats.pdf_lines import BOLD, ERRORS, FLAGS, damaged_pdf, declared_labels, open_pdf
from ingestion.extraction.formats.refusals import scan_without_ocr
from ingestion.extraction.layout.hyphenation import vocabulary_of
from ingestion.extraction.layout.letter_spacing import has_spaced_letters, with_word_gaps
from ingestion.extraction.layout.margin_numbers import (
    NOT_NUMBERED,
    NumberColumn,
    Numbered,
    number_columns,
    numbered_pages,
)
from ingestion.extraction.layout.margins import rows_of_pages, with_margins, without_margins
from ingestion.extraction.layout.page_breaks import MARGIN, joined_over_pages, without_running_heads
from ingestion.extraction.layout.page_numbers import labels_of_pages, read_labels, without_numbers
from ingestion.extraction.layout.paragraphs import blocks_of, body_size
from ingestion.extraction.layout.quarter_turns import quarters_of, turned
from ingestion.extraction.layout.ruled_tables import PlacedWord, placed_word
from ingestion.extraction.layout.ruling_lines import Frame, Shape, frames_of
from ingestion.extraction.layout.sideways import in_blocks, page_rows
from ingestion.extraction.layout.struck import VECTOR, StruckSpan, may_be_struck, struck_of, struck_texts
from ingestion.extraction.layout.text_layer_check import LigatureSearch, is_scrambled, reads_better
from ingestion.extraction.layout.text_rows import (
    PageRows,
    PrintedLine,
    is_raised,
    recognised_lines,
    with_drop_capitals,
)
from ingestion.extraction.layout.title import choose_title
from ingestion.extraction.layout.watermarks import StampedLine, watermarks
from ingestion.extraction.runs import Look, Run, standing, told
from ingestion.extraction.symbols import in_unicode, is_symbol_font
from ingestion.extraction.table_text import with_caption_units
from ingestion.file_reading import ExtractionLimits, OcrEngine, Picture
from ingestion.types.outcome import Refusal
from rag_engine.errors import BackendError
from rag_engine.messages import Message
from rag_engine.types.document import Box, ExtractedText

_MOST_PIXELS = 40_000_000
_FEW_CHARACTERS = 25
_STAMP_CHARACTERS = 200
_MANY_DRAWINGS = 50
# Shares of a page under a picture: where the page has a stamp alone, and where it has a long head or foot.
_HALF, _NEARLY_ALL = 0.5, 0.75
_RAISED = 1
# Least share of its size by which a raised number stands above its line.
_LIFT = 0.15
_LEVEL = (1.0, 0.0)
_COLLECTED = FLAGS | pymupdf.TEXT_COLLECT_VECTORS
# Points from which words may be a stamp; how slanted they are at least, and how light a pale colour is.
_STAMP_SIZE, _SLANT, _PALE = 18.0, 0.1, 0x99
# Glyphs whose font does not say which characters they are.
_UNMAPPED = re.compile("[\ufffd\ue000-\uf8ff]")
# Numbers of glyphs that a font without names gives for letters; `one_line` drops them.
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x9f]")
# How MuPDF says that there is no memory left.
_OUT_OF_MEMORY = re.compile(r"alloc.* failed")


def extract_pdf(path: Path, limits: ExtractionLimits, ocr: OcrEngine | None, kind: Format = "pdf") -> ExtractedText:
    """Return the text of a PDF, or of a picture, with the box of every line; OCR reads scanned pages."""
    with _open(path, limits) as document:
        read = _read_pages(document)
        pages, pictured, figures, warnings = read.rows, read.pictured, read.figures, read.warnings
        recognised: list[int] = []
        scrambled = [number for number in pictured if is_scrambled(_texts(pages[number - 1]))]
        if pictured and ocr is not None:
            recognised, undrawn = _recognise(document, path, pictured, pages, ocr)
            warnings += [*([Message(ocr.note)] if ocr.note else []), *_told_undrawn(undrawn)]
        missed = [number for number in pictured if number not in recognised and not pages[number - 1].rows]
        if ocr is None:
            missed = [number for number in pictured if number not in scrambled]
            warnings += _without_ocr(path, pages, missed)
        warnings += _scrambled_warnings(scrambled, recognised, ocr)
        labels = read_labels(pages, declared_labels(document))
        pages = without_numbers(pages, labels)
        figures = without_letterheads(figures)
        if ocr is not None and figures:
            figures = _read_figures(document, path, figures, ocr)
        form = xfa_blocks(document, path)
        printed = form or with_caption_units(page_blocks(pages, by_page(figures)))
        drafts, whole = within(printed, limits.max_characters)
        warnings += [] if whole else [too_long(limits.max_characters)]
        text, lines, blocks, _ = assemble(drafts)
        title = choose_title((document.metadata or {}).get("title") or "", text, blocks, path) if blocks else ""
        struck = struck_texts(((page.number, page.struck) for page in pages), text, lines)
        warnings += [*told(Run(one.text, Look.STRUCK) for one in struck), *_told_stamps(read.stamps)]
        warnings += (*([XFA_FORM] if form else []), *unread_attachments(document, read.pinned))
        return ExtractedText(
            text=text,
            pages=document.page_count,
            lines=lines,
            blocks=blocks,
            media_type=MEDIA_TYPES[kind],
            title=title,
            ocr_pages=tuple(recognised),
            unread_pages=tuple(sorted({*read.unread, *missed})),
            warnings=tuple(warnings),
            struck=struck,
            page_labels=labels_of_pages(labels, document.page_count),
        )


@dataclass(slots=True)
class _ReadPages:
    """The pages of a PDF as their text layer has them, and what was met on the way.

    `pictured` are the numbers of pages to be read by OCR, `unread` of damaged ones. `pinned` names files, `stamps`
    has the words across pages, and `columns` the numbers beside the text of pages.
    """

    rows: list[PageRows] = field(default_factory=list)
    pictured: list[int] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    stamps: set[str] = field(default_factory=set)
    columns: dict[int, tuple[NumberColumn, ...]] = field(default_factory=dict)
    warnings: list[Message] = field(default_factory=list)


def _read_pages(document: pymupdf.Document) -> _ReadPages:
    read, search = _ReadPages(), LigatureSearch()
    if document.is_repaired:
        told = Message("The PDF's index was damaged and has been rebuilt; check that no page is missing.")
        read.warnings.append(told)
    for number in range(1, document.page_count + 1):
        try:
            page = document[number - 1]
            page = with_drawn_fields(page) if document.is_form_pdf else page
            read.pinned += pinned_files(page)
            rows = _page_rows(page, number, search, read)
            read.rows.append(rows)
            if _needs_ocr(page, rows):
                read.pictured.append(number)
            else:
                read.figures += figures_on(page, rows)
        except ERRORS as error:
            _raise_out_of_memory(error)
            read.unread.append(number)
            read.rows.append(PageRows(number, 0.0, 0.0, ()))
            told = Message("Page {number} is damaged: {error}.", number=number, error=one_line(str(error)))
            read.warnings.append(told)
    for number in [page.number for page in read.rows if not read.stamps.isdisjoint(_texts(page))]:
        # They cross no line of this page.
        read.rows[number - 1] = _page_rows(document[number - 1], number, search, read)
    for number, numbers in numbered_pages(read.columns).items():
        read.rows[number - 1] = _page_rows(document[number - 1], number, search, read, numbers)
    return read


def _told_undrawn(undrawn: Mapping[int, str]) -> list[Message]:
    return [
        Message("Page {number} could not be drawn for OCR: {error}.", number=number, error=cause)
        for number, cause in undrawn.items()
    ]


def _told_stamps(stamps: Collection[str]) -> list[Message]:
    words = "; ".join(sorted(stamps))
    return [Message("Words across its pages, left out of the text: {words}.", words=words)] if stamps else []


def _open(path: Path, limits: ExtractionLimits) -> pymupdf.Document:
    document = open_pdf(path)
    if document.is_repaired and not _ends(path):
        raise damaged_pdf(path, "it breaks off before its end")
    try:
        pages = document.page_count
    except ERRORS as error:
        raise damaged_pdf(path, error) from error
    if pages == 0:
        raise Refusal("no_pages", "{file} has no pages.", help="Export the document again.", file=path.name)
    if pages > limits.max_pages:
        raise Refusal(
            "too_many_pages",
            "{file} has {pages} pages; the limit is {limit}.",
            help="Split it into volumes and add those.",
            file=path.name,
            pages=pages,
            limit=limits.max_pages,
        )
    return document


def _ends(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2048))
        return b"%%EOF" in file.read()


def _page_rows(
    page: pymupdf.Page, number: int, search: LigatureSearch, read: _ReadPages, numbered: Numbered = NOT_NUMBERED
) -> PageRows:
    """Return the rows of a page without stamped words and without numbers of lines.

    Stamps and numbers in margins are added to `read`. Stamps known from other pages are left out too, and `numbered`
    says which of the numbers count lines or paragraphs.
    """
    # Coordinates come as if the page were not rotated; boxes must lie on the page as it is drawn.
    turn = page.rotation_matrix if page.rotation else None
    lines: list[PrintedLine] = []
    unseen = 0
    content, blocks, struck = _content(page)
    stamped = _stamped(blocks, read.stamps)
    read.stamps |= {one_line(_text_of(line)) for line in stamped}
    gone = {span["bbox"] for span in (*struck, *_spans([{"lines": stamped}]))}
    misspelled: dict[str, str] = {}
    if search.is_due("".join(span["text"] for span in _spans(blocks))):
        raw = content.extractRAWDICT()["blocks"]
        if search.spell(_spans(raw)):
            misspelled = _differing_words(blocks, raw)
            blocks = raw
    for index, along, bbox, spans in _standing_lines(blocks, gone):
        spelled = spans[0]["text"] if len(spans) == 1 else _spelled(spans)
        if not spelled.isprintable():
            unseen += len(_CONTROLS.findall(spelled))
        if text := one_line(spelled):
            quarters = 0 if along == _LEVEL and turn is None else _quarters(along, turn)
            lines.append(_printed(text, bbox, spans, index, turn, quarters))
    lines = lines if turn is None else in_blocks(lines, 0)
    drawn = [Shape(_turned(one["bbox"], turn), one["stroked"]) for one in blocks if one["type"] == VECTOR]
    width, height = page.rect.width, page.rect.height
    frames = frames_of(drawn, width, height)
    tables = [frame.box for frame in frames if frame.is_grid]
    if columns := number_columns(lines, width, tables):
        read.columns[number] = columns
    lines, margin = without_margins(lines, width, tables, numbered)
    lines = beside_labels(with_drop_capitals(lines), fields_of(page, turn))

    def words_in(frames: Sequence[Frame], quarters: int) -> tuple[list[PlacedWord], list[Box]]:
        place = partial(_turned, turn=turn)
        if quarters:
            place = partial(_placed_on, turn=turn, quarters=quarters, width=width, height=height)
        spans = _spans(blocks)
        bold = [place(span["bbox"]) for span in spans if span["flags"] & BOLD]
        raised = [span for span in spans if span["flags"] & _RAISED and span["text"].strip().isdecimal()]
        words = [
            placed_word(misspelled.get(text := _with_raised(word, raised), text), box)
            for word, box in _words_in(frames, content, place)
            if not (gone and _is_within(word, gone))
        ]
        return words, bold

    rows = with_margins(page_rows(lines, frames, drawn, (width, height), number, words_in), margin)
    out = tuple(StruckSpan(one_line(one["text"]), _turned(one["bbox"], turn), one["after"]) for one in struck)
    return PageRows(number, width, height, rows, unseen=unseen, struck=out)


def _is_within(word: Sequence[Any], boxes: Collection[Sequence[float]]) -> bool:
    """Return whether the middle of a word is in one of the boxes."""
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return any(x0 <= x < x1 and y0 <= y < y1 for x0, y0, x1, y1 in boxes)


def _standing_lines(
    blocks: Sequence[dict[str, Any]], gone: Collection[Any]
) -> Iterator[tuple[int, tuple[float, float], tuple[float, ...], list[dict[str, Any]]]]:
    """Yield the block's number, direction, box and spans of each line, without spans that are gone."""
    for index, block in enumerate(blocks):
        for line in block.get("lines", ()):
            spans = [span for span in line["spans"] if span["bbox"] not in gone] if gone else line["spans"]
            if spans:
                for span in spans:
                    if is_symbol_font(span["font"]):
                        span["text"] = in_unicode(span["text"], span["font"])
                yield index, line["dir"], line["bbox"], spans


def _content(page: pymupdf.Page) -> tuple[pymupdf.TextPage, list[dict[str, Any]], list[Mapping[str, Any]]]:
    """Return what is on a page, its blocks, and their spans with words that lines strike."""
    content = page.get_textpage(flags=_COLLECTED)
    blocks = content.extractDICT()["blocks"]
    _part_spaced_words(content, blocks)
    if not may_be_struck(blocks):
        return content, blocks, []
    # It takes several times as long to ask MuPDF what lines strike.
    content = page.get_textpage(flags=_COLLECTED | pymupdf.TEXT_COLLECT_STYLES)
    blocks = content.extractDICT()["blocks"]
    lines = (line["spans"] for block in blocks for line in block.get("lines", ()))
    return content, blocks, [span for spans in lines for span in struck_of(spans)]


def _part_spaced_words(content: pymupdf.TextPage, blocks: Sequence[dict[str, Any]]) -> None:
    """Write the gaps between words whose letters stand apart into the first span of their line."""
    lines = [line for block in blocks for line in block.get("lines", ())]
    texts = list(map(_text_of, lines))
    # Once a page, since few have such words.
    if not has_spaced_letters("\n".join(texts)):
        return
    spaced = [place for place, text in enumerate(texts) if has_spaced_letters(text)]
    raw = [line for block in content.extractRAWDICT()["blocks"] for line in block.get("lines", ())]
    for place in spaced:
        spans = raw[place]["spans"]
        letters = [(one["c"], one["bbox"][0], one["bbox"][2]) for span in spans for one in span["chars"]]
        first, *others = lines[place]["spans"]
        first["text"] = with_word_gaps(letters, first["size"])
        for span in others:
            span["text"] = ""


def _stamped(blocks: Sequence[dict[str, Any]], known: Collection[str]) -> list[dict[str, Any]]:
    """Return the lines that are stamped across a page: by their look, or as known from others."""
    lines = [line for block in blocks for line in block.get("lines", ()) if line["spans"]]
    largest = max((line["spans"][0]["size"] for line in lines), default=0.0)
    # Most pages have one size, and nothing slanted.
    if largest < _STAMP_SIZE and all(line["dir"] == _LEVEL or 0 in map(round, line["dir"]) for line in lines):
        return []
    printed = []
    for line in lines:
        first = line["spans"][0]
        colour = first["color"].to_bytes(3)
        pale = min(colour) > _PALE or first.get("alpha", 255) < _PALE
        slanted = min(map(abs, line["dir"])) > _SLANT
        printed.append(StampedLine(one_line(_text_of(line)), Box(*line["bbox"]), first["size"], slanted, pale))
    marked = set(watermarks(printed))
    return [line for place, line in enumerate(lines) if place in marked or printed[place].text in known]


def _text_of(line: dict[str, Any]) -> str:
    return "".join(span["text"] for span in line["spans"])


def _words_in(
    frames: Sequence[Frame], content: pymupdf.TextPage, place: Callable[[Sequence[float]], Box]
) -> Iterator[tuple[Sequence[Any], Box]]:
    """Yield the words whose middle is in one of the frames, or next to its edge."""
    around = [(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1) for box in (frame.box for frame in frames)]
    for word in content.extractWORDS():
        box = place(word[:4])
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        for x0, y0, x1, y1 in around:
            if x0 <= x <= x1 and y0 <= y <= y1:
                yield word, box
                break


def _spans(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [span for block in blocks for line in block.get("lines", ()) for span in line["spans"]]


def _differing_words(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the words that are spelled otherwise in the same spans."""
    pairs = zip(_spans(before), _spans(after), strict=True)
    words = ((one["text"].split(), other["text"].split()) for one, other in pairs if one["text"] != other["text"])
    return {old: new for olds, news in words for old, new in zip(olds, news, strict=False) if old != new}


def _with_raised(word: Sequence[Any], raised: Sequence[dict[str, Any]]) -> str:
    """Return the text of a word, with the raised numbers at its end written as such."""
    text, ending = one_line(word[4]), ""
    for span in reversed(raised) if text[-1:].isdecimal() else ():
        number, (x0, y0, _, y1) = span["text"].strip(), span["bbox"]
        inside = word[0] < x0 < word[2] and word[1] <= (y0 + y1) / 2 <= word[3]
        if inside and text.endswith(number) and text != number:
            text, ending = text.removesuffix(number), number + ending
    return standing((Run(text), Run(ending, Look.RAISED))) if ending else text


def _turned(bbox: Sequence[float], turn: pymupdf.Matrix | None) -> Box:
    return Box(*(bbox if turn is None else pymupdf.Rect(bbox) * turn))


def _placed_on(bbox: Sequence[float], turn: pymupdf.Matrix | None, quarters: int, width: float, height: float) -> Box:
    return turned(_turned(bbox, turn), quarters, width, height)


def _quarters(along: tuple[float, float], turn: pymupdf.Matrix | None) -> int:
    """Return the quarter turns that make a line level on its page as that is drawn."""
    x, y = along
    return quarters_of(along if turn is None else (x * turn.a + y * turn.c, x * turn.b + y * turn.d))


def _spelled(spans: list[dict[str, Any]]) -> str:
    """Return the text of a line, with the large letter of its first word before that."""
    marked = _begins_with_mark(spans[0], spans[1])
    if marked or any(span["flags"] & _RAISED for span in spans):
        shown = ((span, span["flags"] & _RAISED or (marked and span is spans[0])) for span in spans)
        text = standing(Run(span["text"], Look.RAISED if high else Look.PLAIN) for span, high in shown)
    else:
        text = "".join(span["text"] for span in spans)
    raised = len(spans) > 1 and is_raised(spans[0]["text"], spans[0]["size"], spans[1]["size"])
    return spans[0]["text"].strip() + text[len(spans[0]["text"]) :].lstrip() if raised else text


def _begins_with_mark(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return whether a line begins with a note's raised number, which MuPDF takes for no raised one."""
    raised = second["origin"][1] - first["origin"][1] > _LIFT * second["size"]
    return bool(raised and first["size"] < second["size"] and first["text"].strip().isdecimal())


def _printed(
    text: str,
    bbox: tuple[float, ...],
    spans: list[dict[str, Any]],
    block: int,
    turn: pymupdf.Matrix | None,
    quarters: int,
) -> PrintedLine:
    if turn is not None:
        bbox = tuple(pymupdf.Rect(bbox) * turn)
    box = Box(round(bbox[0], 2), round(bbox[1], 2), round(bbox[2], 2), round(bbox[3], 2))
    if len(spans) == 1:
        return PrintedLine(text, box, spans[0]["size"], bool(spans[0]["flags"] & BOLD), block, quarters)
    # The largest of the spans that hold words: neither a raised note mark, nor small capitals, nor one drop capital.
    worded = [span for span in spans if len(span["text"].strip()) > 1] or spans
    size = max(span["size"] for span in worded)
    bold = all(span["flags"] & BOLD for span in spans if span["text"].strip())
    return PrintedLine(text, box, size, bold, block, quarters)


def _texts(rows: PageRows) -> list[str]:
    return [row.text for row in rows.rows]


def _needs_ocr(page: pymupdf.Page, rows: PageRows) -> bool:
    """Return whether what the page shows is not in its text.

    A picture, with a stamp or without, or unnamed glyphs.
    """
    texts = _texts(rows)
    text = " ".join(texts)
    unmapped = 0 if text.isascii() else len(_UNMAPPED.findall(text))
    if unmapped > 0.3 * len(text) or rows.unseen > max(_FEW_CHARACTERS, 0.5 * len(text)) or is_scrambled(texts):
        return True
    if not _is_bare(rows):
        return False
    images = page.get_image_info()
    if len(text) < _FEW_CHARACTERS:
        return bool(images) or drawings(page) >= _MANY_DRAWINGS
    share = _HALF if len(text) < _STAMP_CHARACTERS else _NEARLY_ALL
    return covered_share(page.rect, [pymupdf.Rect(image["bbox"]) for image in images]) >= share


def _is_bare(rows: PageRows) -> bool:
    """Return whether a page has no more text than a stamp, but for its head and foot."""
    top, bottom = MARGIN * rows.height, (1 - MARGIN) * rows.height
    return sum(len(row.text) for row in rows.rows if row.box.y1 > top and row.box.y0 < bottom) < _STAMP_CHARACTERS


def _without_ocr(path: Path, pages: Sequence[PageRows], missed: Sequence[int]) -> list[Message]:
    """Return the warning of scanned pages that nothing reads; Refusal if no other page has text."""
    if missed and all(page.number in missed or not page.rows for page in pages):
        raise scan_without_ocr(path)
    return [Message("{count} scanned pages were not read: no OCR is installed.", count=len(missed))] if missed else []


def _scrambled_warnings(scrambled: Sequence[int], recognised: Sequence[int], ocr: OcrEngine | None) -> list[Message]:
    """Return what became of the pages whose text layer is not language."""
    read = [number for number in scrambled if number in recognised]
    kept = [number for number in scrambled if number not in recognised]
    why = Message("no OCR is installed to read the page instead") if ocr is None else Message("OCR read no better")
    used = Message("OCR was used where the embedded text is not language ({pages}).", pages=_listed(read))
    left = Message("The embedded text is not language ({pages}), and {why}.", pages=_listed(kept), why=why)
    return [*([used] if read else []), *([left] if kept else [])]


def _listed(numbers: Sequence[int]) -> Message:
    return Message("pages {pages}" if len(numbers) > 1 else "page {pages}", pages=", ".join(map(str, numbers)))


def _recognise(
    document: pymupdf.Document, path: Path, numbers: list[int], pages: list[PageRows], ocr: OcrEngine
) -> tuple[list[int], dict[int, str]]:
    """Return the pages that OCR could read, and why no picture could be made of some others.

    The rows of the former replace those of a scantier or scrambled text layer.
    """
    read: dict[int, list[PrintedLine]] = {}
    drawn: list[tuple[int, int]] = []
    undrawn: dict[int, str] = {}
    # A file that is a picture itself has no more to show than its pixels.
    drawn_by = picture_of if document.is_pdf else native_picture_of

    def pictures() -> Iterator[Picture]:
        for number in numbers:
            try:
                picture = drawn_by(document[number - 1], _MOST_PIXELS)
            except ERRORS as error:
                _raise_out_of_memory(error)
                undrawn[number] = one_line(str(error))
            else:
                drawn.append((number, picture.dpi))
                yield picture

    try:
        # An engine answers in the order of the pictures, and may draw several before it reads the first.
        for index, picture_lines in enumerate(ocr.read(pictures())):
            number, dpi = drawn[index]
            page = pages[number - 1]
            lines = recognised_lines(picture_lines, 72.0 / dpi)
            if reads_better([line.text for line in lines], _texts(page)):
                read[number] = lines
    except BackendError as error:
        raise _ocr_broken("{file} has scanned pages that could not be read: {error}", path, error) from error
    widths = {number: pages[number - 1].width for number in read}
    for number, rows in rows_of_pages(read, widths).items():
        pages[number - 1] = PageRows(number, widths[number], pages[number - 1].height, rows, recognised=True)
    return list(read), undrawn


def _read_figures(document: pymupdf.Document, path: Path, figures: list[Figure], ocr: OcrEngine) -> list[Figure]:
    try:
        return read_figures(document, figures, ocr)
    except BackendError as error:
        raise _ocr_broken("{file} has figures that could not be read: {error}", path, error) from error


def _ocr_broken(message: str, path: Path, error: BackendError) -> Refusal:
    return Refusal("ocr_missing", message, help=error.help, file=path.name, error=error.fault)


def _raise_out_of_memory(error: Exception) -> None:
    """Raise MemoryError when the error means that: the file is at its limit then, not one page damaged."""
    if _OUT_OF_MEMORY.search(str(error)):
        raise MemoryError from error


def page_blocks(pages: Sequence[PageRows], figures: Mapping[int, Sequence[Figure]]) -> Iterator[DraftBlock]:
    """Yield the blocks of pages, without what they repeat and with paragraphs joined over their edges."""
    kept = without_running_heads(pages)
    body = body_size(kept)
    vocabulary = vocabulary_of(row.text for page in kept for row in page.rows)
    blocks = (with_figures(blocks_of(page, body, vocabulary), figures.get(page.number, ())) for page in kept)
    return joined_over_pages(blocks, vocabulary)
