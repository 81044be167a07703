"""Every passage of a search leaves as a row, and no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import openpyxl
import pytest

from ingestion.add_files import add_paths
from ingestion.dataset.passage_export import export_passages
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import InputError
from rag_engine.passage_search.find import find_passages
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.passages import read_passages

BASE = "http://127.0.0.1:8501/"
_TEXT = (
    "=HYPERLINK(1) is what the dyke warden wrote.\n\n" + "The dyke was raised again in the spring of that year. " * 800
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("exported")
    documents = folder / "documents"
    documents.mkdir()
    (documents / "dykes.txt").write_text(_TEXT, encoding="utf-8")
    (documents / "metadata.jsonl").write_text(
        '{"file": "dykes.txt", "title": "=1+1", "authority": "@Board", "year": 2019, "language": "en", '
        '"countries": ["Ireland", "Spain"], "licence": "CC BY-NC-ND 4.0"}',
        encoding="utf-8",
    )
    opened = open_engine(read_config(folder / "workspace"))
    assert [one.status for one in add_paths([documents], opened)] == ["indexed"]
    yield opened
    opened.close()


def rows_of(body: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(body.decode("utf-8-sig"))))


def test_a_csv_has_a_row_for_every_passage_in_the_order_of_the_search(engine: Engine) -> None:
    found = find_passages(engine, PassageQuery("dyke"))
    heading, *rows = rows_of(export_passages(engine, found, ".csv", BASE))
    assert len(rows) == len(found) > 30
    assert [row[heading.index("Rank")] for row in rows] == [str(match.rank) for match in found.matches]
    first = dict(zip(heading, rows[0], strict=True))
    assert (first["Year"], first["Language"], first["Country"]) == ("2019", "English", "Ireland; Spain")
    assert (first["Licence"], first["Licence limits"]) == ("CC BY-NC-ND 4.0", "no commercial use; no changes")
    # A text file has no pages.
    assert (first["Page"], first["All key words"]) == ("", "yes")


def test_the_link_of_a_row_opens_its_passage(engine: Engine) -> None:
    found = find_passages(engine, PassageQuery("dyke"))
    passage = next(read_passages(engine, found, found.matches))
    heading, first, *_ = rows_of(export_passages(engine, found, ".csv", BASE))
    place = f"passage={passage.hit.start}-{passage.hit.end}"
    assert first[heading.index("Link")] == (
        f"{BASE}document?document={passage.hit.document.document_id}&page=1&{place}"
    )


def test_no_cell_is_a_formula(engine: Engine) -> None:
    found = find_passages(engine, PassageQuery("warden"))
    heading, first, *_ = rows_of(export_passages(engine, found, ".csv"))
    assert first[heading.index("Document")] == "'=1+1"
    assert first[heading.index("Authority")] == "'@Board"
    assert first[heading.index("Passage")].startswith("'=HYPERLINK(1)")
    sheet = openpyxl.load_workbook(io.BytesIO(export_passages(engine, found, ".xlsx", BASE))).worksheets[0]
    cells = {str(name.value): cell for name, cell in zip(sheet[1], sheet[2], strict=True)}
    assert cells["Document"].value == "=1+1"
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    link = cells["Link"].hyperlink
    assert link is not None
    assert str(link.target).startswith(f"{BASE}document?document=")


def test_without_the_address_of_the_pages_a_workbook_has_no_links_to_nowhere(engine: Engine) -> None:
    found = find_passages(engine, PassageQuery("warden"))
    sheet = openpyxl.load_workbook(io.BytesIO(export_passages(engine, found, ".xlsx"))).worksheets[0]
    assert all(cell.hyperlink is None for cell in sheet[2])
    assert str(sheet[2][-1].value).startswith("document?document=")


def test_another_format_is_refused(engine: Engine) -> None:
    found = find_passages(engine, PassageQuery("warden"))
    with pytest.raises(InputError, match=r"'\.pdf'"):
        export_passages(engine, found, ".pdf")
