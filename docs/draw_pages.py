"""Pictures of the pages for README and docs, taken in a browser over invented documents.

    python docs/draw_pages.py [WORKSPACE]

Without a workspace the invented samples are indexed into a temporary one; the Admin page is drawn over an invented list
of sources. Chromium has to be installed, and Ollama not running. The pictures have few colours, so that each stays
under 200 KB.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.page_server import serving
from ingestion.add_files import add_paths
from rag_engine.config import ROOT, read_config
from rag_engine.engine import open_engine
from tests.pages.sources import build_sources

IMAGES = Path(__file__).parent / "images"
QUESTION = "When must a local flood plan be replaced and reviewed?"
WORDS = "drought plan"
COLOURS = 128
SAMPLE = ROOT / "data" / "sample" / "documents"


def main() -> None:
    """Draw the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "workspace"
        if len(sys.argv) < 2:
            engine = open_engine(read_config(workspace))
            add_paths([SAMPLE], engine)
            engine.close()
        with _opened(workspace) as (page, address):
            for draw in (_draw_answer, _draw_search, _draw_document, _draw_library, _draw_coverage, _draw_comparison):
                draw(page, address)
        listed = Path(folder) / "listed"
        build_sources(listed)
        with _opened(listed) as (page, address):
            _draw_admin(page, address)


@contextmanager
def _opened(workspace: Path) -> Iterator[tuple[Page, str]]:
    """Yield a browser's page and the address at which the workspace is served."""
    with serving(SEXTANT_WORKSPACE=str(workspace)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        page.set_default_timeout(120_000)
        yield page, address
        browser.close()


def _draw_answer(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_test_id("stChatInputTextArea").fill(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_text("How this was found").wait_for()
    page.get_by_alt_text("with the passage marked").first.wait_for()
    _take(page, "ask")


def _draw_search(page: Page, address: str) -> None:
    page.goto(f"{address}/search?words={WORDS}")
    page.get_by_role("link", name="Open document").first.wait_for()
    _take(page, "search")


def _draw_document(page: Page, _address: str) -> None:
    """Draw the page of the document that is open in the search's first result."""
    page.get_by_role("link", name="Open document").first.click()
    page.get_by_role("button", name="Original file").wait_for()
    _take(page, "document")


def _draw_library(page: Page, address: str) -> None:
    page.goto(f"{address}/library")
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    page.get_by_test_id("stSkeleton").first.wait_for(state="detached")
    page.get_by_text("Years", exact=True).wait_for()
    _take(page, "library")


def _draw_coverage(page: Page, _address: str) -> None:
    page.get_by_role("tab", name="Coverage").click()
    page.get_by_role("heading", name="Map").wait_for()
    _take(page, "coverage")


def _draw_comparison(page: Page, address: str) -> None:
    """Compare what documents say to a question, and draw the table once all of them were asked."""
    page.goto(f"{address}/compare")
    page.get_by_text("Filters", exact=True).last.click()
    languages = page.locator("[class*='st-key-compare-language'] input")
    languages.fill("English")
    page.get_by_role("option", name="English").click()
    page.get_by_text("Filters (1 active)").wait_for()
    page.locator("textarea").first.fill("Who orders an evacuation?")
    page.get_by_role("heading", name="Compare").click()
    page.get_by_role("button", name="Start comparison").click()
    page.locator(".comparison").wait_for()
    page.get_by_text("not asked yet").wait_for(state="detached")
    _take(page, "compare")


def _draw_admin(page: Page, address: str) -> None:
    """Draw how far an invented list of sources is."""
    page.goto(f"{address}/admin?tab=run")
    page.get_by_text("Pipeline progress").wait_for()
    page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first.wait_for()
    _take(page, "admin")


def _take(page: Page, name: str) -> None:
    """Take a picture of a page that has come to rest."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_load_state("networkidle")
    drawn = Image.open(BytesIO(page.screenshot())).convert("RGB")
    drawn.quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    # A server that is named and does not answer would be an error in each picture.
    os.environ.pop("SEXTANT_OLLAMA_URL", None)
    main()
