"""A document is read in a real browser: its words are selected, found and followed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pymupdf
import pytest
from playwright.sync_api import Page, expect

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from tests.e2e.conftest import serving

pytestmark = pytest.mark.needs("chromium")

_RULES = (
    ("Dyke Act", "This act protects the land behind the dykes."),
    ("Section 1 Definitions", "A dyke is a wall of earth that keeps the water of a river off the land."),
    ("Section 2 Maps", "The authority draws a map of every dyke as defined in Section 1 and reviews it yearly."),
    ("Section 3 Shares", "Owners of land behind the wall pay what the assembly of the district sets each spring."),
)


@pytest.fixture(scope="module")
def document_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a document of four pages, each with a section."""
    folder = tmp_path_factory.mktemp("reading")
    with pymupdf.open() as act:
        for heading, rule in _RULES:
            page = act.new_page()
            page.insert_text((72, 90), heading, fontsize=16, fontname="hebo")
            for row in range(8):
                page.insert_text((72, 130 + 20 * row), rule)
        act.save(folder / "act.pdf")
    engine = open_engine(read_config(folder / "workspace"))
    [added] = add_paths([folder / "act.pdf"], engine)
    [document] = engine.collection.documents()
    engine.close()
    assert added.status == "indexed", added.reason
    with serving(folder / "workspace", folder / "log") as address:
        yield f"{address}/document?document={document.document_id}"


def test_the_words_of_a_drawn_page_can_be_selected_where_they_are(page: Page, document_address: str) -> None:
    page.goto(f"{document_address}&page=2")
    expect(page.get_by_alt_text("Page 2 of")).to_be_visible()
    first, second = page.locator(".line").nth(1), page.locator(".line").nth(2)
    expect(second).to_have_css("transform", re.compile("matrix"))
    one, other = first.bounding_box(), second.bounding_box()
    assert one is not None
    assert other is not None

    page.mouse.move(one["x"] + 1, one["y"] + one["height"] / 2)
    page.mouse.down()
    page.mouse.move(other["x"] + other["width"] - 1, other["y"] + other["height"] / 2, steps=5)
    page.mouse.up()

    assert page.evaluate("getSelection().toString().trim()") == f"{_RULES[1][1]}\n{_RULES[1][1]}"
    shown = page.get_by_alt_text("Page 2 of").bounding_box()
    assert shown is not None
    # As wide as it is printed: its share of the page, to a pixel.
    printed = pymupdf.get_text_length(_RULES[1][1], fontsize=11) / 595 * shown["width"]
    assert abs(one["width"] - printed) < 1.5


def test_pages_are_turned_words_found_and_references_followed(page: Page, document_address: str) -> None:
    page.goto(document_address)
    expect(page.get_by_alt_text("Page 1 of")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_alt_text("Page 2 of")).to_be_visible()

    page.get_by_text("Find", exact=True).click()
    page.get_by_label("Find in this document").fill("ASSEMBLY of the district")
    page.keyboard.press("Enter")
    page.get_by_role("list", name="Results").get_by_role("link").first.click()
    expect(page.get_by_alt_text("Page 4 of")).to_be_visible()
    expect(page).to_have_url(re.compile(r"page=4&passage=\d+-\d+"))

    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_alt_text("Page 3 of")).to_be_visible()
    page.get_by_role("link", name="Refers to Section 1").first.click()
    expect(page.get_by_alt_text("Page 2 of")).to_be_visible()
    page.go_back()
    expect(page.get_by_alt_text("Page 3 of")).to_be_visible()


def test_a_document_can_be_read_on_a_narrow_screen(page: Page, document_address: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(document_address)

    picture = page.get_by_alt_text("Page 1 of")
    expect(picture).to_be_in_viewport()
    expect(page.get_by_role("list", name="Contents")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
