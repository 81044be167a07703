"""A file to the records of its index, table of terms or glossary."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import median

from ingestion.book_index.entries import records_of
from ingestion.book_index.find_pages import entry_share, glossary_pages, index_pages, lines_by_page
from ingestion.book_index.glossary import bold_terms, glossary_records
from ingestion.book_index.layout import entries_of
from ingestion.book_index.page_numbers import PageNumbers, page_numbers
from ingestion.book_index.table_columns import cells_of, records_of_rows
from ingestion.protocols import Extractor
from ingestion.spreadsheets.read import read_delimited, read_head, sniff_encoding
from ingestion.types import ExtractionLimits, FileReading, PlacedLine, PrintedPages
from rag_engine.book_index.anchors import IndexRecord, IndexTable
from rag_engine.errors import InputError
from rag_engine.types import Box, ExtractedText

_PDF = "application/pdf"
_DELIMITED = frozenset({".csv", ".tsv", ".tab"})
_FEWEST_RECORDS = 2
# Nobody makes an index for fewer pages, or of longer terms.
_FEWEST_PAGES, _LONGEST_TERM = 8, 60
_CELL_GAP = " | "
# The share of entries among the lines of a text layer with which it is believed rather than OCR.
_WHOLE = 0.3


def index_of_file(
    path: Path, reader: Extractor, limits: ExtractionLimits | None = None, *, numbers: PageNumbers | None = None
) -> IndexTable:
    """Return the records of a file that is an index table, a glossary, or a book with an index.

    `numbers` are those of the book whose index it is, where that is another file: a printed index names printed pages.
    Refusal when the file cannot be read, InputError when it has nothing of the kind.
    """
    if path.suffix.lower() in _DELIMITED:
        return _of_delimited(path, limits or ExtractionLimits())
    reading = reader.read(path)
    extracted, table = reading.extracted, _index_of(reading, numbers)
    if not any(record.pages or record.see for record in table.records) or all(one.definition for one in table.records):
        listed = _of_tables(extracted, path, reader)
        if len(listed) >= _FEWEST_RECORDS and len(listed) > len(table.records):
            table = IndexTable(tuple(listed), table.warnings)
    if not table.records:
        if extracted.unread_pages:
            raise InputError(
                "{file} has no index, table of terms or glossary that could be found.",
                help="Pages {pages} are pictures that no OCR could read. Install Tesseract with the file's language.",
                file=path.name,
                pages=_shown(extracted.unread_pages),
            )
        raise InputError(
            "{file} has no index, table of terms or glossary that could be found.",
            help="An index has terms and page numbers in the order of the alphabet; a table names its columns, such as "
            "term, file and page.",
            file=path.name,
        )
    return table


def index_of_document(reading: FileReading) -> IndexTable:
    """Return the records of the index and the glossary that a document carries itself; none for most documents.

    Where the lines of the index could not be read, a warning says why. Rows of a table that end in figures are none.
    """
    return _index_of(reading, None, own=True)


def _index_of(reading: FileReading, numbers: PageNumbers | None, *, own: bool = False) -> IndexTable:
    """Return the records of the index and the glossary in a file; `numbers` are those of the pages that it names."""
    warnings: list[str] = []
    records: list[IndexRecord] = []
    extracted, printed = reading.extracted, reading.index_lines
    indexed = index_pages(extracted)
    titled = glossary_pages(extracted)
    glossary = glossary_records(extracted)
    wanted = extracted.media_type == _PDF and bool(indexed or (titled and not glossary))
    if wanted and printed is None:
        return IndexTable((), (f"Its index was not read: {reading.index_error}",))
    if wanted and printed is not None:
        if indexed:
            lines = placed_lines(extracted, printed, indexed)
            numbers = numbers or page_numbers(printed.labels, printed.margins_by_page(), extracted.pages)
            if not numbers.told_by:
                warnings.append("The pages show no numbers: those of the index are taken for pages of the file.")
            records = records_of(entries_of(lines, printed.height), numbers.page)
            if own and _is_chance(records, extracted.pages):
                records, warnings = [], []
            warnings += _beyond(records, numbers.count)
        if not glossary:
            glossary = bold_terms([line for line in printed.lines if line.page in titled])
    unread = sorted(set(extracted.unread_pages) & set(range(extracted.pages - 2, extracted.pages + 1)))
    if unread and not indexed:
        warnings.append(
            f"The last pages ({_shown(unread)}) are pictures that could not be read; an index on them was not found."
        )
    if len(glossary) > _FEWEST_RECORDS:
        records += glossary
    return IndexTable(tuple(records), tuple(warnings))


def placed_lines(extracted: ExtractedText, printed: PrintedPages, pages: Sequence[int]) -> list[PlacedLine]:
    """Return the lines of pages with their boxes: from the text layer, and from OCR where that had to read the page."""
    by_page: dict[int, list[PlacedLine]] = {page: [] for page in pages}
    for line in printed.lines:
        if line.page in by_page:
            by_page[line.page].append(line)
    # Signs and commands without a sentence look like a broken text layer, though their entries are whole.
    recognised = {
        page
        for page in extracted.ocr_pages
        if page in by_page and entry_share([x.text for x in by_page[page]]) < _WHOLE
    }
    layered = [line for page, lines in by_page.items() if page not in recognised for line in lines]
    return [*layered, *_recognised(extracted, recognised)]


def _recognised(extracted: ExtractedText, pages: Collection[int]) -> Iterator[PlacedLine]:
    for line in extracted.lines:
        if line.page not in pages or line.box is None:
            continue
        text = extracted.text[line.start : line.end]
        width = (line.box.x1 - line.box.x0) / max(1, len(text))
        at = 0
        # Cells that OCR found side by side are in one line; each gets its share of the line's box.
        for cell in text.split(_CELL_GAP):
            box = Box(line.box.x0 + at * width, line.box.y0, line.box.x0 + (at + len(cell)) * width, line.box.y1)
            if cell.strip():
                yield PlacedLine(cell.strip(), line.page, box, 0.75 * (line.box.y1 - line.box.y0))
            at += len(cell) + len(_CELL_GAP)


def _of_tables(extracted: ExtractedText, path: Path, reader: Extractor) -> list[IndexRecord]:
    """Return the records of a file's tables of terms, each by itself, those of a PDF by where its lines are."""
    numbers = PageNumbers({}, 0, 10_000, "")
    found: list[IndexRecord] = []
    for block in extracted.blocks:
        if block.kind == "table":
            # In a longer document a table without names may be one of anything.
            most = 2 * (block.end - block.start) > len(extracted.text)
            found += records_of_rows(block.rows, numbers.page, guess=most)
    if extracted.media_type == _PDF:
        pages = sorted(lines_by_page(extracted))
        printed = reader.lines(path, pages)
        cells = cells_of(placed_lines(extracted, printed, pages), printed.height)
        placed = records_of_rows(cells, numbers.page)
        if 2 * len(placed) >= len(cells):
            found = max(found, placed, key=lambda records: sum(bool(record.pages) for record in records))
    return list(dict.fromkeys(found))


def _of_delimited(path: Path, limits: ExtractionLimits) -> IndexTable:
    if not path.is_file() or path.stat().st_size == 0:
        raise InputError("{file} is empty or no file.", help="Check the path.", file=path.name)
    if path.stat().st_size > limits.max_bytes:
        raise InputError(
            "{file} has {size:,} bytes; the limit is {limit:,}.",
            help="Split it.",
            file=path.name,
            size=path.stat().st_size,
            limit=limits.max_bytes,
        )
    records = records_of_rows(list(_delimited_rows(path)), PageNumbers({}, 0, 10_000, "").page)
    if not records:
        raise InputError(
            "{file} has no columns of a term and its pages or meaning.",
            help="Name the columns in the first row, for example: term, subterm, file, page.",
            file=path.name,
        )
    return IndexTable(tuple(records))


def _delimited_rows(path: Path) -> Iterator[tuple[str, ...]]:
    encoding = sniff_encoding(path)
    first = read_head(path).decode(encoding, errors="replace").partition("\n")[0]
    if "\t" not in first:
        yield from (row.cells for row in read_delimited(path))
        return
    # Between tabs nothing is quoted: a term may be a quotation mark.
    with path.open(encoding=encoding, errors="replace") as file:
        yield from (tuple(line.rstrip("\r\n").split("\t")) for line in file if line.strip())


def _is_chance(records: Sequence[IndexRecord], pages: int) -> bool:
    """Return whether entries are rows of a table: in a file too short for an index, too long, or of no page of it."""
    printed = [record for record in records if record.printed]
    if not printed:
        return False
    lost = sum(not record.pages for record in printed)
    return (
        pages < _FEWEST_PAGES
        or median(len(record.entry) for record in printed) > _LONGEST_TERM
        or 2 * lost > len(printed)
    )


def _beyond(records: Sequence[IndexRecord], pages: int) -> list[str]:
    lost = [record.entry for record in records if record.printed and not record.pages]
    if not lost:
        return []
    named = "; ".join(lost[:3])
    return [f"{len(lost)} entries name pages that are not among the {pages} of the file: {named}."]


def _shown(pages: Sequence[int]) -> str:
    shown = ", ".join(map(str, pages[:10]))
    return f"{shown} and {len(pages) - 10} more" if len(pages) > 10 else shown
