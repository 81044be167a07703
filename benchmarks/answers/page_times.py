"""How long pages take to be drawn in a browser, beside an empty Streamlit page in the same run.

    python -m benchmarks.answers.page_times --workspace DIR [--large DIR] [--times N]

Each page is opened in a fresh context of Chromium until its own content is seen and can be used, in turn with the empty
page, so that what else the machine does falls on both: on Ask the input and the words of the start page, in the Library
the table, in Search the input, in Compare the questions, in Notebook the choice of one, in Admin and Evaluation the row
of tabs. The heading alone, which may come before, is a column of its own.

On a page that has come to rest, a question is asked until its first feedback and its first quotation are seen, and
interactions that need no model are made until what they lead to is seen. A conversation of 100 turns is opened and
asked in turn with one of 3. The pages of a large collection (`--large`, a workspace of
benchmarks/retrieval/retrieval_scale.py) are opened until what they list is seen.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.page_server import serving
from benchmarks.report import machine, write_table
from rag_engine.conversations.store import (
    Conversation,
    delete_conversation,
    list_conversations,
    new_id,
    read_conversation,
    restore_conversation,
)

HEADING = "h1"
# Each with its path (Ask is the first page), what it is opened for, and its bar in multiples of the empty page.
PAGES = {
    "Ask": ("", ("[data-testid=stMain] p", "[data-testid=stChatInputTextArea]"), 1.6),
    "Search": ("search", ("[data-testid=stMain] [data-testid=stTextInput] input",), 1.3),
    "Compare": ("compare", ("[data-testid=stMain] textarea",), 1.3),
    "Library": ("library", ("[data-testid=stDataFrame] canvas",), 1.6),
    "Notebook": ("notebook", ("[data-testid=stMain] [data-testid=stSelectbox]",), 1.3),
    "Admin": ("admin", ("[data-testid=stMain] [data-testid=stButtonGroup]",), 1.3),
    "Evaluation": ("evaluation", ("[data-testid=stTab]",), 1.3),
}
FEEDBACK_BAR, QUOTATION_BAR, INTERACTION_BAR, LARGE_BAR = 200.0, 600.0, 300.0, 3000.0
# A conversation of 100 turns counts as fast as one of 3 up to here: two measurements of one page differ by that much.
LONGER_BAR = 1.1
QUESTIONS = ("What is loss and damage?", "Who pays for adaptation?", "When does the agreement enter into force?")
NO_MODEL = "http://127.0.0.1:9"
WORDS = "plan"
EMPTY = 'import streamlit as st\nst.title("Empty")\n'


def paint(browser: Browser, address: str, content: Sequence[str] = ()) -> tuple[float, float]:
    """Return the milliseconds until a new visitor sees a page's heading, and until all its content."""
    page = browser.new_page()
    started = time.perf_counter()
    page.goto(address)
    page.locator(HEADING).first.wait_for()
    heading = 1000 * (time.perf_counter() - started)
    for seen in content:
        page.locator(seen).first.wait_for()
    taken = 1000 * (time.perf_counter() - started)
    page.close()
    return heading, taken


# Looked for at each frame of the browser; a locator looks again after up to half a second.
SHOWN = "selector => document.querySelector(selector)?.checkVisibility()"


def asked(browser: Browser, address: str, question: str, turn: int = 0) -> tuple[float, float]:
    """Return the milliseconds until a question has its first feedback and its first quotation.

    `turn` is the number of the turns before it, in the conversation that the address opens.
    """
    page = browser.new_page()
    page.goto(address)
    if turn:
        page.locator(f".st-key-live-answer-{turn - 1}").wait_for()
    field = page.get_by_test_id("stChatInputTextArea")
    field.fill(question)
    come_to_rest(page)
    started = time.perf_counter()
    field.press("Enter")
    page.wait_for_function(SHOWN, arg=f".st-key-question-{turn}")
    feedback = 1000 * (time.perf_counter() - started)
    page.wait_for_function(SHOWN, arg=f".st-key-live-answer-{turn}")
    quotation = 1000 * (time.perf_counter() - started)
    page.close()
    return feedback, quotation


def come_to_rest(page: Page) -> None:
    """Wait until a page is drawn and has no request open, as it is when a person has read it."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_load_state("networkidle")


# Each with where it begins, what is clicked, and what is seen then.
INTERACTIONS = {
    "a filter in Search": ("search", "[class*='st-key-search-hazard'] label", "[class*='st-key-search-clear'] button"),
    "a sort in Search": (
        f"search?words={WORDS}",
        "[class*='st-key-search-sort'] button >> text=Date",
        "[data-testid=stApp][data-test-script-state=notRunning]",
    ),
    "a source opened": (f"search?words={WORDS}", "text=Open document", "text=Original file"),
    "a tab of the Library": ("library", "[data-testid=stTab] >> nth=1", "text=Gaps"),
}


# Playwright scrolls to what it clicks and waits until it stands still, which is no time of the page's.
CLICKED = "addEventListener('pointerdown', () => { window.clicked = performance.timeOrigin + performance.now() }, true)"


def interaction(browser: Browser, address: str, what: str) -> float:
    """Return the milliseconds from a click on a page that has come to rest until what it leads to is seen."""
    path, clicked, seen = INTERACTIONS[what]
    page = browser.new_page()
    page.add_init_script(CLICKED)
    page.goto(f"{address}/{path}")
    target = page.locator(clicked).first
    target.wait_for()
    come_to_rest(page)
    target.click()
    if "sort" in what:
        page.wait_for_url("**sort=**")
    page.locator(seen).first.wait_for()
    ended = 1000 * time.time()
    taken = ended - float(page.evaluate("window.clicked"))
    page.close()
    return taken


# Pages of a large collection, each with its address and what it is opened for.
LARGE = {
    "Ask": ("", "[data-testid=stChatInputTextArea]"),
    "Search": (f"search?words={WORDS}", "[class*='st-key-found-']"),
    "Library": ("library", "[data-testid=stDataFrame]"),
    "Admin": ("admin", "[data-testid=stTab]"),
}
SHORT, LONG = 3, 100


def opened(browser: Browser, address: str, seen: str) -> float:
    """Return the milliseconds until a new visitor sees what an address is opened for."""
    page = browser.new_page()
    started = time.perf_counter()
    page.goto(address)
    page.locator(seen).first.wait_for()
    taken = 1000 * (time.perf_counter() - started)
    page.close()
    return taken


@contextmanager
def repeated(workspace: Path, turns: int) -> Iterator[str]:
    """Yield the id of a conversation that repeats the last answer in `turns` turns; delete it afterwards."""
    last = read_conversation(workspace, list_conversations(workspace)[0].id)
    assert last is not None
    times = [f"2026-01-01T{number // 60:02}:{number % 60:02}:00+00:00" for number in range(turns)]
    every = tuple(replace(last.turns[-1], asked=one) for one in times)
    conversation = Conversation(new_id(), every, name=f"{turns} turns")
    restore_conversation(workspace, conversation)
    try:
        yield conversation.id
    finally:
        delete_conversation(workspace, conversation.id)


def long_conversations(browser: Browser, address: str, workspace: Path, times: int) -> list[list[str]]:
    """Return the rows of a conversation of 100 turns, opened and asked, beside one of 3."""
    opening: dict[int, list[float]] = {SHORT: [], LONG: []}
    answering: dict[int, list[float]] = {SHORT: [], LONG: []}
    for number in range(times):
        for turns in (SHORT, LONG):
            with repeated(workspace, turns) as id:
                ours = f"{address}/?conversation={id}"
                opening[turns].append(opened(browser, ours, f".st-key-live-answer-{turns - 1}"))
                answering[turns].append(asked(browser, ours, QUESTIONS[number % len(QUESTIONS)], turns)[1])
    rows = []
    for what, taken in (("opened", opening), ("answers", answering)):
        few, many = median(taken[SHORT]), median(taken[LONG])
        rows.append([f"a conversation of {SHORT} turns {what}", f"{few:,.0f} ms", "", "", ""])
        said = "met" if many <= LONGER_BAR * few else "missed"
        rows.append([f"one of {LONG}", f"{many:,.0f} ms", f"{many / few:.2f} x that of {SHORT}", f"1 x: {said}", ""])
    return rows


def row(
    what: str, milliseconds: list[float], bar: float, empty: float | None = None, headings: list[float] | None = None
) -> list[str]:
    """Return a line of the table; the bar is in milliseconds, or in multiples of the empty page."""
    middle = median(milliseconds)
    reached = middle / empty if empty else middle
    said = f"{bar} x: " if empty else f"{bar:.0f} ms: "
    share = f"{middle / empty:.2f} x" if empty else ""
    alone = f"{median(headings):,.0f} ms" if headings else ""
    return [what, f"{middle:,.0f} ms", share, said + ("met" if reached <= bar else "missed"), alone]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--large", type=Path, help="one of 280,000 passages, whose pages are opened as well")
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with ExitStack() as stack:
        script = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "empty.py"
        script.write_text(EMPTY, encoding="utf-8")
        empty = stack.enter_context(serving(script))
        settings = {"SEXTANT_WORKSPACE": str(given.workspace), "SEXTANT_OLLAMA_URL": NO_MODEL}
        ours = stack.enter_context(serving(**settings))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        first = paint(browser, ours, PAGES["Ask"][1])[1]
        paint(browser, empty)
        blank: list[float] = []
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in PAGES}
        for _ in range(given.times):
            for name, (path, content, _bar) in PAGES.items():
                blank.append(paint(browser, empty)[1])
                taken[name].append(paint(browser, f"{ours}/{path}", content))
        asked(browser, ours, QUESTIONS[0])
        waits = [asked(browser, ours, question) for question in QUESTIONS]
        for what in INTERACTIONS:
            interaction(browser, ours, what)
        reached = {what: [interaction(browser, ours, what) for _ in range(given.times)] for what in INTERACTIONS}
        turns = long_conversations(browser, ours, given.workspace, given.times)
        large: dict[str, list[float]] = {name: [] for name in LARGE} if given.large else {}
        if given.large:
            address = stack.enter_context(serving(**settings | {"SEXTANT_WORKSPACE": str(given.large)}))
            for name in [*LARGE, *LARGE, *(name for _ in range(given.times) for name in LARGE)]:
                path, seen = LARGE[name]
                large[name].append(opened(browser, f"{address}/{path}", seen))
        browser.close()
    rows = [["an empty Streamlit page", f"{median(blank):,.0f} ms", "1 x", "", ""]]
    rows.append(["first visitor after a start", f"{first:,.0f} ms", f"{first / median(blank):.2f} x", "", ""])
    for name, (_path, _content, bar) in PAGES.items():
        headings, contents = map(list, zip(*taken[name], strict=True))
        rows.append(row(name, contents, bar, median(blank), headings))
    rows.append(row("a question's first feedback", [one for one, _ in waits], FEEDBACK_BAR))
    rows.append(row("its first quotation", [other for _, other in waits], QUOTATION_BAR))
    rows += [row(what, reached[what], INTERACTION_BAR) for what in INTERACTIONS]
    rows += turns
    rows += [row(f"{name} over a large collection", some[2:], LARGE_BAR) for name, some in large.items()]
    write_table(
        "page_times",
        "How long pages take",
        ["what", "median", "beside an empty page", "bar", "heading alone"],
        rows,
        [
            machine("streamlit", "playwright"),
            f"`python -m benchmarks.answers.page_times`; each page opened {given.times} times by a new visitor, until "
            "its own content can be used; without a language model, the models loaded.",
            *(
                ["A large collection: 280,000 passages of 2,800 documents; each page was opened twice before."]
                * bool(large)
            ),
        ],
    )


if __name__ == "__main__":
    main()
