"""The page that compares documents or countries, over a small collection."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from ingestion.acts.comparisons import ask_comparison, begin_comparison, find_comparison, list_comparisons
from ingestion.dataset.comparison.comparison import Comparison
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.worker import work
from pages._shared import resources
from pages._shared.markdown import escape
from rag_engine.messages import Message
from tests.pages.collection import HOSTILE_TITLE
from tests.pages.conftest import Start, open_page, texts
from tests.pages.test_form import model

# Fixture of the tests of forms.
__all__ = ["model"]
WHO, WHEN = "What must a county council prepare?", "How long is a local flood plan valid?"


@pytest.fixture(autouse=True)
def without_a_model(idle: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")


def compare(app: AppTest, **query: str) -> AppTest:
    return open_page(app, "compare", **query)


def pressed(app: AppTest, label: str) -> AppTest:
    return next(one for one in app.button if one.label == label).click().run()


@pytest.fixture
def compared(start: Start, own: Path) -> Comparison:
    """Return a comparison of the documents that the worker has asked."""
    start(own)
    begun = begin_comparison(resources.context(), [WHO, WHEN], "document", {})
    ask_comparison(resources.context(), begun.id)
    work(resources.engine())
    return now(begun)


def now(comparison: Comparison) -> Comparison:
    found = find_comparison(resources.context(), comparison.id)
    assert found is not None
    return found


def test_a_link_to_a_comparison_that_is_gone_says_so(start: Start, own: Path) -> None:
    app = compare(start(own), comparison="0" * 32)
    assert not app.exception
    assert [one.value for one in app.info] == ["This comparison was deleted, or the link is incomplete."]
    assert not compare(start(own)).info


def test_questions_and_columns_make_a_table_that_a_run_fills(start: Start, own: Path) -> None:
    app = compare(start(own))
    app.text_area(key="compare questions").set_value(f"{WHO}\n{WHEN}").run()
    assert "2 questions × 3 columns = 6 cells" in texts(app)
    app = app.button(key="compare start").click().run()
    assert not app.exception
    [job] = resources.jobs().latest()
    assert (job.kind, job.arguments["questions"], job.status) == ("compare", [WHO, WHEN], "queued")
    assert "6 not asked yet" in texts(app)
    assert escape("Comparing: What must a county council prepare") in texts(app)
    work(resources.engine())
    app = app.run()
    assert "not asked yet" not in texts(app)
    assert "answered" in texts(app)


def test_countries_are_chosen_by_the_filter(start: Start, own: Path) -> None:
    app = compare(start(own))
    app.text_area(key="compare questions").set_value(WHO).run()
    app.segmented_control(key="compare by").set_value("country").run()
    assert "1 question × 2 columns = 2 cells" in texts(app)
    app.multiselect(key="compare country").set_value(["Ireland"]).run()
    app = app.button(key="compare start").click().run()
    [begun] = list_comparisons(resources.context())
    assert (begun.by, [one.key for one in begun.columns]) == ("country", ["Ireland"])


def test_the_fields_of_a_form_are_added_to_the_questions(start: Start, own: Path) -> None:
    app = compare(start(own))
    app.text_area(key="compare questions").set_value(WHO).run()
    app.button(key="compare add schema").click().run()
    lines = str(app.text_area(key="compare questions").value).splitlines()
    assert lines[0] == WHO
    assert "Policy measures, actor: who is to do it?" in lines


def begin_with_form(app: AppTest) -> AppTest:
    app.text_area(key="compare questions").set_value(WHO).run()
    app.toggle(key="compare fill form").set_value(True).run()
    return app.button(key="compare start").click().run()


def test_a_form_without_a_model_says_what_is_missing(start: Start, own: Path) -> None:
    assert "need a language model" in texts(begin_with_form(compare(start(own))))
    assert list_comparisons(resources.context()) == []


@pytest.mark.usefixtures("model")
def test_a_form_is_filled_in_by_each_document(start: Start, own: Path) -> None:
    begin_with_form(compare(start(own)))
    [begun] = list_comparisons(resources.context())
    assert begun.form is not None
    assert begun.form.title == "Policy measures"
    work(resources.engine())
    column = next(n for n, one in enumerate(begun.columns) if one.label == "Flood Act")
    app = compare(start(own), comparison=begun.id, cell=f"0.{column}")
    assert "prepare a local flood plan\\; county council :green-badge[1]" in texts(app)


def test_a_cell_says_what_went_wrong_in_its_search_and_not_how_its_passages_were_ordered(
    start: Start, own: Path, compared: Comparison
) -> None:
    warned = (
        Message("Not reranked: The reranker is switched off."),
        Message("Searched by keywords only: no encoder."),
    )
    cell = compared.cells[WHO, compared.columns[0].key]
    ComparisonStore(resources.engine().catalog).put_cell(compared.id, replace(cell, warnings=warned))
    app = compare(start(own), comparison=compared.id, cell="0.0")
    assert "Searched by keywords only" in texts(app)
    assert "Not reranked" not in texts(app)


def test_a_comparison_is_told_in_the_language(
    start: Start, own: Path, compared: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: "it-IT"))
    column = next(n for n, one in enumerate(compared.columns) if one.label == "Flood Act")
    app = compare(start(own), comparison=compared.id, cell=f"0.{column}")
    assert not app.exception
    assert "Cercato in 1 passaggio di 1 documento" in texts(app)
    assert "con risposta" in texts(app)


def test_asking_a_cell_again_queues_that_cell_alone(start: Start, own: Path, compared: Comparison) -> None:
    app = compare(start(own), comparison=compared.id, cell="1.0")
    app = app.button(key="comparison ask again").click().run()
    assert "cell" not in app.query_params
    job = resources.jobs().latest()[0]
    assert (job.arguments["questions"], job.arguments["columns"]) == ([WHEN], [compared.columns[0].key])
    before = compared.cells[WHEN, compared.columns[0].key].asked
    work(resources.engine())
    assert now(compared).cells[WHEN, compared.columns[0].key].asked > before


def test_a_comparison_has_the_name_that_it_is_given(start: Start, own: Path) -> None:
    app = compare(start(own))
    app.text_input(key="compare name").set_value("Flood plans of 2026").run()
    app.text_area(key="compare questions").set_value(WHO).run()
    app.button(key="compare start").click().run()
    assert [one.name for one in list_comparisons(resources.context())] == ["Flood plans of 2026"]


def test_a_cell_is_accepted_with_name_and_note_and_that_is_undone(
    start: Start, own: Path, compared: Comparison
) -> None:
    app = compare(start(own), comparison=compared.id, cell="0.0")
    app.text_input(key="admin author").set_value("Ada").run()
    next(one for one in app.text_input if one.label == "Note").set_value("checked").run()
    app = app.button(key="comparison accepted").click().run()
    assert not app.exception
    cell = now(compared).cells[WHO, compared.columns[0].key]
    assert cell.decision is not None
    assert (cell.state, cell.decision.author, cell.decision.note) == ("accepted", "Ada", "checked")
    assert "Ada, " in texts(app)
    assert "1 accepted" in texts(app)
    app = app.button(key="comparison decision undo").click().run()
    assert now(compared).cells[WHO, compared.columns[0].key].decision is None


def test_a_rejection_without_a_note_says_what_is_missing(start: Start, own: Path, compared: Comparison) -> None:
    app = compare(start(own), comparison=compared.id, cell="0.0")
    app = app.button(key="comparison rejected").click().run()
    assert "A rejection needs a reason" in texts(app)
    assert now(compared).cells[WHO, compared.columns[0].key].decision is None


def test_the_next_undecided_cell_opens(start: Start, own: Path, compared: Comparison) -> None:
    places = [place for place in compared.places if compared.cells[place].status in ("answered", "closest passages")]
    first = compared.places.index(places[0])
    app = compare(start(own), comparison=compared.id, cell="1.2")
    app = app.button(key="comparison next").click().run()
    assert app.query_params["cell"] == f"{first // 3}.{first % 3}"


def test_a_long_comparison_is_drawn_a_page_at_a_time_and_searched(start: Start, own: Path) -> None:
    start(own)
    questions = [f"Who keeps watch {n}?" for n in range(200)]
    begun = begin_comparison(resources.context(), questions, "document", {}, name="Watches")
    app = compare(start(own), comparison=begun.id)
    assert not app.exception
    assert "600 cells: 600 not asked yet" in texts(app)
    assert "Questions 1 to 133 of 200" in texts(app)
    app.text_input(key=f"comparison find {begun.id}").set_value("watch 199").run()
    assert "Questions 1 to" not in texts(app)
    app.text_input(key=f"comparison find {begun.id}").set_value("nowhere").run()
    assert "No question matches." in texts(app)


def test_a_comparison_is_renamed_deleted_and_brought_back(start: Start, own: Path, compared: Comparison) -> None:
    app = compare(start(own))
    app.text_input(key=f"comparison name {compared.id}").set_value("Flood plans").run()
    app.button(key=f"comparison name {compared.id} button").click().run()
    assert now(compared).name == "Flood plans"
    app.button(key=f"comparison delete {compared.id}").click().run()
    assert list_comparisons(resources.context()) == []
    app.button(key="comparison undo").click().run()
    assert now(compared).cells == compared.cells


def test_a_question_is_added_and_another_removed(start: Start, own: Path, compared: Comparison) -> None:
    app = compare(start(own), comparison=compared.id)
    app.text_area(key=f"comparison more {compared.id} questions").set_value("Who pays a penalty?").run()
    app = pressed(app, "Add and ask")
    assert now(compared).questions == (WHO, WHEN, "Who pays a penalty?")
    work(resources.engine())
    assert not now(compared).open_places
    app = app.run()
    app.selectbox(key="comparison remove question").set_value(compared.questions[0]).run()
    # Chosen otherwise and clicked before the page is drawn in between.
    app.selectbox(key="comparison remove question").set_value(WHEN)
    app.button(key="comparison remove question now").click().run()
    assert now(compared).questions == (WHO, "Who pays a penalty?")
    app.button(key=f"comparison undo {compared.id}").click().run()
    assert now(compared).questions == (WHO, WHEN, "Who pays a penalty?")


def test_open_cells_are_asked_when_no_run_is_at_them(start: Start, own: Path) -> None:
    start(own)
    begun = begin_comparison(resources.context(), [WHO], "country", {})
    app = compare(start(own), comparison=begun.id)
    app = pressed(app, "Ask 2 open cells")
    assert resources.jobs().latest()[0].kind == "compare"
    assert "Ask 2 open cells" not in [one.label for one in app.button]
    work(resources.engine())
    assert not now(begun).open_places


def test_a_hostile_title_acts_as_text_alone(start: Start, own: Path, compared: Comparison) -> None:
    column = next(n for n, one in enumerate(compared.columns) if one.label == HOSTILE_TITLE)
    app = compare(start(own), comparison=compared.id, cell=f"0.{column}")
    assert not app.exception
    assert "![x](http" not in texts(app)
    assert "<script>" not in texts(app)


def test_an_empty_collection_leads_to_the_library(start: Start, tmp_path: Path) -> None:
    app = compare(start(tmp_path / "empty"))
    assert "no documents to compare" in texts(app)
