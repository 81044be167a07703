"""Views of the pages, each filled, with the way to it in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import docx
from playwright.sync_api import Page, expect

from ingestion.acts.context import open_context
from ingestion.acts.evaluation import queue_test
from ingestion.add_files import add_paths
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.conversations.reply import Reply, failed_reply
from rag_engine.conversations.store import Conversation, Turn, restore_conversation
from rag_engine.engine import open_engine
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.test_questions import change_test_questions
from rag_engine.evaluation.gold import Quote
from rag_engine.messages import Message
from rag_engine.notebook import store as notebooks
from rag_engine.notebook.notebook import answer_entry, quote_entry, with_entry, with_note
from rag_engine.types.answer import Attribute, CitedRecord
from tests.e2e.test_browser import QUESTION
from tests.e2e.test_compare_browser import compare
from tests.pages.collection import build_collection
from tests.pages.conversations import citing_two
from tests.pages.sources import build_sources

View = Callable[[Page, str], None]

_TABS = (
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
_PLAN = "office-plan.docx"
_ASKED = "2026-11-20T10:00:00.000000+00:00"
_TEXT, _FORM, _REFUSED, _FAILED = (f"{number:032x}" for number in range(1, 5))


def build_views(folder: Path) -> Path:
    """Build a workspace with something on every page.

    It has documents, answers of every kind, a notebook, a test and sources.
    """
    workspace, documents = folder / "workspace", folder / "documents"
    build_collection(workspace, documents)
    office = docx.Document()
    office.add_heading("Plan of the office for dry summers", 1)
    office.add_paragraph("The office lends pumps to every village whose well has run dry for three weeks.")
    office.save(str(documents / _PLAN))
    compare(workspace)
    _keep_questions(workspace)
    engine = open_engine(read_config(workspace))
    [added] = add_paths([documents / _PLAN], engine)
    assert added.status == "indexed", added.reason
    queue_test(replace(open_context(engine, LOCAL), start_worker=lambda _: None))
    work(engine)
    engine.close()
    _converse(workspace)
    build_sources(workspace)
    return workspace


def _keep_questions(workspace: Path) -> None:
    passage = Quote("flood-act.txt", 1, "A local flood plan remains valid for six years.")
    kept = AnswerQuestion("long", "en", "", QUESTION, "", (passage,), ())
    change_test_questions(workspace, lambda _before: (kept,))


def _converse(workspace: Path) -> None:
    """Keep an answer, a form, a refusal and a failure, and in the notebook the answer and a quote of it."""
    answered = citing_two(workspace)
    first = answered.citations[0]
    values = (Attribute("measure", "prepare a local flood plan"), Attribute("actor", "county council"))
    form = replace(answered, text="", citations=(first,), records=(CitedRecord(values, first),))
    refused = replace(
        answered, status="insufficient_evidence", text="No answer found in these documents.", citations=()
    )
    failed = failed_reply(Message("The language model does not answer."))
    answers: dict[str, Reply] = {_TEXT: answered, _FORM: form, _REFUSED: refused, _FAILED: failed}
    for id, reply in answers.items():
        restore_conversation(workspace, Conversation(id, (Turn(QUESTION, _ASKED, reply),)))
    turn = Turn(QUESTION, _ASKED, answered)
    answer, quote = answer_entry(_TEXT, turn), quote_entry(_TEXT, turn, 1)
    notebooks.change_notebook(
        workspace,
        notebooks.DEFAULT.id,
        lambda one: with_note(with_entry(with_entry(one, answer), quote), quote.id, "For the report.", ("floods",)),
    )


def _at(path: str, text: str | re.Pattern[str] = "") -> View:
    """Return the way to an address, on which a text is then to be read."""

    def visit(page: Page, address: str) -> None:
        page.goto(f"{address}/{path}")
        if text:
            expect(page.get_by_text(text).filter(visible=True).first).to_be_visible()

    return visit


def _document(page: Page, address: str) -> None:
    page.goto(f"{address}/search?words=council&match=words")
    page.get_by_role("link", name="Open document").first.click()
    expect(page).to_have_url(re.compile("/document"))
    expect(page.get_by_role("button", name="Original file")).to_be_visible()


def _layout(page: Page, address: str) -> None:
    page.goto(f"{address}/search?words=pumps&match=words")
    page.get_by_role("link", name="Open document").first.click()
    # Without LibreOffice its text is shown.
    text = page.get_by_role("article")
    expect(page.get_by_alt_text(re.compile("in its original layout")).or_(text).first).to_be_visible()


def _tab(name: str, text: str) -> View:
    def visit(page: Page, address: str) -> None:
        _document(page, address)
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_text(text).first).to_be_visible()

    return visit


def _dialog(page: Page, address: str) -> None:
    _document(page, address)
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Save")).to_be_visible()


def open_comparison(page: Page, address: str) -> None:
    """Open the comparison."""
    page.goto(f"{address}/compare")
    page.locator("[class*='st-key-comparison-open'] button").first.click()
    expect(page.locator(".comparison")).to_be_visible()


def _coverage(page: Page, address: str) -> None:
    page.goto(f"{address}/library")
    page.get_by_role("tab", name="Coverage").click()
    expect(page.get_by_role("heading", name="Gaps")).to_be_visible()


VIEWS: dict[str, View] = {
    "Ask, empty": _at(""),
    "Ask, answered": _at(f"?conversation={_TEXT}", "Three days"),
    "Ask, form": _at(f"?conversation={_FORM}", "prepare a local flood plan"),
    "Ask, refused": _at(f"?conversation={_REFUSED}", "No answer found"),
    "Ask, failed": _at(f"?conversation={_FAILED}", "does not answer"),
    "Search": _at("search?words=plan"),
    "Document, text": _document,
    "Document, layout": _layout,
    "Document, licence": _tab("Licence", "No licence statement found."),
    "Document, versions": _tab("Versions", "version"),
    "Document, citations": _tab("Citations", QUESTION),
    "Document, segmentation": _tab("Segmentation", "in total"),
    "Document, corrected": _dialog,
    "Compare": _at("compare"),
    "Comparison": open_comparison,
    "Library": _at("library"),
    "Coverage": _coverage,
    "Notebook": _at("notebook", "For the report."),
    "Evaluation": _at("evaluation"),
    **{f"Admin, {tab}": _at(f"admin?tab={tab}") for tab in _TABS},
}
