"""Answers and searches name a page as it is printed, and its sheet."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from rag_engine.viewer.address import DocumentPlace
from tests.cli.test_main import run, run_json
from tests.ingestion.documents import drawing

_RULES = (
    "The harbour master closes the gate when the water reaches four metres at the gauge of Corrin.",
    "Farmers are paid 120 euros for each hectare of meadow that is flooded on purpose in spring.",
    "The weir at Tarn is opened by two wardens who turn its wheel together after a storm.",
    "Bakers keep forty sacks of flour dry in the tower of the town for the days of a flood.",
)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a collection of a handbook whose page 1 is its fourth sheet, and of a web page."""
    folder = tmp_path_factory.mktemp("printed")
    with drawing(folder / "handbook.pdf") as document:
        for sheet in range(1, 8):
            page = document.new_page()
            text = _RULES[sheet - 4] * 6 if sheet > 3 else "Handbook of the River Authority"
            page.insert_textbox((72, 120, 520, 700), text, fontsize=11)
            page.insert_text((290, 800), str(sheet - 3) if sheet > 3 else "", fontsize=9)
    (folder / "boats.html").write_text(
        "<html lang='en'><title>Boats</title><main><h1>Boats</h1><p>Every boat on the lake carries two lanterns from "
        "dusk to dawn, one at each end of it.</p></main></html>",
        encoding="utf-8",
    )
    added = run("add", folder, "-w", folder / "workspace")
    assert added.exit_code == 0, added.output
    return folder / "workspace"


def shown(*words: object) -> str:
    return " ".join(run(*words).output.split())


def test_an_answer_cites_the_printed_page_and_its_sheet(collection: Path) -> None:
    asked = "How much are farmers paid for a flooded hectare?"
    assert re.search(r"pp?\. [\d–, ]+ \(sheets? [\d–, ]+\)", shown("ask", asked, "-w", collection))
    reply = run_json("ask", "ask", asked, "-w", collection)
    [citation] = [one for one in reply["citations"] if "120 euros" in one["quote"]][:1]
    assert (citation["page"], citation["page_label"]) == (5, "2")
    place = DocumentPlace(citation["document_id"], citation["page"])
    assert place.parameters()["page"] == "5"


def test_a_search_and_its_export_name_the_printed_page(collection: Path, tmp_path: Path) -> None:
    words = ("search", "wardens turn the wheel of the weir", "-w", collection)
    assert "(sheet " in shown(*words)
    hit = run_json("search", *words)["hits"][0]
    assert hit["page_label"] == ("" if hit["page"] < 4 else str(hit["page"] - 3))
    run(*words, "--words-only", "--export", tmp_path / "found.csv")
    with (tmp_path / "found.csv").open(encoding="utf-8-sig", newline="") as file:
        pages = [row["Page"] for row in csv.DictReader(file)]
    assert all("sheet" in page for page in pages)
    assert pages


def test_a_web_page_is_cited_without_a_page(collection: Path) -> None:
    answer = shown("ask", "How many lanterns does a boat carry?", "-w", collection)
    assert "two lanterns" in answer
    assert not re.search(r"\bp(?:age|\.) ?1\b", answer.partition("[Source 1] ")[2])
    assert run_json("ask", "ask", "How many lanterns does a boat carry?", "-w", collection)["citations"][0]["page"] == 1
