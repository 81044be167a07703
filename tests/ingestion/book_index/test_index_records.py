"""Whole files to the records of their index: books, tables without rules, lists, glossaries, scans."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymupdf
import pytest
from openpyxl import Workbook

from ingestion.book_index.find_pages import index_pages
from ingestion.book_index.index_records import index_of_document, index_of_file
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import Refusal
from rag_engine.book_index.anchors import IndexRecord, anchors
from rag_engine.errors import InputError
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.document import ExtractedText
from rag_engine.types.passage import Child, Parent

LEFT = [
    (0, "Index"), (0, ""), (0, "A"), (0, "adaptation, 2, 5-6"), (1, "costs of, 3"), (1, "finance for the least de-"),
    (3, "veloped countries, 4"), (0, "agriculture, 1-2"), (0, "aquifers, see groundwater"), (0, "B"),
    (0, "bonds, catastrophe, 7"), (0, "building codes, 3, 5, 6,"), (3, "8"), (0, "C"), (0, "cities, 1"),
]  # fmt: skip
RIGHT = [
    (0, "coasts, 6"), (0, "cyclones, 4, see also storms"), (0, "D"), (0, "dams, 2"), (0, "drought, 3"), (0, "E"),
    (0, "early warning"), (1, "dissemination of, 5"), (1, "thresholds of, iv"), (0, "evacuation, 7"), (0, "F"),
    (0, "floods, 1, 3-5"), (0, "forests, 8"), (0, "groundwater, 8"),
]  # fmt: skip
BODY = (
    "The committee met in the spring and reviewed the programme of work. Adaptation was discussed at length by all. "
    "Its findings were published in the annual report, which describes the measures that were taken in each region."
)


@pytest.fixture(scope="module")
def blind() -> Iterator[Sandbox]:
    """Without OCR, for documents that have no scanned page."""
    with Sandbox(ocr="none") as one:
        yield one


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pages with Roman numbers, eight of text, an index in two columns on page thirteen."""
    path = tmp_path_factory.mktemp("book") / "book.pdf"
    document = pymupdf.open()
    for number in ("i", "ii", "iii", "iv", *map(str, range(1, 9))):
        page = document.new_page()
        page.insert_textbox((72, 90, 520, 700), BODY, fontsize=11)
        page.insert_text((300, 800), number, fontsize=10)
    page = document.new_page()
    for left, lines in ((72, LEFT), (300, RIGHT)):
        for row, (level, text) in enumerate(lines):
            page.insert_text((left + 12 * level, 110 + 15 * row), text, fontsize=10)
    page.insert_text((300, 800), "9", fontsize=10)
    document.save(path)
    return path


def by_entry(records: Sequence[IndexRecord]) -> dict[str, IndexRecord]:
    return {record.entry: record for record in records}


def table_pdf(path: Path, rows: Sequence[Sequence[str]], lefts: Sequence[float]) -> Path:
    """Return a table without rules, a cell at each of the given distances from the left."""
    document = pymupdf.open()
    page = document.new_page()
    for number, row in enumerate(rows):
        for left, cell in zip(lefts, row, strict=True):
            page.insert_text((left, 90 + 16 * number), cell, fontsize=10)
    document.save(path)
    return path


def test_a_book_s_index_is_read_over_columns_levels_and_broken_lines(book: Path, sandbox: Sandbox) -> None:
    records = by_entry(index_of_file(book, sandbox).records)
    assert {entry: record.pages for entry, record in records.items()} == {
        "adaptation": (6, 9, 10), "adaptation, costs of": (7,),
        "adaptation, finance for the least developed countries": (8,), "agriculture": (5, 6), "aquifers": (),
        "bonds, catastrophe": (11,), "building codes": (7, 9, 10, 12), "cities": (5,), "coasts": (10,),
        "cyclones": (8,), "dams": (6,), "drought": (7,), "early warning, dissemination of": (9,),
        "early warning, thresholds of": (4,), "evacuation": (11,), "floods": (5, 7, 8, 9), "forests": (12,),
        "groundwater": (12,),
    }  # fmt: skip
    assert records["aquifers"].see == ("groundwater",)
    assert records["cyclones"].see == ("storms",)
    assert records["early warning, thresholds of"].printed == ("iv",)


@pytest.mark.parametrize("name", ["es_lshort_latex_a4", "it_lshort_latex"])
def test_the_rows_of_real_indexes_are_found_with_their_pages(shared: Path, blind: Sandbox, name: str) -> None:
    records = index_of_file(shared / "data" / "indexbook" / f"{name}.pdf", blind).records
    known = {
        (_plain(name), record.pages) for record in records for name in (record.entry, record.subterm or record.term)
    }
    with (shared / "data" / "indexbook" / f"{name}.index_table.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = [(_plain(row["term"]), tuple(map(int, row["pdf_pages"].split(";")))) in known for row in rows]
    assert sum(found) >= 0.95 * len(rows)


def _plain(term: str) -> str:
    return "".join(term.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬃ", "ffi").replace("ﬀ", "ff").split())


def test_a_given_table_is_read_by_the_names_of_its_columns(shared: Path, blind: Sandbox) -> None:
    table = shared / "data" / "indexbook" / "it_lshort_latex.index_table.tsv"
    records = index_of_file(table, blind).records
    assert len(records) == len(table.read_text(encoding="utf-8").splitlines()) - 1
    assert records[0] == IndexRecord("\\!", pages=(88,), printed=("64",))


def test_a_table_without_rules_names_terms_files_and_pages(tmp_path: Path, sandbox: Sandbox) -> None:
    rows = [
        ("Term", "File", "Page"), ("archive", "part1.pdf", "3"), ("addressee of a", "part2.pdf", "4, 7"),
        ("document", "", ""), ("writer", "part1.pdf", "12"), ("persons", "part3.pdf", "2-3"),
    ]  # fmt: skip
    records = index_of_file(table_pdf(tmp_path / "table.pdf", rows, (72, 250, 420)), sandbox).records
    assert [(record.term, record.file, record.pages) for record in records] == [
        ("archive", "part1.pdf", (3,)), ("addressee of a document", "part2.pdf", (4, 7)),
        ("writer", "part1.pdf", (12,)), ("persons", "part3.pdf", (2, 3)),
    ]  # fmt: skip


def test_columns_without_names_are_told_by_what_stands_in_them(tmp_path: Path, sandbox: Sandbox) -> None:
    rows = [("part1.pdf", "archive", "3"), ("part2.pdf", "act and fact", "4"), ("part1.pdf", "writer", "12")]
    records = index_of_file(table_pdf(tmp_path / "table.pdf", rows, (72, 250, 420)), sandbox).records
    assert [(record.term, record.file, record.pages) for record in records] == [
        ("archive", "part1.pdf", (3,)), ("act and fact", "part2.pdf", (4,)), ("writer", "part1.pdf", (12,)),
    ]  # fmt: skip


def test_a_workbook_of_terms_is_read(tmp_path: Path, sandbox: Sandbox) -> None:
    workbook = Workbook()
    assert workbook.active is not None
    for row in (
        ("Voce", "Sottovoce", "Documento", "Pagine"),
        ("alluvioni", "mappe", "piano.pdf", "3; 5-6"),
        ("sisma", "", "piano.pdf", 9),
    ):
        workbook.active.append(row)
    workbook.save(tmp_path / "termini.xlsx")
    assert [(r.entry, r.file, r.pages) for r in index_of_file(tmp_path / "termini.xlsx", sandbox).records] == [
        ("alluvioni, mappe", "piano.pdf", (3, 5, 6)), ("sisma", "piano.pdf", (9,)),
    ]  # fmt: skip


def test_a_list_of_terms_in_csv_may_hold_meanings_and_quotation_marks(tmp_path: Path, sandbox: Sandbox) -> None:
    path = tmp_path / "terms.csv"
    path.write_text(
        'term;definition\n"the ""Act""";a law; see below\n'.replace("law; see", "law, see"), encoding="utf-8"
    )
    assert index_of_file(path, sandbox).records == (IndexRecord('the "Act"', definition="a law, see below"),)


def test_a_concept_table_gives_its_labels_and_what_stands_under_them(shared: Path, blind: Sandbox) -> None:
    records = index_of_file(shared / "data" / "corpus" / "en_cpr_climate_hazards_terms.xlsx", blind).records
    assert {"Marine hazards, Ocean acidification", "Marine hazards, Sea level rise"} <= set(by_entry(records))


def test_an_article_of_definitions_serves_as_a_glossary(shared: Path, blind: Sandbox) -> None:
    records = by_entry(index_of_file(shared / "data" / "corpus" / "pt_lgpd_lei_13709.pdf", blind).records)
    assert records["dado pessoal"].definition == (
        "informação relacionada a pessoa natural identificada ou identificável"
    )
    assert records["dado pessoal"].pages == (2,)
    assert "titular" in records


def test_a_glossary_in_a_table_gives_terms_and_meanings(shared: Path, blind: Sandbox) -> None:
    records = by_entry(index_of_file(shared / "data" / "corpus" / "en_unfccc_cma4_decisions6-11.pdf", blind).records)
    assert records["AFOLU"].definition == "agriculture, forestry and other land use"
    assert records["AFOLU"].pages == (32,)


def test_bold_terms_before_their_meanings_are_a_glossary(tmp_path: Path, sandbox: Sandbox) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 90), "Glossary", fontsize=16, fontname="hebo")
    for row, (term, meaning) in enumerate(
        [
            ("Exposure", "People and assets in places that a hazard may reach."),
            ("Hazard", "What may do harm."),
            ("Risk", "What harm is to be expected."),
        ]
    ):
        page.insert_text((72, 130 + 16 * row), term, fontsize=10, fontname="hebo")
        page.insert_text((125, 130 + 16 * row), meaning, fontsize=10)
    document.save(tmp_path / "glossary.pdf")
    records = by_entry(index_of_file(tmp_path / "glossary.pdf", sandbox).records)
    assert records["Hazard"].definition == "What may do harm."


@pytest.mark.needs("tesseract")
def test_an_index_that_is_a_picture_is_read_by_ocr(book: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    path = pictured(book, tmp_path / "scan.pdf")
    records = by_entry(index_of_file(path, sandbox).records)
    right = {"floods": (5, 7, 8, 9), "coasts": (10,), "agriculture": (5, 6), "dams": (6,), "forests": (12,)}
    assert {entry: records[entry].pages for entry in right if entry in records} == right


def test_an_index_that_is_a_picture_is_reported_where_no_ocr_may_read_it(
    book: Path, tmp_path: Path, blind: Sandbox
) -> None:
    path = pictured(book, tmp_path / "scan.pdf")
    table = index_of_document(blind.read(path))
    assert "The last pages (13) are pictures that could not be read" in table.warnings[0]
    with pytest.raises(InputError, match=r"Pages 13 are pictures .* Install Tesseract"):
        index_of_file(path, blind)


def pictured(book: Path, path: Path) -> Path:
    """Return the book with a picture in the place of its index."""
    with pymupdf.open(book) as document:
        picture = document[12].get_pixmap(dpi=200)
        document.delete_page(12)
        document.new_page().insert_image(pymupdf.Rect(0, 0, 595, 842), pixmap=picture)
        document.save(path)
    return path


@pytest.mark.parametrize(
    "name",
    ["it_costituzione_repubblica.pdf", "tr_kat_mulkiyeti_kanunu.pdf", "de_zskg_zivilschutz_katastrophenhilfe.pdf"],
)
def test_a_document_without_an_index_gives_none_and_the_command_says_so(
    shared: Path, sandbox: Sandbox, name: str
) -> None:
    path = shared / "data" / "corpus" / name
    reading = sandbox.read(path)
    assert index_pages(reading.extracted) == ()
    assert index_of_document(reading).records == ()
    with pytest.raises(InputError, match="has no index"):
        index_of_file(path, sandbox)


@pytest.mark.parametrize(
    "name",
    [
        "en_unfccc_cop3_kyoto.pdf",  # the shares of the Parties in a hundred
        "de_bw_zuwendungen_feuerwehr_vwv.pdf",  # numbers of inhabitants
        "en_eu_eprtr_pollutant_thresholds.pdf",  # kilograms a year
    ],
)
def test_rows_of_tables_that_end_in_figures_are_no_index(shared: Path, blind: Sandbox, name: str) -> None:
    table = index_of_document(blind.read(shared / "data" / "corpus" / name))
    assert not [record.entry for record in table.records if record.printed]
    assert not table.warnings


def test_files_that_cannot_be_read_are_refused_as_when_they_are_added(tmp_path: Path, sandbox: Sandbox) -> None:
    for name in ("empty.pdf", "empty.csv"):
        (tmp_path / name).write_bytes(b"")
    locked = pymupdf.open()
    locked.new_page()
    locked.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    with pytest.raises(Refusal, match="is empty"):
        index_of_file(tmp_path / "empty.pdf", sandbox)
    with pytest.raises(InputError, match="is empty"):
        index_of_file(tmp_path / "empty.csv", sandbox)
    with pytest.raises(Refusal, match="password"):
        index_of_file(tmp_path / "locked.pdf", sandbox)


def test_the_anchors_of_a_book_lie_on_the_pages_of_its_index(book: Path, sandbox: Sandbox) -> None:
    reading = sandbox.read(book)
    extracted, records = reading.extracted, index_of_document(reading).records
    found = anchors(records, extracted, whole_pages(extracted), "en")
    named = next(anchor for anchor in found if (anchor.term, anchor.subterm) == ("adaptation", ""))
    assert (named.page, named.found) == (6, True)
    assert extracted.text[named.start : named.end].startswith("Adaptation was discussed")
    assert not next(anchor for anchor in found if anchor.term == "dams").found


def whole_pages(extracted: ExtractedText) -> list[Parent]:
    """Each sentence as a parent with one child."""
    spans = sentence_spans(extracted.text, "en")
    texts = [extracted.text[start:end] for start, end in spans]
    return [
        Parent(n, *span, text, (Child(0, 0, len(text), text),))
        for n, (span, text) in enumerate(zip(spans, texts, strict=True))
    ]


def test_entries_stay_under_their_heads_over_columns_and_pages(shared: Path, blind: Sandbox) -> None:
    records = index_of_file(shared / "data" / "indexbook" / "es_lshort_latex_a4.pdf", blind).records
    known = by_entry(records)
    assert known["encodings, font, OT1"].printed == ("27",)
    assert len({record.pages for record in records if record.term == "commands"}) > 50
    assert sum(record.term == "commands" for record in records) > 250
