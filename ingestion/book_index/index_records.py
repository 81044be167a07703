"""A file to the records of its index, table of terms or glossary."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

from ingestion.book_index.entries import DEFINES, is_glossary_title, records_of
from ingestion.book_index.find_pages import entry_share, glossary_pages, index_pages, lines_by_page
from ingestion.book_index.layout import cells_of, entries_of, records_of_rows
from ingestion.book_index.page_numbers import PageNumbers, page_numbers
from ingestion.file_names import check_size
from ingestion.file_reading import ExtractionLimits, FileReading, PlacedLine, PrintedPages
from ingestion.protocols import Extractor
from ingestion.spreadsheets.list_rows import read_delimited, read_head, sniff_encoding
from rag_engine.book_index.anchors import IndexRecord, IndexTable
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.types.document import Block, Box, ExtractedText

_PDF = "application/pdf"
_DELIMITED = frozenset({".csv", ".tsv", ".tab"})
_FEWEST_RECORDS = 2
# Nobody makes an index for fewer pages, or of longer terms.
_FEWEST_PAGES, _LONGEST_TERM = 8, 60
_CELL_GAP = " | "
# The share of entries among the lines of a text layer with which it is believed rather than OCR.
_WHOLE = 0.3
_FEWEST_ENTRIES = 3
# Blocks without an entry after which the glossary is taken to have ended.
_PATIENCE = 4
_LONGEST_NAME = 80
_SHORTEST_DEFINITION = 8
# What is longer is a section and no explanation.
_LONGEST_TEXT = 800
_NUMBERING = r"(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[IVXL]{1,7}|[a-z]{1,2})\)?\s?[-–—.)]?\s+|[•▪‣*-]\s*)?"
_QUOTED = re.compile(
    rf"{_NUMBERING}[\"“„«'‘‹]\s?(?P<term>[^\"”“»'’›]{{2,80}}?)\s?[\"”“»'’›]\s*(?:\([^)]{{1,30}}\)\s*)?"
    r"(?:shall\s+mean|means?|is\s+defined\s+as|refers\s+to|significa|bezeichnet|bedeutet|désigne|:|–|—)\s*"
    r"(?P<definition>.+)",
    re.DOTALL | re.IGNORECASE,
)
_COLON = re.compile(
    rf"{_NUMBERING}(?P<term>[^\W\d_][^:.;|\n]{{1,79}}?)\s*(?::|\s[–—-])\s+(?P<definition>\S.+)", re.DOTALL
)
_CELLS = re.compile(rf"{_NUMBERING}(?P<term>[^|]{{2,80}}?)\s*\|\s*(?P<definition>[^|]{{3,}})(?:\|.*)?", re.DOTALL)
_LEADING_NUMBER = re.compile(r"\A\(?(?:\d{1,3}(?:\.\d{1,3})*|[IVXL]{1,7}\s?[-–—.)])\)?\.?\s+")


def index_of_file(path: Path, reader: Extractor, *, numbers: PageNumbers | None = None) -> IndexTable:
    """Return the records of a file that is an index table, a glossary, or a book with an index.

    `numbers` are the pages of the book, if the index is in another file: a printed index names printed pages. Refusal
    when the file cannot be read, InputError if it has nothing of the kind.
    """
    if path.suffix.lower() in _DELIMITED:
        return _of_delimited(path)
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
    """Return the records of the index and the glossary that a document carries itself.

    None for most documents.

    Where the lines of the index could not be read, a warning says why. Rows of a table that end in figures are none.
    """
    return _index_of(reading, None, own=True)


def _index_of(reading: FileReading, numbers: PageNumbers | None, *, own: bool = False) -> IndexTable:
    """Return the records of the index and the glossary in a file.

    `numbers` are those of the pages that it names.
    """
    warnings: list[Message] = []
    records: list[IndexRecord] = []
    extracted, printed = reading.extracted, reading.index_lines
    indexed = index_pages(extracted)
    titled = glossary_pages(extracted)
    glossary = glossary_records(extracted)
    wanted = extracted.media_type == _PDF and bool(indexed or (titled and not glossary))
    if wanted and printed is None:
        return IndexTable((), (Message("Its index was not read: {error}", error=reading.index_error),))
    if wanted and printed is not None:
        if indexed:
            lines = placed_lines(extracted, printed, indexed)
            numbers = numbers or page_numbers(
                extracted.page_labels or printed.labels, printed.margins_by_page(), extracted.pages
            )
            if not numbers.told_by:
                warnings.append(
                    Message("The pages show no numbers: those of the index are taken for pages of the file.")
                )
            records = records_of(entries_of(lines, printed.height), numbers.page)
            if own and _is_chance(records, extracted.pages):
                records, warnings = [], []
            warnings += _beyond(records, numbers.count)
        if not glossary:
            glossary = bold_terms([line for line in printed.lines if line.page in titled])
    unread = sorted(set(extracted.unread_pages) & set(range(extracted.pages - 2, extracted.pages + 1)))
    if unread and not indexed:
        warnings.append(
            Message(
                "The last pages ({pages}) are pictures that could not be read; an index on them was not found.",
                pages=_shown(unread),
            )
        )
    if len(glossary) > _FEWEST_RECORDS:
        records += glossary
    return IndexTable(tuple(records), tuple(warnings))


def placed_lines(extracted: ExtractedText, printed: PrintedPages, pages: Sequence[int]) -> list[PlacedLine]:
    """Return the lines of pages with their boxes.

    From the text layer, and from OCR where that had to read the page.
    """
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
    """Return the records of a file's tables of terms; a PDF's tables follow from the places of lines."""
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


def _of_delimited(path: Path) -> IndexTable:
    if not path.is_file() or path.stat().st_size == 0:
        raise InputError("{file} is empty or no file.", help="Check the path.", file=path.name)
    check_size(path, ExtractionLimits())
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
    """Return whether entries are rows of a table.

    In a file too short for an index, too long, or of no page of it.
    """
    printed = [record for record in records if record.printed]
    if not printed:
        return False
    lost = sum(not record.pages for record in printed)
    return (
        pages < _FEWEST_PAGES
        or median(len(record.entry) for record in printed) > _LONGEST_TERM
        or 2 * lost > len(printed)
    )


def _beyond(records: Sequence[IndexRecord], pages: int) -> list[Message]:
    lost = [record.entry for record in records if record.printed and not record.pages]
    if not lost:
        return []
    named = "; ".join(lost[:3])
    return [
        Message(
            "{count} entries name pages that are not among the {pages} of the file: {named}.",
            count=len(lost),
            pages=pages,
            named=named,
        )
    ]


def _shown(pages: Sequence[int]) -> str:
    shown = ", ".join(map(str, pages[:10]))
    return f"{shown} and {len(pages) - 10} more" if len(pages) > 10 else shown


def glossary_records(extracted: ExtractedText) -> list[IndexRecord]:
    """Return the terms that glossaries and definitions explain, with the page of each explanation.

    A glossary begins with its title; an article of definitions with introducing words ("For the purposes of this ...").
    It ends at several paragraphs without entries. Fewer than three entries are no glossary.
    """
    records: list[IndexRecord] = []
    blocks = [(block, extracted.text[block.start : block.end]) for block in extracted.blocks if block.kind != "note"]
    beyond = 0
    for at, (block, text) in enumerate(blocks):
        titled = is_glossary_title(_LEADING_NUMBER.sub("", text)) and (block.kind == "heading" or len(text) < 40)
        introduced = len(text) < 600 and DEFINES.search(text) and text.rstrip().endswith((":", "—", "-"))
        if at < beyond or not (titled or introduced):
            continue
        found, end = _entries(blocks, at + 1, block if titled else None)
        if len(found) >= _FEWEST_ENTRIES:
            records += found
            beyond = end
    return records


def bold_terms(lines: Sequence[PlacedLine]) -> list[IndexRecord]:
    """Return the records of a glossary that sets its terms in bold before their explanations."""
    records: list[IndexRecord] = []
    term, meaning, page = "", "", 0

    def close() -> None:
        definition = _tidied(meaning)
        if term and len(definition) >= _SHORTEST_DEFINITION:
            records.append(IndexRecord(term, pages=(page,), definition=definition))

    for line in lines:
        bold, rest = line.text[: line.bold].strip(" :–—-."), line.text[line.bold :].strip(" :–—-")
        if line.bold > 1 and bold and not is_glossary_title(bold):
            if term and not meaning and line.bold == len(line.text):
                # A term of two lines.
                term = f"{term} {bold}"
                continue
            close()
            term, meaning, page = bold, rest, line.page
        elif term:
            meaning = f"{meaning} {line.text}"
    close()
    return [record for record in records if len(record.term) <= _LONGEST_NAME]


def _entries(blocks: Sequence[tuple[Block, str]], first: int, title: Block | None) -> tuple[list[IndexRecord], int]:
    """Return the entries from a block on, and the number of the block behind the last of them.

    Under a title each term may be a heading. A larger heading ends the glossary, and so does any heading if the terms
    are none.
    """
    found: list[IndexRecord] = []
    end, missed, by_heading = first, 0, False
    at = first
    while at < len(blocks) and missed < _PATIENCE:
        block, text = blocks[at]
        size = 1
        entries = list(_in_table(block)) if block.kind == "table" else list(_in_text(block, text))
        if not entries and block.kind == "heading":
            larger = title is not None and (block.font_size or 0.0) > (title.font_size or 0.0)
            if title is None or (found and (larger or not by_heading)):
                break
            by_heading = True
            entries = list(_under_heading(text, block.page, blocks[at + 1 : at + 2]))
            size += len(entries)
        found += entries
        missed = 0 if entries else missed + 1
        at += size
        end = at if entries else end
    return found, end


def _under_heading(heading: str, page: int, following: Sequence[tuple[Block, str]]) -> Iterator[IndexRecord]:
    name = _LEADING_NUMBER.sub("", heading)
    for block, text in following:
        if block.kind == "text" and len(name) <= _LONGEST_NAME and _SHORTEST_DEFINITION <= len(text) <= _LONGEST_TEXT:
            yield _record(name, text, page)


def _in_table(block: Block) -> Iterator[IndexRecord]:
    # Cells are read as they stand in the columns, not under the names that the text repeats.
    rows = [_CELLS.fullmatch(" | ".join(row)) for row in block.rows]
    if 2 * sum(row is not None for row in rows) >= len(rows):
        yield from (_record(row["term"], row["definition"], block.page) for row in rows if row is not None)


def _in_text(block: Block, text: str) -> Iterator[IndexRecord]:
    whole = _QUOTED.fullmatch(text) or _COLON.fullmatch(text)
    if whole is not None and "\n" not in text:
        yield _record(whole["term"], whole["definition"], block.page)
        return
    for _, grouped in groupby(text.splitlines()):
        found = _QUOTED.fullmatch(line := next(grouped)) or _COLON.fullmatch(line)
        if found is not None:
            yield _record(found["term"], found["definition"], block.page)


def _record(term: str, definition: str, page: int) -> IndexRecord:
    return IndexRecord(" ".join(term.split()).strip(" .:;"), pages=(page,), definition=_tidied(definition))


def _tidied(text: str) -> str:
    return " ".join(text.split()).strip(" :;–—-")
