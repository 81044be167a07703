"""All passages that a search has found as a spreadsheet: CSV or a workbook, a row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from ingestion.spreadsheets.csv_writer import to_csv
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_workbook
from rag_engine.answering.reference_list import LIMITS, limits_of
from rag_engine.chunking.indexed_text import cited
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.passage_search.find import FoundPassages
from rag_engine.passage_search.passages import MarkedPassage, read_passages
from rag_engine.reading.address import DocumentPlace
from rag_engine.text.languages import language_name

PASSAGE_FORMATS = {".xlsx": "Excel", ".csv": "CSV"}

# Headings with the width of their columns in characters.
_COLUMNS = (
    ("Rank", 8), ("Document", 44), ("Authority", 30), ("Year", 8), ("Language", 14), ("Country", 18), ("Licence", 20),
    ("Licence limits", 22), ("Page", 8), ("Section", 22), ("Passage", 90), ("All key words", 14), ("Link", 50),
)  # fmt: skip
_LINK = len(_COLUMNS) - 1
# Excel opens no sheet with more rows, its heading among them.
_MOST_ROWS = 1_048_575


def export_passages(engine: Engine, found: FoundPassages, suffix: str, base: str = "") -> bytes:
    """Return a file of this suffix with every passage, in the order of the search.

    Links open the passage in its document where `base` is the address of the pages ("http://127.0.0.1:8501/"); without
    it they are relative. InputError for another suffix, or more passages than a workbook holds.
    """
    rows = (_row(passage, base) for passage in read_passages(engine, found, found.matches))
    if suffix == ".csv":
        return to_csv([name for name, _ in _COLUMNS], rows)
    if suffix != ".xlsx":
        raise InputError(f"No file that ends in {suffix!r} can be exported.", help=f"Use {', '.join(PASSAGE_FORMATS)}.")
    if len(found) > _MOST_ROWS:
        raise InputError(f"A workbook cannot hold {len(found):,} passages.", help="Export them as .csv.")
    return to_workbook([Sheet("Passages", _COLUMNS, list(_cells(rows, linked=bool(base))))])


def _row(passage: MarkedPassage, base: str) -> tuple[str | int | None, ...]:
    hit, document, metadata = passage.hit, passage.hit.document, passage.hit.document.metadata
    place = DocumentPlace(document.document_id, hit.page, (hit.start, hit.end))
    return (
        passage.match.rank,
        storable(metadata.title),
        storable(metadata.authority),
        metadata.year,
        language_name(metadata.language) or metadata.language,
        "; ".join(metadata.countries),
        storable(metadata.licence),
        "; ".join(LIMITS[limit] for limit in limits_of(metadata.licence)),
        hit.page,
        storable(cited(hit.section, hit.clause)),
        storable(hit.text),
        "yes" if passage.match.worded else "no",
        f"{base}document?{urlencode(place.parameters())}",
    )


def _cells(rows: Iterator[tuple[str | int | None, ...]], *, linked: bool) -> Iterator[Sequence[Cell]]:
    for row in rows:
        link = str(row[_LINK]) if linked else ""
        yield [Cell(value, link if column == _LINK else "") for column, value in enumerate(row)]
