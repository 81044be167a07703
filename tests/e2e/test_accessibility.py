"""Every page, light and dark, for people who do not see it, do not use a mouse, or need contrast."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import serving
from tests.e2e.test_browser import QUESTION, ask
from tests.e2e.test_compare_browser import _compare
from tests.pages.collection import build_collection
from tests.pages.sources import build_sources

pytestmark = pytest.mark.needs("chromium")

# (rule of axe, what it finds): inside Streamlit's own markup, where no theme, style or attribute of ours cures it.
STREAMLIT = {
    # The drop zone of the file uploader has a name and no role; the button in it is what counts.
    ("presentation-role-conflict", "stFileUploaderDropzone"),
}
TABS = (
    "sources",
    "run",
    "review",
    "quarantine",
    "metadata",
    "dataset",
    "knowledge",
    "feedback",
    "settings",
    "people",
    "backups",
)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server answers over documents, a comparison of them, and sources in every state."""
    folder = tmp_path_factory.mktemp("accessible")
    build_collection(folder / "workspace", folder / "documents")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
        _compare(folder / "workspace")
        build_sources(folder / "workspace")
        with serving(folder / "workspace", folder / "log", SEXTANT_USER="Ada Lovelace") as address:
            yield address


def _answered(page: Page, address: str) -> None:
    page.goto(address)
    ask(page, QUESTION)
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()


def _document(page: Page, address: str) -> None:
    page.goto(f"{address}/search?words=plan")
    page.get_by_role("link", name="Open document").first.click()
    expect(page).to_have_url(re.compile("/document"))
    expect(page.get_by_role("button", name="Original file")).to_be_visible()


def _comparison(page: Page, address: str) -> None:
    page.goto(f"{address}/compare")
    page.locator("[class*='st-key-comparison-open'] button").first.click()
    expect(page.locator(".comparison")).to_be_visible()


def _at(path: str) -> Callable[[Page, str], None]:
    def visit(page: Page, address: str) -> None:
        page.goto(f"{address}/{path}")

    return visit


def _coverage(page: Page, address: str) -> None:
    page.goto(f"{address}/library")
    page.get_by_role("tab", name="Coverage").click()
    expect(page.get_by_role("heading", name="Gaps")).to_be_visible()


VISITS: dict[str, Callable[[Page, str], None]] = {
    "Ask, empty": _at(""),
    "Ask, answered": _answered,
    "Search": _at("search?words=plan"),
    "Document": _document,
    "Compare": _at("compare"),
    "Comparison": _comparison,
    "Library": _at("library"),
    "Coverage": _coverage,
    "Notebook": _at("notebook"),
    "Evaluation": _at("evaluation"),
    **{f"Admin, {tab}": _at(f"admin?tab={tab}") for tab in TABS},
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("visit", VISITS)
def test_a_page_has_a_title_and_no_violation(
    page: Page, full: str, visit: str, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    VISITS[visit](page, full)
    _settle(page)

    expect(page.locator("h1")).to_have_count(1)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert not list(_violations(found)), visit


def _settle(page: Page) -> None:
    """Wait until the page is drawn whole: while it is drawn, what is old is faded."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.locator("[data-testid=stSkeleton], [data-stale=true]")).to_have_count(0)
    page.wait_for_load_state("networkidle")


def _violations(found: list[dict[str, Any]]) -> Iterator[str]:
    for rule in found:
        for node in rule["nodes"]:
            if not any(rule["id"] == known and part in node["html"] for known, part in STREAMLIT):
                yield f"{rule['impact']} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"


def test_the_question_is_reached_within_six_tabs_and_every_stop_is_seen(page: Page, full: str) -> None:
    page.goto(full)
    _settle(page)
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
    _settle(page)
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

    expect(page.get_by_role("link", name=re.compile("^Source 1: Flood Act, page 1")).first).to_be_visible()


def test_a_foreign_quotation_says_its_language(page: Page, full: str) -> None:
    page.goto(f"{full}/search?words=allerta")

    expect(page.locator("[lang=it]").filter(has_text="allerta").first).to_be_visible()


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
        _comparison(page, full)
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
def test_pages_can_be_read_on_a_phone(page: Page, empty: str, full: str, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for address in (empty, full):
        page.goto(f"{address}/{path}")
        _settle(page)

        expect(page.locator("h1")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
