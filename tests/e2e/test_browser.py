"""An analyst's work in a real browser against a fresh server."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import docx
import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.storage.catalog import set_state
from tests.e2e.checks import PHONE, fits_a_phone
from tests.e2e.conftest import serving
from tests.pages.collection import build_collection
from tests.pages.conversations import citing_two, converse
from tests.rag_engine.conversations.test_store import REPLY

pytestmark = pytest.mark.needs("chromium")

QUESTION = "How long does a local flood plan remain valid?"
SEVERAL_PARTS = "How long does a local flood plan remain valid, and what does the red alert level mean for vineyards?"


def ask(page: Page, question: str) -> None:
    page.get_by_placeholder("Ask a question about your documents").fill(question)
    page.keyboard.press("Enter")


def test_a_deep_link_leads_to_an_answer_with_its_page_that_survives_a_reload(page: Page, fresh_address: str) -> None:
    page.goto(f"{fresh_address}/ask?from=mail")
    expect(page.get_by_role("link", name="Library")).to_be_visible()
    expect(page).to_have_url(re.compile("from=mail"))

    ask(page, QUESTION)

    marked = page.get_by_alt_text("Page of Flood Act with the passage marked")
    expect(page.get_by_text("remains valid for six years").first).to_be_visible()
    expect(marked).to_be_visible()
    expect(marked).to_have_js_property("naturalWidth", 1000)
    expect(page).to_have_url(re.compile("conversation=[0-9a-f]{32}"))

    page.reload()

    expect(page.locator(".st-key-question-0")).to_have_text(re.compile(re.escape(QUESTION)))
    expect(page.get_by_text("remains valid for six years").first).to_be_visible()
    expect(marked).to_be_visible()


def test_an_example_that_was_found_before_asks_at_once_and_what_is_typed_then_is_asked(
    page: Page, tmp_path: Path
) -> None:
    workspace, typed = tmp_path / "workspace", "What does a council pay that fails to publish its plan?"
    build_collection(workspace, tmp_path / "documents")
    keep_example(workspace, QUESTION)
    with serving(workspace, tmp_path / "log") as address:
        page.goto(address)
        expect(page.get_by_role("button", name=QUESTION)).to_be_visible()
        page.reload()

        page.get_by_role("button", name=QUESTION).click()

        expect(page.locator(".st-key-question-0")).to_contain_text(QUESTION)
        expect(page.get_by_role("button", name="Ask again")).to_be_visible()
        ask(page, typed)
        expect(page.locator(".st-key-question-1")).to_contain_text(typed)


def keep_example(workspace: Path, question: str) -> None:
    """Have the collection keep one example question, as if it had been found on an earlier visit."""
    engine = open_engine(read_config(workspace))
    [document] = [one for one in engine.collection.documents() if one.file == "flood-act.txt"]
    kept = [{"question": question, "language": "en", "document_id": document.document_id}]
    state = json.dumps({"change": engine.catalog.change(), "by language": {"en": kept}})
    with engine.catalog.begin() as connection:
        set_state(connection, "example questions", state)
    engine.close()


MENUS = """document.addEventListener("DOMContentLoaded", () => {
  window.menus = [];
  new MutationObserver(() => {
    const menu = document.querySelector('[data-testid="stSidebarNav"]');
    if (menu) window.menus.push(menu.textContent);
  }).observe(document.body, {childList: true, subtree: true, characterData: true});
})"""


@pytest.mark.parametrize("path", ["", "library"])
def test_the_first_visitor_sees_no_menu_but_that_of_the_pages(page: Page, fresh_address: str, path: str) -> None:
    page.add_init_script(MENUS)
    page.goto(f"{fresh_address}/{path}")
    expect(page.locator("h1")).to_be_visible()

    seen = page.evaluate("window.menus")
    assert seen
    assert all("Notebook" in menu for menu in seen), seen[0]


def test_a_deep_link_asks_for_its_server_where_it_is(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/library?language=en")
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    assert f"{address}/_stcore/health" in asked
    assert not [url for url in asked if "/library/" in url]


def test_a_deep_link_to_a_document_keeps_its_place(page: Page, fresh_address: str) -> None:
    page.goto(f"{fresh_address}/document?document=ffffffffffff&page=3")

    expect(page.get_by_text("This document is not in the collection.")).to_be_visible()
    expect(page.get_by_role("link", name="Ask")).to_be_visible()
    expect(page).to_have_url(re.compile("/document.*document=ffffffffffff&page=3"))


def test_a_deep_link_into_a_server_with_a_wrong_setting_says_what_is_wrong(page: Page, misled_address: str) -> None:
    page.goto(f"{misled_address}/library?document=ffffffffffff")

    expect(page.get_by_text("The server’s environment: execution='abacus' is not known. Use auto")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_number_of_the_map_leads_to_its_documents(page: Page, address: str) -> None:
    page.goto(f"{address}/library")
    page.get_by_role("tab", name="Coverage").click()
    cells = page.locator(".dvn-scroller").first
    expect(page.get_by_text("No documents from 2017 to 2018.")).to_be_visible()

    # The first row has the Flood Act of 2016 in its first column, behind the country and the sum.
    cells.click(position={"x": 130 + 60 + 40, "y": 38 + 17})

    expect(page).to_have_url(re.compile("country=Ireland&year=2016-2016"))
    expect(page.get_by_text("1 of 3 documents. Click a title to open the document.")).to_be_visible()


def test_conversations_begin_below_each_other_however_long_their_names_are(
    page: Page, workspace: Path, address: str
) -> None:
    shown = [converse(workspace, REPLY, question=question).id for question in ("Why?", SEVERAL_PARTS)]
    page.goto(address)
    page.get_by_text("Conversations", exact=True).click()
    icons = [page.locator(f".st-key-open-{id}").get_by_test_id("stIconMaterial") for id in shown]
    for icon in icons:
        expect(icon).to_be_visible()

    short, long = (icon.evaluate("icon => Math.round(icon.getBoundingClientRect().left)") for icon in icons)
    assert short == long


def test_a_file_is_added_answers_and_is_deleted(page: Page, address: str, tmp_path: Path) -> None:
    upload = tmp_path / "lighthouse-rules.txt"
    upload.write_text("Rules for lighthouses\n\nThe lighthouse keeper must clean the lamp every Thursday before noon.")
    page.goto(f"{address}/library")
    page.get_by_text("Add documents").click()
    page.locator("input[type=file]").set_input_files(upload)
    page.get_by_role("button", name="Add to the collection").click()
    expect(page.get_by_text("1 indexed")).to_be_visible()

    page.get_by_role("link", name="Ask").click()
    ask(page, "When must the lighthouse keeper clean the lamp?")
    expect(page.get_by_text("every Thursday before noon").first).to_be_visible()
    page.get_by_role("link", name="Open document").first.click()
    page.get_by_role("button", name="Delete this document").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("nothing left behind")).to_be_visible()

    page.get_by_role("link", name="Ask").click()
    ask(page, "When must the lighthouse keeper clean the lamp?")
    expect(page.get_by_text("How this was found")).to_be_visible()
    expect(page.get_by_text("every Thursday before noon")).to_have_count(0)


def test_a_row_of_the_library_is_corrected_and_that_is_undone(page: Page, address: str) -> None:
    page.goto(f"{address}/library?country=Ireland")
    rows = page.locator(".dvn-scroller").first
    expect(page.get_by_text("1 of 3 documents.")).to_be_visible()
    # The box before the first row, below the heading.
    rows.click(position={"x": 16, "y": 38 + 17})
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_role("button", name="Correct").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title", exact=True).fill("Flood Act of 2016")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 value corrected in 1 document.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 value corrected in 1 document.")).to_have_count(0)
    page.goto(f"{address}/search?words=penalty&match=words")
    expect(page.get_by_text("Flood Act", exact=True).first).to_be_visible()
    expect(page.get_by_text("Flood Act of 2016")).to_have_count(0)


def test_a_test_question_is_written_corrected_and_removed_on_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(f"{address}/evaluation")
    page.get_by_role("button", name="Write a question").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Question").fill("Who won the cup?")
    dialog.get_by_text("The collection does not answer this").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Who won the cup?")).to_be_visible()

    page.get_by_role("button", name="Edit").click()
    dialog.get_by_label("Question").fill("Who won the cup in 2014?")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Who won the cup in 2014?")).to_be_visible()
    fits_a_phone(page)

    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Who won the cup in 2014?")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_a_notebook_is_deleted_by_a_red_button_and_comes_back(page: Page, address: str) -> None:
    page.goto(f"{address}/notebook")
    page.get_by_role("button", name="New").click()
    page.get_by_role("textbox", name="Name").fill("Rivers")
    page.get_by_role("button", name="Create").click()
    page.get_by_test_id("stPopover").filter(has_text="Delete").get_by_role("button").click()
    delete = page.get_by_role("button", name="Delete this notebook")
    expect(delete).to_have_css("background-color", "rgb(179, 38, 30)")
    delete.click()
    expect(page.get_by_text("Deleted “Rivers”.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("combobox", name="Notebook", exact=True)).to_have_value("Rivers (0)")
    # The other tests of this server have one notebook.
    page.get_by_test_id("stPopover").filter(has_text="Delete").get_by_role("button").click()
    page.get_by_role("button", name="Delete this notebook").click()
    expect(page.get_by_text("Deleted “Rivers”.")).to_be_visible()


def test_a_hostile_document_stays_mere_text(page: Page, address: str) -> None:
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.goto(address)

    ask(page, "What do the harbour cranes of Rotterdam lift?")

    title = page.get_by_text("<script>alert(1)</script> ![x](http://evil.example/x.png) $\\alpha$")
    expect(title.filter(visible=True).first).to_be_visible()
    passage = page.get_by_text("cost $5 or $6 <img src=http://evil.example/y.png")
    expect(passage.filter(visible=True).first).to_be_visible()
    expect(page.locator("a[href*=evil], img[src*=evil], .katex")).to_have_count(0)
    assert dialogs == []


def test_the_page_can_be_used_on_a_narrow_screen(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(address)

    ask(page, QUESTION)

    expect(page.get_by_text("remains valid for six years").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_an_answer_is_seen_while_it_is_written_and_its_marks_are_checked_at_the_end(
    page: Page, model_address: tuple[str, threading.Event]
) -> None:
    address, go_on = model_address
    page.goto(address)
    ask(page, QUESTION)

    expect(page.get_by_text("First, the council prepares it")).to_be_visible()
    expect(page.get_by_text("last-words")).to_have_count(0)
    go_on.set()

    expect(page.get_by_text("The last-words.", exact=True)).to_be_visible()
    expect(page.locator("strong", has_text="local flood plan")).to_be_visible()
    # Two in the answer, and one among the sentences to check.
    expect(page.locator("p a[href='#answer-0-source-1'], li a[href='#answer-0-source-1']")).to_have_count(3)
    # In the answer, and among the sentences to check.
    expect(page.get_by_text("![x](http://evil.example/x.png) <b>bold</b>")).to_have_count(2)
    expect(page.locator("a[href*=evil], img[src*=evil]")).to_have_count(0)


def test_a_reload_in_the_middle_of_an_answer_keeps_its_words(
    page: Page, model_address: tuple[str, threading.Event]
) -> None:
    address, go_on = model_address
    page.goto(address)
    ask(page, QUESTION)
    expect(page.get_by_text("First, the council prepares it").first).to_be_visible()

    page.reload()
    go_on.set()

    expect(page.locator(".st-key-question-0")).to_have_text(re.compile(re.escape(QUESTION)))
    # Once finished, the sentence may stand among those to check besides.
    expect(page.get_by_text("First, the council prepares it").first).to_be_visible()


def test_an_answer_goes_on_whatever_is_clicked_and_two_tabs_see_the_same(
    page: Page, model_address: tuple[str, threading.Event]
) -> None:
    address, go_on = model_address
    page.goto(address)
    ask(page, QUESTION)
    expect(page.get_by_text("First, the council prepares it")).to_be_visible()

    # A setting, another page and a second tab: each ran the page anew, which used to end the answer.
    page.get_by_text("Search settings").click()
    page.get_by_test_id("stNumberInputStepUp").click()
    expect(page.get_by_text("First, the council prepares it")).to_be_visible()
    conversation = page.url
    page.get_by_role("link", name="Library").click()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    page.goto(conversation)
    other = page.context.new_page()
    other.goto(conversation)
    for tab in (page, other):
        expect(tab.get_by_text("First, the council prepares it")).to_be_visible()
        expect(tab.get_by_role("button", name="Stop")).to_be_visible()
        expect(tab.get_by_test_id("stChatInputTextArea")).to_be_disabled()

    go_on.set()

    for tab in (page, other):
        expect(tab.get_by_text("The last-words.", exact=True)).to_be_visible()
        expect(tab.get_by_test_id("stChatInputTextArea")).to_be_enabled()


def test_a_tab_that_was_idle_shows_what_is_asked_in_another_and_keeps_what_is_being_typed(
    page: Page, address: str, workspace: Path
) -> None:
    conversation = f"{address}/?conversation={converse(workspace, citing_two(workspace)).id}"
    idle = page.context.new_page()
    for tab in (page, idle):
        tab.goto(conversation)
        expect(tab.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()
    typed = idle.get_by_placeholder("Ask a question about your documents")
    typed.fill("What is not asked yet")

    ask(page, "Who prepares the plan?")

    expect(idle.locator(".st-key-question-1")).to_have_text(re.compile("Who prepares the plan"))
    expect(idle.locator(".st-key-live-answer-1")).to_be_visible()
    expect(typed).to_have_value("What is not asked yet")
    expect(typed).to_be_enabled()


def test_an_answered_question_is_edited_and_asked_again(page: Page, address: str) -> None:
    page.goto(address)
    ask(page, "Who prepares the plan?")
    page.get_by_role("button", name="Edit question").click()
    # Though there is little room under the latest answer.
    expect(page.get_by_role("button", name="Ask the question")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("textbox", name="Question", exact=True).fill(QUESTION)
    page.get_by_role("textbox", name="Question", exact=True).press("Control+Enter")
    page.get_by_role("button", name="Ask the question").click()

    expect(page.locator(".st-key-question-1")).to_have_text(re.compile(re.escape(QUESTION)))
    expect(page.locator(".st-key-live-answer-1").get_by_text("six years").first).to_be_visible()
    # Not left where it was drawn first, at the foot of the page with its answer out of sight.
    page.wait_for_function("document.querySelector('.st-key-question-1').getBoundingClientRect().top < 100")


def test_a_page_stays_where_somebody_reads_when_the_answer_ends(
    page: Page, model_address: tuple[str, threading.Event]
) -> None:
    address, go_on = model_address
    page.goto(address)
    go_on.set()
    ask(page, QUESTION)
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    go_on.clear()
    ask(page, "Who pays a penalty?")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    where = "document.querySelector('.st-key-question-1').getBoundingClientRect().top"

    page.locator(".st-key-question-1").click()
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"{where} > 200")
    go_on.set()

    expect(page.get_by_role("button", name="Ask again")).to_have_count(2)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    assert page.evaluate(where) > 200


def test_an_answer_that_is_stopped_keeps_its_words(page: Page, model_address: tuple[str, threading.Event]) -> None:
    address, go_on = model_address
    page.goto(address)
    ask(page, QUESTION)
    expect(page.get_by_text("First, the council prepares it")).to_be_visible()

    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Answer cancelled before its end")).to_be_visible()
    go_on.set()
    page.reload()

    expect(page.get_by_text("First, the council prepares it")).to_be_visible()
    expect(page.get_by_text("Answer cancelled before its end")).to_be_visible()


def test_a_slow_model_is_watched_cancelled_at_once_and_asked_again_and_its_citations_lead_to_their_pages(
    page: Page, silent_address: tuple[str, threading.Event]
) -> None:
    address, go_on = silent_address
    page.goto(address)
    ask(page, SEVERAL_PARTS)
    expect(
        page.get_by_text(re.compile(r"Reading \d+ passages? from \d+ documents? … · ([2-9]|\d\d+) s"))
    ).to_be_visible()
    expect(page.get_by_text("Ask your documents")).to_have_count(0)
    expect(page.get_by_text("For example, from your documents:")).to_have_count(0)

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("Answer cancelled.")).to_be_visible(timeout=10_000)
    expect(page.get_by_text(re.compile("Reading"))).to_have_count(0)
    assert not go_on.is_set()

    go_on.set()
    page.get_by_role("button", name="Ask again").click()

    expect(page.get_by_text("The last-words.").first).to_be_visible()
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()

    page.locator("p a[href='#answer-1-source-2']").first.click()

    expect(page.get_by_alt_text(re.compile("^Page of (?!Flood Act)"))).to_be_in_viewport()
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_have_count(0)


def test_the_searches_for_the_parts_of_a_question_are_seen_and_kept_when_it_is_stopped(
    page: Page, model_address: tuple[str, threading.Event]
) -> None:
    address, _ = model_address
    page.goto(address)
    ask(page, SEVERAL_PARTS)
    expect(page.get_by_text("2 parts in this question")).to_be_visible()
    expect(
        page.get_by_text("Searching for: What does the red alert level mean for vineyards?", exact=True)
    ).to_be_visible()
    expect(page.get_by_text("First, the council prepares it")).to_be_visible()

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("Answer cancelled before its end")).to_be_visible()
    page.get_by_text("How this was found").click()
    expect(page.get_by_text("2 parts in this question")).to_be_visible()


def test_an_answer_is_exported_to_word_and_a_quote_goes_into_the_notebook(
    page: Page, address: str, tmp_path: Path
) -> None:
    page.goto(address)
    ask(page, QUESTION)
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()

    page.get_by_role("button", name="Export").click()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Word").click()
    downloading.value.save_as(tmp_path / "answer.docx")
    page.keyboard.press("Escape")
    page.locator(".st-key-answer-0-source-1").get_by_role("button", name="Add to notebook").click()
    expect(page.get_by_text("Added to the notebook Evidence.")).to_be_visible()

    assert docx.Document(str(tmp_path / "answer.docx")).paragraphs[0].text == QUESTION
    assert downloading.value.suggested_filename == "how-long-does-a-local-flood-plan-remain-valid.docx"
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator("strong", has_text="References")).to_be_visible()
    expect(page.get_by_alt_text("Page of Flood Act with the passage marked")).to_be_visible()
    for role in ("button", "radio", "textbox"):
        expect(page.get_by_role(role)).to_have_count(0)
    expect(page.get_by_role("link", name="Library")).to_be_hidden()
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.emulate_media(media="screen", color_scheme="light")

    page.get_by_role("link", name="Notebook").click()
    expect(page.locator("blockquote", has_text="remains valid for six years")).to_be_visible()
    page.get_by_role("link", name="Open conversation").click()
    expect(page.locator(".st-key-question-0")).to_have_text(re.compile(re.escape(QUESTION)))


def test_an_italian_browser_is_answered_in_an_italian_interface(browser: Browser, address: str) -> None:
    with browser.new_context(locale="it-IT") as context:
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name="Interroga i tuoi documenti")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "it")
        page.get_by_placeholder("Fai una domanda sui tuoi documenti").fill(QUESTION)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Come è stata trovata")).to_be_visible()
        expect(page.get_by_role("link", name="Vai alla domanda")).to_have_count(1)
        expect(page.get_by_role("combobox", name="Lingua dell’interfaccia")).to_be_attached()


def test_the_widgets_of_streamlit_say_their_words_in_the_language(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    (tmp_path / "tool.exe").write_bytes(b"MZ")
    with browser.new_context(locale="es-ES") as context:
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(f"{address}/library")
        page.get_by_text("Añadir documentos").click()
        place = page.get_by_test_id("stFileUploader")
        expect(place.get_by_role("button", name="Examinar")).to_be_visible()
        expect(place).to_contain_text("500 MB por archivo")
        place.locator("input").set_input_files(tmp_path / "tool.exe")
        expect(place).to_contain_text("no se pueden leer aquí")
        expect(place.get_by_label("Quitar tool.exe")).to_be_visible()
        expect(page.get_by_role("button", name="Mostrar u ocultar columnas")).to_have_count(1)
        # The person chooses another language while the page is open; a list closes when its page is scrolled.
        choice = page.get_by_role("combobox", name="Idioma de la interfaz")
        choice.scroll_into_view_if_needed()
        expect(choice).to_be_in_viewport(ratio=1)
        choice.click(delay=100)
        page.get_by_role("option", name="English").click()
        expect(page.get_by_role("button", name="Show/hide columns")).to_have_count(1)
