"""The invented samples are what their README says, and building them again gives the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import docx
import lxml.html
import openpyxl
import pptx
import pymupdf
import pytest

from ingestion.metadata.taxonomy import load_taxonomy
from rag_engine.types.document import Metadata

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
DOCUMENTS = SAMPLE / "documents"
RECORDS: list[dict[str, Any]] = [
    json.loads(line) for line in (DOCUMENTS / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
]
FILES = [record["file"] for record in RECORDS]
SCAN = "fr-france-arrete-secheresse.pdf"
HANDBOOK = "en-global-heritage-flood-handbook.pdf"
MARKS = {
    "de": "MUSTER - für das Projekt Sextant verfasst, kein amtlicher Text",
    "en": "SAMPLE - written for the Sextant project, not an official text",
    "es": "MUESTRA - escrita para el proyecto Sextant, no es un texto oficial",
    "fr": "EXEMPLE - rédigé pour le projet Sextant, ce n'est pas un texte officiel",
    "it": "ESEMPIO - scritto per il progetto Sextant, non è un testo ufficiale",
    "pt": "AMOSTRA - escrita para o projeto Sextant, não é um texto oficial",
    "tr": "ÖRNEK - Sextant projesi için yazılmıştır, resmî bir metin değildir",
}
TAXONOMY = load_taxonomy()


def pages(file: Path) -> list[str]:
    """Return the text of each page of a PDF, ligatures taken apart."""
    with pymupdf.open(file) as pdf:
        return [page.get_text(flags=pymupdf.TEXT_PRESERVE_WHITESPACE) for page in pdf]


def text_of(file: Path) -> str:
    """Return the text of a file with runs of white space made one space."""
    match file.suffix:
        case ".pdf":
            text = "\n".join(pages(file))
        case ".docx":
            text = "\n".join(paragraph.text for paragraph in docx.Document(str(file)).paragraphs)
        case ".pptx":
            shapes = [shape for slide in pptx.Presentation(str(file)).slides for shape in slide.shapes]
            text = "\n".join(shape.text_frame.text for shape in shapes if shape.has_text_frame)
        case ".xlsx":
            sheets = openpyxl.load_workbook(file).worksheets
            text = "\n".join(str(v) for sheet in sheets for row in sheet.iter_rows(values_only=True) for v in row if v)
        case ".odt":
            text = re.sub("<[^>]+>", " ", zipfile.ZipFile(file).read("content.xml").decode())
        case ".html":
            text = " ".join(map(str, lxml.html.fromstring(file.read_bytes()).itertext()))
        case _:
            text = file.read_text(encoding="utf-8")
    return " ".join(text.replace("&#x27;", "'").split())


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the collection built again."""
    folder = tmp_path_factory.mktemp("documents")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(SAMPLE / "build.py"), str(folder)], check=True, env=environment)
    return folder


def test_every_file_is_described_once_and_every_description_has_its_file() -> None:
    on_disk = {path.name for path in DOCUMENTS.iterdir()} - {"metadata.jsonl"}
    assert sorted(FILES) == sorted(on_disk)


def test_each_of_seven_languages_has_at_least_three_documents() -> None:
    languages = Counter(record["language"] for record in RECORDS)
    assert set(languages) == set(MARKS)
    assert min(languages.values()) >= 3


def test_at_least_ten_countries_speak_for_themselves() -> None:
    assert len({tuple(r["countries"]) for r in RECORDS if r["geographical_level"] == "National"}) >= 10


def test_every_geographical_level_is_there() -> None:
    assert {record["geographical_level"] for record in RECORDS} == set(TAXONOMY.labels("geographical_level"))


def test_formats_are_as_many_as_promised() -> None:
    formats = Counter(Path(file).suffix for file in FILES)
    assert formats.pop(".pdf") >= 15
    assert formats == {".docx": 3, ".pptx": 2, ".xlsx": 2, ".html": 3, ".md": 1, ".odt": 1}


def test_years_run_from_2009_to_2025() -> None:
    years = {record["year"] for record in RECORDS}
    assert (min(years), max(years)) == (2009, 2025)
    assert len(years) >= 10


def test_the_whole_is_small_enough_to_commit() -> None:
    assert sum(path.stat().st_size for path in DOCUMENTS.iterdir()) < 6_000_000


@pytest.mark.parametrize("record", RECORDS, ids=FILES)
def test_metadata_is_complete_and_in_the_vocabulary(record: dict[str, Any]) -> None:
    # Quality, further languages, and what ties versions and translations together, are found out and not given.
    found_out = {"work", "version", "superseded", "translation_of", "quality_score", "other_languages"}
    found_out |= {"identifiers", "in_force"}
    assert set(record) == {field.name for field in fields(Metadata)} - found_out | {"file"}
    assert all(value for key, value in record.items() if key != "countries")
    assert set(record["hazards"]) <= set(TAXONOMY.labels("hazards"))
    assert record["geographical_level"] in TAXONOMY.labels("geographical_level")
    assert record["document_type"] in set(TAXONOMY.labels("document_type")) - {"Other"}
    assert set(record["key_criteria"]) <= set(TAXONOMY.labels("key_criteria"))
    assert set(record["tags"]) <= set(TAXONOMY.labels("tags"))
    assert (record["geographical_level"] == "National") == (len(record["countries"]) == 1)
    assert date.fromisoformat(record["date"]).year == record["year"]
    assert 40 <= len(record["target"].split()) <= 50
    assert 100 <= len(record["description"].split()) <= 130
    assert record["licence"] == "CC0-1.0"


@pytest.mark.parametrize("record", [r for r in RECORDS if r["file"] != SCAN], ids=lambda record: record["file"])
def test_every_document_says_in_its_language_that_it_is_a_sample(record: dict[str, Any]) -> None:
    assert MARKS[record["language"]] in text_of(DOCUMENTS / record["file"])


@pytest.mark.parametrize(
    "record", [r for r in RECORDS if r["file"].endswith(".pdf")], ids=lambda record: record["file"]
)
def test_every_pdf_carries_its_title_and_author(record: dict[str, Any]) -> None:
    with pymupdf.open(DOCUMENTS / record["file"]) as pdf:
        assert (pdf.metadata["title"], pdf.metadata["author"]) == (record["title"], record["authority"])


def test_the_scan_has_two_pictures_and_no_text() -> None:
    with pymupdf.open(DOCUMENTS / SCAN) as pdf:
        assert [(page.get_text(), len(page.get_images())) for page in pdf] == [("", 1), ("", 1)]


@pytest.mark.parametrize("record", [r for r in RECORDS if r["language"] == "tr"], ids=lambda record: record["file"])
def test_turkish_letters_can_be_read_out_of_the_pdf_again(record: dict[str, Any]) -> None:
    text = text_of(DOCUMENTS / record["file"])
    assert set("çğıöşüİÖ") <= set(text)
    assert "�" not in text
    assert record["title"] in text


@pytest.mark.parametrize(
    ("stem", "words"),
    [
        ("de-deutschland-hochwasserschutzgesetz.pdf", "Überschwemmungsgebiet: ein Gebiet"),
        ("fr-france-plan-canicule.pdf", "près de 15 000 décès en excès"),
        ("pt-brasil-inundacoes.pdf", "não se escora com madeira verde"),
        ("es-espana-plan-calor.pdf", "«Si tiene más de 65 años"),
        ("it-italia-piano-caldo.pdf", "Il piano è attivo dal 20 maggio"),
    ],
)
def test_accented_letters_can_be_read_out_of_the_pdf_again(stem: str, words: str) -> None:
    assert words in text_of(DOCUMENTS / stem)


def test_at_least_three_pdfs_have_two_columns() -> None:
    middle = pymupdf.paper_rect("a4").width / 2
    two_columns = []
    for file in (file for file in FILES if file.endswith(".pdf")):
        with pymupdf.open(DOCUMENTS / file) as pdf:
            # The running title at the right is the only block beyond the middle where there is one column.
            if sum(block[0] > middle for block in pdf[0].get_text("blocks")) >= 3:
                two_columns.append(file)
    assert len(two_columns) >= 3


def test_the_contents_of_the_handbook_lead_to_the_right_pages() -> None:
    texts = pages(DOCUMENTS / HANDBOOK)
    lines = re.findall(r"^(\d\.\d .+?) \.{4,} (\d+)$", texts[0] + texts[1], flags=re.MULTILINE)
    assert len(lines) > 25
    assert [title for title, page in lines if title not in texts[int(page) - 1]] == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [("mould", "Mould"), ("groundwater", "groundwater"), ("salts", "Salts"), ("blue shield", "blue shield")],
)
def test_the_index_of_the_handbook_leads_to_the_right_pages(entry: str, words: str) -> None:
    texts = pages(DOCUMENTS / HANDBOOK)
    found = re.search(rf"^{entry}, (\d+)", texts[-1], flags=re.MULTILINE)
    assert found is not None
    assert words in texts[int(found.group(1)) - 1]


def test_the_index_of_the_handbook_has_ranges_and_references() -> None:
    index = pages(DOCUMENTS / HANDBOOK)[-1]
    assert re.search(r"\d+–\d+", index)
    assert "archives, see museum stores" in index
    assert "drying, see also freezing" in index


@pytest.mark.parametrize(
    "phrase", ["section 5(2)", "section 15", "Part 5 Heritage assets", '"heritage asset" means', "section 6(3)"]
)
def test_the_english_statute_defines_and_refers(phrase: str) -> None:
    assert phrase in text_of(DOCUMENTS / "en-uk-flood-resilience-act.pdf")


def test_the_german_statute_refers_by_paragraph_and_absatz() -> None:
    text = text_of(DOCUMENTS / "de-deutschland-hochwasserschutzgesetz.pdf")
    assert "entgegen § 6 Absatz 2" in text
    assert len(set(re.findall(r"§ \d+ [A-ZÄÖÜ]\w+", text))) >= 26


def test_web_pages_have_navigation_and_footer_around_an_article() -> None:
    for file in (file for file in FILES if file.endswith(".html")):
        page = lxml.html.fromstring((DOCUMENTS / file).read_bytes())
        assert [len(page.findall(f".//{tag}")) for tag in ("nav", "footer", "main/article")] == [1, 1, 1]


def test_building_again_gives_the_same_metadata_and_the_same_texts(rebuilt: Path) -> None:
    assert sorted(path.name for path in rebuilt.iterdir()) == sorted([*FILES, "metadata.jsonl"])
    assert (rebuilt / "metadata.jsonl").read_bytes() == (DOCUMENTS / "metadata.jsonl").read_bytes()
    assert [file for file in FILES if text_of(rebuilt / file) != text_of(DOCUMENTS / file)] == []
