"""The Search page in a browser: words, filters, links that reproduce it, documents and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.needs("chromium")


def test_a_search_is_narrowed_opened_and_found_again(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(f"{address}/search")
    words = page.get_by_placeholder("Key words")
    words.fill("plan")
    words.press("Enter")
    expect(page.get_by_text("contains all of these words")).to_be_visible()
    expect(page.get_by_text(re.compile("^[123] of 3 documents match"))).to_be_visible()

    page.get_by_text("Ireland (1)", exact=True).click()
    expect(page).to_have_url(re.compile(r"words=plan&country=Ireland$"))
    expect(page.get_by_text("1 of 3 documents match", exact=True)).to_be_visible()
    expect(page.get_by_text("Piano caldo")).to_have_count(0)

    page.reload()
    expect(page.get_by_placeholder("Key words")).to_have_value("plan")
    expect(page.get_by_text("Flood Act", exact=True)).to_be_visible()

    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    path = tmp_path / "found.csv"
    download.value.save_as(path)
    assert f"{address}/document?document=" in path.read_text(encoding="utf-8-sig")
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Open document").first.click()
    expect(page).to_have_url(re.compile(r"/document\?document=\w+&page=1&passage="))
    page.go_back()
    expect(page.get_by_placeholder("Key words")).to_have_value("plan")
    expect(page.get_by_text("1 of 3 documents match", exact=True)).to_be_visible()


def test_a_text_that_is_too_long_for_its_field_does_not_vanish_without_a_word(page: Page, address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{address}/search")
    words = page.get_by_placeholder("Key words")
    words.fill("plan")
    told = page.get_by_text("The pasted text was not taken: this field holds at most 1,000 characters.")

    page.evaluate("navigator.clipboard.writeText('flood '.repeat(200))")
    words.press("Control+v")
    expect(told).to_be_visible()
    expect(words).to_have_value("plan")

    page.evaluate("navigator.clipboard.writeText(' for floods')")
    words.press("Control+v")
    expect(words).to_have_value("plan for floods")
    expect(told).to_have_count(0)
    words.press("Enter")
    expect(page).to_have_url(re.compile(r"words=plan"))


def test_a_text_that_is_pasted_before_the_page_has_its_words_does_not_vanish_either(page: Page, address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{address}/search")
    words = page.get_by_placeholder("Key words")
    words.fill("plan")
    page.wait_for_function("window.sextantWords")
    page.evaluate("navigator.clipboard.writeText('flood '.repeat(200)); window.given = window.sextantWords")
    page.evaluate("delete window.sextantWords")

    page.clock.install()
    words.press("Control+v")
    # Longer than the page waits before it tells.
    page.clock.run_for(500)
    page.evaluate("window.sextantWords = window.given")
    page.clock.run_for(500)

    expect(page.get_by_text("this field holds at most 1,000 characters.")).to_be_visible()
