"""Picture of an answer for the README, taken in a browser over the sample.

    python docs/draw_pages.py [WORKSPACE]

Without a workspace the sample is indexed into a temporary one. Chromium has to be installed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.answers.page_times import NO_MODEL
from benchmarks.page_server import serving
from ingestion.add_files import add_paths
from rag_engine.config import ROOT, read_config
from rag_engine.engine import open_engine

IMAGES = Path(__file__).parent / "images"
QUESTION = "When must a local flood plan be replaced and reviewed?"
SAMPLE = ROOT / "data" / "sample" / "documents"


def main() -> None:
    """Draw the picture of an answer."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "workspace"
        if len(sys.argv) < 2:
            engine = open_engine(read_config(workspace))
            add_paths([SAMPLE], engine)
            engine.close()
        server = serving(SEXTANT_WORKSPACE=str(workspace), SEXTANT_OLLAMA_URL=NO_MODEL)
        with server as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
            page.set_default_timeout(120_000)
            _draw_answer(page, address)
            browser.close()


def _draw_answer(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_test_id("stChatInputTextArea").fill(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_text("How this was found").wait_for()
    page.get_by_alt_text("with the passage marked").first.wait_for()
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=IMAGES / "ask.png")


if __name__ == "__main__":
    os.environ.setdefault("SEXTANT_OLLAMA_URL", NO_MODEL)
    main()
