"""All passages that a search has found as a spreadsheet: CSV or a workbook, a row each."""

from __future__ import annotations

from urllib.parse import urlencode

from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_csv, to_workbook
from rag_engine.answering.reference_list import limits_text, year_text
from rag_engine.chunking.indexed_text import cited
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.passage_search.find import FoundPassages
from rag_engine.passage_search.passages import MarkedPassage, read_passages
from rag_engine.text.file_kinds import page_cell
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.viewer.address import DocumentPlace

PASSAGE_FORMATS = {".xlsx": "Excel", ".csv": "CSV"}

# Excel opens no sheet with more rows, its heading among them.
_MOST_ROWS = 1_048_575


def export_passages(
    engine: Engine, found: FoundPassages, suffix: str, base: str = "", words: Wording = ENGLISH
) -> bytes:
    """Return a file of this suffix with every passage, in the order of the search.

    Links open the passage in its document where `base` is the address of the pages ("http://127.0.0.1:8501/"); without
    it they are relative. InputError for another suffix, or more passages than a workbook holds.
    """
    rows = (_row(passage, base, words) for passage in read_passages(engine, found, found.matches))
    if suffix == ".csv":
        return to_csv([name for name, _ in _columns(words)], rows)
    if suffix != ".xlsx":
        raise InputError(
            "No file that ends in {suffix!r} can be exported.",
            help="Use {formats}.",
            suffix=suffix,
            formats=", ".join(PASSAGE_FORMATS),
        )
    if len(found) > _MOST_ROWS:
        raise InputError("A workbook cannot hold {count:,} passages.", help="Export them as .csv.", count=len(found))
    cells = [[*map(Cell, row[:-1]), Cell(row[-1], str(row[-1]) if base else "")] for row in rows]
    return to_workbook([Sheet(words.message("Passages"), _columns(words), list(cells))])


def _columns(words: Wording) -> tuple[tuple[str, int], ...]:
    """Return the headings with the width of their columns in characters."""
    return (
        (words.message("Rank"), 8), (words.message("Document"), 44), (words.message("Authority"), 30),
        (words.message("Year"), 8), (words.message("Language"), 14), (words.message("Country"), 18),
        (words.message("Licence"), 20), (words.message("Licence limits"), 22), (words.message("Page"), 8),
        (words.message("Section"), 22), (words.message("Passage"), 90), (words.message("All key words"), 14),
        (words.message("Link"), 50),
    )  # fmt: skip


def _row(passage: MarkedPassage, base: str, words: Wording) -> tuple[str | int | None, ...]:
    hit, document, metadata = passage.hit, passage.hit.document, passage.hit.document.metadata
    place = DocumentPlace(document.document_id, hit.page, (hit.start, hit.end))
    return (
        passage.match.rank,
        storable(metadata.title),
        storable(metadata.authority),
        metadata.year or year_text(None, words),
        words.value("language", metadata.language),
        "; ".join(words.value("country", country) for country in metadata.countries),
        storable(metadata.licence),
        "; ".join(limits_text(metadata.licence, words)),
        page_cell(document.file, hit.page, document.page_label(hit.page), words),
        storable(cited(hit.section, hit.clause)),
        storable(hit.text),
        words.message("yes") if passage.match.all_words else words.message("no"),
        f"{base}document?{urlencode(place.parameters())}",
    )
