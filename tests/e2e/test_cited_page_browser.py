"""The cited page is beside the answer in a real browser, scrolled to what is cited on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from playwright.sync_api import Page, expect

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.types.answer import Citation
from tests.e2e.conftest import serving
from tests.pages.conversations import converse
from tests.rag_engine.conversations.test_store import REPLY, SOURCE

pytestmark = pytest.mark.needs("chromium")

FOOT = "Owners of land behind the dyke pay for its gates."
# From the top, as shares of the height of the page: where it is printed, and where the last line of a sheet is.
AT = {"act.pdf": 790 / 842, "rules.txt": 0.97}


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a conversation whose answer cites a page's foot and a long text's end."""
    folder = tmp_path_factory.mktemp("cited")
    with pymupdf.open() as act:
        page = act.new_page()
        for row in range(20):
            page.insert_text((72, 90 + 20 * row), f"Section {row} of the act is about the care for the dykes.")
        page.insert_text((72, 790), FOOT)
        act.save(folder / "act.pdf")
    lines = (f"Rule {row} is that the warden looks after the walls of earth.\n\n" for row in range(60))
    (folder / "rules.txt").write_text("".join((*lines, FOOT)), encoding="utf-8")
    workspace = folder / "workspace"
    engine = open_engine(read_config(workspace))
    add_paths([folder / name for name in AT], engine)
    sources, citations = [], []
    for n, name in enumerate(AT, start=1):
        [document] = [one for one in engine.collection.documents() if one.file == name]
        start = engine.catalog.text(document.key).index(FOOT)
        known, end = document.document_id, start + len(FOOT)
        citations.append(Citation(n, "", known, name, name, 1, FOOT, start, end))
        sources.append(replace(SOURCE, n=n, document_id=known, file=name, title=name, page=1, last_page=1, pages=1))
    engine.close()
    text = "Owners pay [Source 1]. They pay [Source 2]. " + "This is explained at length. " * 150
    answer = replace(REPLY, text=text, generator="model", sources=tuple(sources), citations=tuple(citations))
    id = converse(workspace, answer).id
    with serving(workspace, Path(folder / "log")) as address:
        yield f"{address}/?conversation={id}"


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_the_foot_of_a_page_is_seen_where_it_is_cited(page: Page, conversation: str, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(conversation)
    picture = page.get_by_test_id("stImage").locator("img")
    expect(picture).to_have_count(1)

    assert_seen(page, "act.pdf")

    page.locator("p a[href='#answer-0-source-2']").first.click()
    expect(page.locator(".st-key-pane-0").get_by_text("rules.txt")).to_be_visible()
    assert_seen(page, "rules.txt")
    # What chooses another page is not scrolled away.
    expect(page.get_by_role("radiogroup", name="Page cited as")).to_be_in_viewport(ratio=1)


def test_the_page_stays_beside_the_answer_that_is_scrolled(page: Page, conversation: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(conversation)
    assert_seen(page, "act.pdf")

    # The foot of the answer, several screens below its head.
    page.get_by_role("button", name="Copy", exact=True).scroll_into_view_if_needed()

    expect(page.locator(".st-key-question-0")).not_to_be_in_viewport()
    expect(page.get_by_role("radiogroup", name="Page cited as")).to_be_in_viewport(ratio=1)
    assert_seen(page, "act.pdf")


def assert_seen(page: Page, name: str) -> None:
    """Wait until what is cited of a document is in view, above the input of the next question."""
    page.wait_for_function(
        """(share) => {
          const view = document.querySelector(".st-key-cited-0"), input = document.querySelector(".stChatInput");
          const picture = view?.querySelector("img");
          if (!picture?.complete) return false;
          const {top, height} = picture.getBoundingClientRect(), {top: above, bottom} = view.getBoundingClientRect();
          const mark = top + share * height;
          return height > 100 && mark > above && mark < Math.min(bottom, input.getBoundingClientRect().top);
        }""",
        arg=AT[name],
    )
