"""Documents are compared in a real browser: a cell of the table opens, its quote leads to its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from ingestion.acts.comparisons import ask_comparison, begin_comparison
from ingestion.acts.context import open_context
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import open_engine
from tests.e2e.conftest import serving
from tests.pages.collection import build_collection

pytestmark = pytest.mark.needs("chromium")
WHO = "What must a county council prepare?"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a comparison of three documents, asked already."""
    folder = tmp_path_factory.mktemp("comparing")
    build_collection(folder / "workspace", folder / "documents")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
        compared = compare(folder / "workspace")
    with serving(folder / "workspace", folder / "log") as address:
        yield f"{address}/compare?comparison={compared}"


def compare(workspace: Path) -> str:
    """Have three documents compared by two questions; return the comparison's id."""
    engine = open_engine(read_config(workspace))
    context = replace(open_context(engine, LOCAL), start_worker=lambda _: None)
    begun = begin_comparison(context, [WHO, "Who pays a penalty?"], "document", {})
    ask_comparison(context, begun.id)
    work(engine)
    engine.close()
    return begun.id


def test_a_cell_opens_and_its_quote_leads_to_its_place_and_back(page: Page, table: str) -> None:
    page.goto(table)
    cell = page.get_by_role("button", name=f"{WHO} Flood Act")
    expect(cell).to_contain_text("Each county council must prepare a local flood plan")
    cell.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Parliament of Ireland, Flood Act, 2016")
    expect(page).to_have_url(re.compile(r"&cell=0\.\d"))
    dialog.get_by_role("link", name="Open document").first.click()
    expect(page).to_have_url(re.compile(r"/document\?document=.*&page=1&passage=\d+-\d+"))
    page.go_back()
    expect(page.get_by_role("dialog")).to_contain_text(WHO)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("cell="))


def test_a_cell_is_corrected_by_hand_and_that_is_taken_back(page: Page, table: str) -> None:
    page.goto(table)
    cell = page.get_by_role("button", name=f"{WHO} Flood Act")
    cell.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Your name").fill("Ada")
    dialog.get_by_role("textbox", name="Note").fill("shorter")
    dialog.get_by_text("Correct", exact=True).click()
    page.get_by_role("textbox", name="Correct answer").fill("A local flood plan.")
    page.get_by_role("button", name="Save correction").click()
    expect(dialog).to_contain_text("Corrected")
    expect(dialog).to_contain_text("Note: shorter")
    page.keyboard.press("Escape")
    expect(cell).to_contain_text("Corrected · Ada")
    expect(cell).to_contain_text("A local flood plan.")
    cell.click()
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_role("button", name="Accept")).to_be_visible()
    page.keyboard.press("Escape")
    expect(cell).to_contain_text("Each county council must prepare a local flood plan")


def test_the_comparison_is_taken_away_as_a_workbook(page: Page, table: str, tmp_path: Path) -> None:
    page.goto(table)
    with page.expect_download() as begun:
        page.get_by_role("button", name="Excel workbook").click()
    begun.value.save_as(tmp_path / "comparison.xlsx")

    book = openpyxl.load_workbook(tmp_path / "comparison.xlsx")
    assert begun.value.suggested_filename.endswith(".xlsx")
    told = [str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row if cell]
    assert WHO in told
    assert any("Each county council must prepare a local flood plan" in one for one in told)
    assert any(one.startswith(table.partition("/compare")[0]) for one in told)


def test_a_cell_is_asked_again_by_a_run_that_the_table_follows(page: Page, table: str) -> None:
    page.goto(table)
    page.get_by_role("button", name=f"{WHO} Flood Act").click()
    page.get_by_role("dialog").get_by_role("button", name="Ask again").click()
    run = page.get_by_text(f"Comparing: {WHO}")
    expect(run).to_be_visible()
    expect(page.get_by_text("Asking again …")).to_be_visible()
    # A worker starts for it, with its models.
    expect(run).to_have_count(0, timeout=180_000)
    expect(page.get_by_text("Asking again …")).to_have_count(0)
    expect(page.get_by_role("button", name=f"{WHO} Flood Act")).to_contain_text("Each county council must prepare")


def test_on_a_narrow_screen_the_table_scrolls_and_the_page_does_not(page: Page, table: str) -> None:
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto(table)
    frame = page.get_by_role("region", name=WHO)
    question = frame.get_by_role("rowheader", name=WHO)
    expect(question).to_be_visible()
    place = question.bounding_box()
    frame.evaluate("frame => { frame.scrollLeft = 300; }")
    # The question stays where it is beside the cells that pass it.
    assert question.bounding_box() == place
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
