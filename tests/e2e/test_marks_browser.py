"""Marks of an answer, and addresses that lead to a source as a mark does, in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rag_engine.config import read_config
from rag_engine.conversations import store
from rag_engine.engine import open_engine
from tests.e2e.conftest import serving
from tests.e2e.test_browser import QUESTION
from tests.pages.conversations import citing_two, converse
from tests.pages.test_citing import ARTICLE
from tests.rag_engine.conversations.test_store import REPLY

pytestmark = pytest.mark.needs("chromium")


def test_a_mark_shows_what_it_quotes_and_changes_the_page_beside_the_answer(
    page: Page, address: str, workspace: Path
) -> None:
    page.goto(f"{address}/?conversation={converse(workspace, citing_two(workspace)).id}")
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_in_viewport()
    second = page.locator("p a[href='#answer-0-source-2']")
    expect(second).to_have_attribute("title", re.compile("^Piano caldo: .*tre giorni"))

    second.click()

    expect(page.get_by_alt_text("Page of Piano caldo with the passage marked")).to_be_in_viewport()
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_have_count(0)


def test_a_mark_of_an_earlier_answer_shows_what_it_quotes_and_opens_its_source(
    page: Page, address: str, workspace: Path
) -> None:
    reply = citing_two(workspace)
    page.goto(f"{address}/?conversation={converse(workspace, reply, reply).id}")
    mark = page.locator("p a[href='#answer-0-source-2']")
    expect(mark).to_have_attribute("title", re.compile("^Piano caldo: .*tre giorni"))
    expect(mark).to_have_accessible_name(re.compile("^Source 2: Piano caldo"))
    expect(page.locator("h3[id='answer-0-source-2']")).to_have_count(0)
    shown = page.locator(".st-key-answer-0-source-2").get_by_alt_text("Page of Piano caldo with the passage marked")

    mark.click()

    expect(shown).to_be_in_viewport(ratio=0.3)
    # Open by now, and scrolled away from.
    page.locator("p a[href='#answer-0-source-1']").click()
    other = page.locator(".st-key-answer-0-source-1").get_by_alt_text("Page of Flood Act with the passage marked")
    expect(other).to_be_in_viewport(ratio=0.3)
    # Shown by now: a second click leaves it so.
    mark.click()
    expect(shown).to_be_in_viewport(ratio=0.3)


def test_an_address_leads_to_a_source_as_a_mark_clicked_early_does(page: Page, address: str, workspace: Path) -> None:
    reply = citing_two(workspace)
    asked = f"{address}/?conversation={converse(workspace, reply, reply).id}"
    page.goto(f"{asked}#answer-0-source-2")

    shown = page.locator(".st-key-answer-0-source-2").get_by_alt_text("Page of Piano caldo with the passage marked")
    expect(shown).to_be_in_viewport(ratio=0.3)
    assert page.url == asked


@pytest.mark.parametrize("by", ["click", "link"])
def test_a_page_that_is_not_drawn_to_its_end_leaves_a_source_where_it_was_led_to(
    page: Page, workspace: Path, tmp_path: Path, by: str
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    id = converse(workspace, citing_two(workspace)).id
    source = page.locator("h3[id='answer-0-source-2']")
    with serving(workspace, tmp_path / "log", SLOW_PAGES="0.15") as address:
        page.goto(f"{address}/?conversation={id}{'#answer-0-source-2' if by == 'link' else ''}")
        if by == "click":
            expect(source).to_be_attached()
            page.locator("p a[href='#answer-0-source-2']").click()
        expect(source).to_be_in_viewport()

        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        page.wait_for_load_state("networkidle")
        assert source.evaluate("shown => shown.getBoundingClientRect().top") < 400


def test_a_mark_shows_its_page_where_the_latest_answer_is_a_refusal(page: Page, address: str, workspace: Path) -> None:
    refused = replace(REPLY, status="insufficient_evidence", citations=())
    page.goto(f"{address}/?conversation={converse(workspace, citing_two(workspace), refused).id}")
    page.wait_for_function("Boolean(window.sextantMarks)")

    page.locator("p a[href='#answer-0-source-1']").click()

    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_in_viewport(ratio=0.3)


def test_a_source_is_reached_by_its_mark_where_there_is_no_room_beside_the_answer(
    page: Page, address: str, workspace: Path
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{address}/?conversation={converse(workspace, citing_two(workspace)).id}")

    source = page.locator("h3[id='answer-0-source-2']")
    expect(source).to_be_attached()
    page.locator("p a[href='#answer-0-source-2']").click()

    expect(source).to_be_in_viewport()
    expect(page.get_by_alt_text("Page of Piano caldo with the passage marked")).to_be_visible()
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_hidden()


def test_what_a_passage_refers_to_opens_beside_it_with_its_page(page: Page, address: str, workspace: Path) -> None:
    engine = open_engine(read_config(workspace))
    [document] = [one for one in engine.collection.documents() if one.file == "flood-act.txt"]
    engine.close()
    linked = tuple(replace(one, document_id=document.document_id) for one in ARTICLE.linked)
    source = replace(ARTICLE, document_id=document.document_id, linked=linked)
    id = store.new_id()
    begun = store.begin_turn(workspace, id, QUESTION)
    store.end_turn(workspace, begun, replace(REPLY, sources=(source,), citations=()))
    page.goto(f"{address}/?conversation={id}")
    page.get_by_text("1 passage found").click()

    expect(page.get_by_text("Article 9 (3) · Flood Directive")).to_be_visible()
    page.get_by_text("Why this source").click()
    expect(page.get_by_text("Listed in the index under “maps, publication of”")).to_be_visible()
    expect(page.get_by_text("Definitions for this Act.")).to_be_hidden()
    page.get_by_role("button", name="Refers to Article 2").click()
    expect(page.get_by_text("Definitions for this Act.")).to_be_visible()
    page.get_by_text("Show its page").click()

    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()
