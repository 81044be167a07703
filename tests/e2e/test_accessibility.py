"""Every page, light and dark, for people who do not see it, do not use a mouse, or need contrast."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.checks import PHONE, fits_a_phone, has_no_violation, settle
from tests.e2e.conftest import serving
from tests.e2e.test_browser import QUESTION, ask
from tests.e2e.views import VIEWS, build_views, open_comparison

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server answers over a workspace with something on every page."""
    folder = tmp_path_factory.mktemp("accessible")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
        workspace = build_views(folder)
        with serving(workspace, folder / "log", SEXTANT_USER="Ada Lovelace") as address:
            yield address


def _answered(page: Page, address: str) -> None:
    page.goto(address)
    ask(page, QUESTION)
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()


# Each view twice: beside its sidebar in the light, and on a phone in the dark.
_SCREENS: tuple[tuple[Literal["light", "dark"], int, int], ...] = (("light", 1280, 800), ("dark", *PHONE))


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_a_title_fits_and_has_no_violation(page: Page, full: str, view: str) -> None:
    VIEWS[view](page, full)
    for scheme, width, height in _SCREENS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        settle(page)

        has_no_violation(page)
        if width == PHONE[0]:
            fits_a_phone(page)


def test_the_sidebar_has_no_violation_in_the_dark(page: Page, full: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(full)
    settle(page)

    has_no_violation(page)


# What is under the middle of the first line of the title: an open sidebar would lie over it.
_ON_TITLE = """title => {
  const [line] = title.getClientRects();
  return title.contains(document.elementFromPoint(line.left + line.width / 2, line.top + line.height / 2));
}"""


def test_the_question_is_reached_within_six_tabs_and_every_stop_is_seen(page: Page, full: str) -> None:
    page.goto(full)
    settle(page)
    question = page.get_by_test_id("stChatInputTextArea")
    skip = page.get_by_role("link", name="Skip to the question")
    # The link is put in once the question is drawn: a key before that finds a page without either.
    expect(skip).to_be_attached()

    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_be_focused()

    page.reload()
    settle(page)
    expect(skip).to_be_attached()
    unseen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        if not page.evaluate(_SEEN):
            unseen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
        if question.evaluate("question => question === document.activeElement"):
            break
    expect(question).to_be_focused()
    assert not unseen


# An outline or a shadow around what has the focus, or around what holds it.
_SEEN = """() => {
  for (let part = document.activeElement, up = 0; part && up < 6; part = part.parentElement, up++) {
    const style = getComputedStyle(part);
    if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) return true;
    if (style.boxShadow !== "none") return true;
  }
  return false;
}"""


def test_an_answer_is_read_out_when_it_is_there(page: Page, full: str) -> None:
    _answered(page, full)

    expect(page.get_by_role("status").filter(has_text="remains valid for six years")).to_be_attached()


def test_a_mark_is_named_after_its_source(page: Page, full: str) -> None:
    _answered(page, full)

    expect(page.get_by_role("link", name=re.compile("^Source 1: Flood Act")).first).to_be_visible()


def test_a_foreign_quotation_says_its_language(page: Page, full: str) -> None:
    page.goto(f"{full}/search?words=allerta")

    expect(page.locator("[lang=it]").filter(has_text="allerta").first).to_be_visible()


def test_a_foreign_quote_of_an_answer_says_its_language(page: Page, full: str) -> None:
    VIEWS["Ask, answered"](page, full)

    expect(page.locator("[lang=it]").filter(has_text="Durante le ondate di calore").first).to_be_visible()


def test_a_foreign_quote_in_the_notebook_says_its_language(page: Page, full: str) -> None:
    page.goto(f"{full}/search?words=allerta")
    document = page.locator("[class*='st-key-found-']").filter(has_text="allerta")
    document.get_by_role("button", name="Add to notebook").first.click()
    expect(page.get_by_text("Added to the notebook Evidence.")).to_be_visible()
    page.get_by_role("link", name="Notebook").click()

    expect(page.locator("blockquote").filter(has_text="allerta").first).to_be_visible()
    expect(page.locator("[lang=it]").filter(has_text="allerta").first).to_be_visible()


def test_a_foreign_cell_of_a_comparison_says_its_language(browser: Browser, full: str) -> None:
    with browser.new_context(locale="fr-FR") as context:
        page = context.new_page()
        open_comparison(page, full)
        cell = page.locator(".comparison [lang=en]").first
        expect(cell).to_be_visible()
        cell.click()
        expect(page.get_by_role("dialog").locator("[lang=en]").first).to_be_visible()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server answers over an empty workspace."""
    folder: Path = tmp_path_factory.mktemp("nothing")
    with serving(folder / "workspace", folder / "log") as address:
        yield address


@pytest.mark.parametrize(
    "path", ["", "search", "library", "compare", "notebook", "evaluation", "admin", "admin?tab=backups"]
)
def test_pages_without_documents_can_be_read_on_a_phone(page: Page, empty: str, path: str) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(f"{empty}/{path}")
    settle(page)

    title = page.locator("h1")
    expect(title).to_be_in_viewport()
    assert title.evaluate(_ON_TITLE)
    fits_a_phone(page)
