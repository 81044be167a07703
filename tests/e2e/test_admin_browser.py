"""An administrator's work on the list of sources, in a real browser with a real worker."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Dialog, Page, expect

from ingestion import workspace as folders
from tests.e2e.conftest import serving
from tests.pages.sources import build_sources

pytestmark = pytest.mark.needs("chromium")

PLAN = (
    "Heat plan of the town of Esempio\n\nThis work is licensed under the Creative Commons Attribution 4.0 "
    "International License (CC BY 4.0).\n\nDuring a heatwave the town opens cool rooms in every district. "
    "Volunteers ring older people who live alone twice a day. The alert ends when the night temperature "
    "falls below twenty degrees. "
    "Schools close at noon while the red alert lasts. The mayor reports to the council after every summer.\n\n"
) * 2


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server answers over sources in every state."""
    workspace = tmp_path_factory.mktemp("admin") / "workspace"
    build_sources(workspace)
    with serving(workspace, workspace.parent / "log", SEXTANT_USER="Ada Lovelace") as address:
        yield f"{address}/admin"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Where a server answers over an empty workspace, and that workspace."""
    workspace = tmp_path_factory.mktemp("own") / "workspace"
    with serving(workspace, workspace.parent / "log", SEXTANT_USER="Ada Lovelace") as address:
        yield f"{address}/admin", workspace


def test_a_seed_workbook_is_looked_at_before_its_rows_are_added(page: Page, admin: str, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (
        ("Code", "URL", "Title"),
        ("SEED1", "https://example.net/a.pdf", "Storm plan"),
        ("SEED2", "https://example.net/b.pdf", "Drought plan"),
        ("SEED3", "ask the office", "No address"),
        ("ADM001", "https://example.org/ADM001.pdf", "Known"),
    ):
        sheet.append(row)
    book.save(tmp_path / "seeds.xlsx")
    page.goto(f"{admin}?tab=sources")
    expect(page.get_by_text("25 of 25 sources")).to_be_visible()
    page.get_by_text("Add sources").click()

    page.locator("input[type=file]").first.set_input_files(tmp_path / "seeds.xlsx")
    expect(page.get_by_text("1 row refused")).to_be_visible()
    expect(page.get_by_text("25 of 25 sources")).to_be_visible()
    page.get_by_role("button", name="Add 2 sources").click()

    expect(page.get_by_text("2 sources added.")).to_be_visible()
    expect(page.get_by_text("27 of 27 sources")).to_be_visible()
    page.get_by_label("Search the list").fill("SEED2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 27 sources")).to_be_visible()
    rows = page.locator(".st-key-source-list").get_by_test_id("data-grid-canvas")
    # The heading and the one row that is left.
    expect(rows).to_have_css("height", "72px")
    rows.click(position={"x": 16, "y": 52}, force=True)
    page.get_by_role("button", name="Correct the address").click()
    page.get_by_role("dialog").get_by_label("Address of SEED2").fill("nowhere")
    page.get_by_role("dialog").get_by_role("button", name="Correct", exact=True).click()
    expect(page.get_by_text("“nowhere” is not one web address.")).to_be_visible()
    page.get_by_role("dialog").get_by_label("Address of SEED2").fill("www.example.net/right.pdf")
    page.get_by_role("dialog").get_by_role("button", name="Correct", exact=True).click()
    expect(page.locator(".st-key-source").get_by_text("http://www.example.net/right.pdf").first).to_be_visible()
    page.get_by_role("button", name="Remove selected").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("of 26 sources")).to_be_visible()

    page.get_by_role("button", name="Go to Run").click()
    expect(page.get_by_text("Pipeline progress")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Pipeline progress")).to_be_visible()


def test_a_run_waits_pauses_goes_on_and_is_cancelled(page: Page, admin: str, own: tuple[str, Path]) -> None:
    del admin
    address, workspace = own
    put_on_list(page, address, "heat-plan.txt", PLAN)
    with ExitStack() as held:
        # As while a worker is busy with something long: what is asked for now has to wait.
        held.enter_context(folders.work_lock(workspace))
        page.goto(f"{address}?tab=run")
        page.get_by_role("button", name="Run all phases").click()
        expect(page.get_by_text("Run all phases for everything new or changed.")).to_be_visible()
        expect(page.get_by_text("· waiting")).to_be_visible()

        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("· paused")).to_be_visible()
        page.reload()
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("· waiting")).to_be_visible()

        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("· cancelled")).to_be_visible()


def test_words_are_said_back_before_a_worker_does_what_they_ask(page: Page, own: tuple[str, Path]) -> None:
    address, _ = own
    put_on_list(page, address, "cool-rooms.txt", PLAN.replace("Esempio", "Prova"))
    page.goto(f"{address}?tab=run")

    page.get_by_label("Or describe what to run").fill("check the licences of the new rows")
    page.get_by_role("button", name="Interpret").click()
    expect(page.get_by_text("Run the phase licence for everything new or changed.")).to_be_visible()
    expect(page.get_by_text("Nothing has been started.")).to_be_visible()
    page.get_by_role("button", name="Confirm").click()

    expect(page.get_by_text("· done")).to_be_visible()
    page.goto(f"{address}?tab=sources&source=SOURCES001")
    expect(page.get_by_text("CC BY 4.0").first).to_be_visible()


def test_a_licence_is_decided_with_a_reason_and_the_decision_is_undone(page: Page, admin: str) -> None:
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.goto(f"{admin}?tab=review")
    card = page.locator(".st-key-review-REV004")
    expect(card.get_by_text("© 2020. All rights reserved.")).to_be_visible()
    expect(page.locator("a[href*=evil], img[src*=evil], .katex")).to_have_count(0)

    card.get_by_role("button", name="Approve").click()
    expect(card.get_by_text("needs a reason")).to_be_visible()
    card.get_by_label("Reason").fill("The agency allows it by mail.")
    card.get_by_role("button", name="Approve").click()

    decided = page.locator(".st-key-decided-REV004")
    expect(decided.get_by_text("The agency allows it by mail.")).to_be_visible()
    expect(card).to_have_count(0)
    decided.get_by_role("button", name="Undo").click()
    expect(card).to_be_visible()
    assert dialogs == []


def test_what_was_rejected_is_restored_with_a_note(page: Page, admin: str) -> None:
    page.goto(f"{admin}?tab=quarantine")
    card = page.locator(".st-key-quarantine-QUA001")
    expect(card.get_by_text("It has 2 pages; the least is 4.")).to_be_visible()
    expect(page.locator(".st-key-quarantine-QUA003").get_by_text("Kept instead")).to_be_visible()
    with page.expect_download() as downloading:
        card.get_by_role("button", name="File").click()
    assert downloading.value.path().read_bytes() == b"%PDF-1.4 QUA001"

    card.get_by_label("Why it belongs").fill("It is the law in force.")
    card.get_by_role("button", name="Restore").click()

    expect(page.locator(".st-key-restored-QUA001").get_by_text("It is the law in force.")).to_be_visible()


def test_a_field_is_corrected_in_the_grid_and_beside_it(page: Page, admin: str) -> None:
    page.goto(f"{admin}?tab=metadata")
    expect(page.get_by_text("8 of 8 documents")).to_be_visible()
    # Drawn after the grid, which does not move any more then.
    expect(page.locator(".st-key-values").get_by_role("button", name="Save correction")).to_be_visible()
    page.get_by_test_id("data-grid-canvas").first.dblclick(position={"x": 300, "y": 52}, force=True)
    cell = page.locator("textarea.gdg-input")
    expect(cell).to_have_value("Flood risk management plan")
    cell.fill("Flood plan of the region")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Save 1 correction").click()
    expect(page.get_by_text("1 correction saved.")).to_be_visible()
    expect(page.locator(".st-key-values").get_by_text("Flood plan of the region").last).to_be_visible()
    expect(page.get_by_text("Corrected by Ada Lovelace")).to_be_visible()

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Corrected by Ada Lovelace")).to_have_count(0)
    # A click on a form that is still being drawn may meet the form before it.
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")

    page.get_by_label("Correct value").fill("Flood plan, second try")
    page.get_by_role("button", name="Save correction", exact=True).click()
    expect(page.get_by_text("Corrected by Ada Lovelace")).to_be_visible()


def test_the_dataset_is_taken_away_and_its_edited_workbook_taken_back(page: Page, admin: str, tmp_path: Path) -> None:
    page.goto(f"{admin}?tab=dataset")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Excel workbook").click()
    downloading.value.save_as(tmp_path / "dataset.xlsx")
    book = openpyxl.load_workbook(tmp_path / "dataset.xlsx")
    sheet = book["Dataset"]
    headings = [cell.value for cell in sheet[1]]
    row = next(row for row in sheet.iter_rows(min_row=2) if row[0].value == "ADM002")
    row[headings.index("Issuing Authority")].value = "Health Service Executive"
    book.save(tmp_path / "edited.xlsx")

    page.locator("input[type=file]").first.set_input_files(tmp_path / "edited.xlsx")
    expect(page.get_by_text("1 value changed")).to_be_visible()
    page.get_by_role("button", name="Apply 1 correction").click()

    expect(page.get_by_text("1 correction applied.")).to_be_visible()


def put_on_list(page: Page, address: str, name: str, text: str) -> None:
    """Put the text on the list as a document of the person's own."""
    page.goto(f"{address}?tab=sources")
    expander = page.locator(".st-key-add-sources")
    expect(expander.locator("details")).to_be_visible()
    # Not by what it shows: that may be on its way, and a click would then close it.
    if not expander.locator("details[open]").count():
        expander.get_by_text("Add sources").click()
    expander.get_by_role("tab", name="Documents").click()
    expander.locator("input[type=file]").nth(1).set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Add document").click()
    expect(page.get_by_text("1 source added.")).to_be_visible()


def test_a_backup_is_made_on_a_phone_and_taken_away(page: Page, admin: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{admin}?tab=backups")
    page.get_by_role("button", name="Make a backup").click()
    button = page.get_by_role("button", name="Download workspace-")
    expect(button).to_be_visible()
    with page.expect_download() as taken:
        button.click()
    assert taken.value.suggested_filename.endswith(".zip")
    with zipfile.ZipFile(taken.value.path()) as archive:
        assert "catalog.sqlite" in archive.namelist()
