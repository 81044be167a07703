"""The library, over a small real collection."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from ingestion.acts.corrections import correct
from ingestion.acts.documents import add_files, queue_erasure
from ingestion.file_reading import ExtractionLimits
from ingestion.types.run import Progress
from pages._library.documents import UNCHECKED, shown_width
from pages._shared import resources
from pages._shared.field_inputs import heading_of
from pages._shared.jobs import time_left
from pages._shared.numbers_and_dates import duration
from rag_engine.types.document import Metadata
from tests.conftest import ROOT
from tests.pages.conftest import Start
from tests.present import present


def library(app: AppTest) -> AppTest:
    return app.switch_page("pages/library.py").run()


def test_an_empty_library_offers_the_place_for_files(start: Start, tmp_path: Path) -> None:
    app = library(start(tmp_path / "empty"))

    assert not app.exception
    assert not app.dataframe
    assert len(app.get("file_uploader")) == 1


def test_what_became_of_each_file_is_said_below_the_table_in_full(start: Start, tmp_path: Path) -> None:
    app = library(start(tmp_path / "empty"))
    jobs, note = resources.jobs(), "plan.pdf is damaged: no pages. Download or save it again and add that. "
    added = {"path": "/in/plan.pdf", "status": "refused", "pages": 0, "children": 0, "reason": note * 3}
    fine = {**added, "path": "/in/fine.pdf", "status": "indexed", "reason": ""}
    jobs.queue("add", {"paths": ["/in/plan.pdf", "/in/fine.pdf"]})
    job = present(jobs.next())
    jobs.finish(job.id, "done", [added, fine])

    app.run()

    assert not app.exception
    assert list(app.dataframe[0].value.columns) == ["File", "Result", "Pages", "Passages"]
    [said] = [one.value for one in app.caption if one.value.startswith("**plan")]
    assert said.count("is damaged") == 3
    assert not [one for one in app.caption if one.value.startswith("**fine")]


def test_words_and_filters_narrow_the_table_of_every_document(start: Start, collection: Path) -> None:
    app = library(start(collection))
    assert {"Flood Act", "Piano caldo"} <= set(app.dataframe[0].value["Title"])
    assert len(app.dataframe[0].value) == 3

    app.text_input[0].set_value("CALDO ministero").run()
    assert list(app.dataframe[0].value["Title"]) == ["Piano caldo"]

    app.text_input[0].set_value("").run()
    app.multiselect(key="library hazard").set_value(["Flood"]).run()
    assert list(app.dataframe[0].value["Title"]) == ["Flood Act"]


def choose(app: AppTest, *titles: str, cell: str = "") -> AppTest:
    """Return the page after rows were ticked, or a cell of one was clicked.

    This test bed cannot click, but a widget's state can be set.
    """
    [table] = app.dataframe
    rows = [list(table.value["Title"]).index(title) for title in titles]
    ticked, cells = ([], [(rows[0], cell)]) if cell else (rows, [])
    app.session_state[str(table.key)] = {"selection": {"rows": ticked, "columns": [], "cells": cells}}
    return app.run()


def test_a_click_on_a_title_opens_its_document_and_the_library_lists_all_again(start: Start, collection: Path) -> None:
    app = choose(library(start(collection)), "Piano caldo", cell="Year")
    assert app.title[0].value == "Library"

    app = choose(app, "Piano caldo", cell="Title")
    assert not app.exception
    assert "Piano caldo" in app.get("html")[0].proto.body
    assert set(app.query_params) == {"document"}
    assert len(library(app).dataframe[0].value) == 3


def test_words_of_the_text_find_a_document_and_say_where(start: Start, collection: Path) -> None:
    app = library(start(collection))
    app.text_input[0].set_value("penalties").run()
    [title], [place] = app.dataframe[0].value["Title"], app.dataframe[0].value["Found in"]
    assert (title, place) == ("Flood Act", "Text")


def test_a_field_is_called_in_the_table_as_in_the_form_that_corrects_it(start: Start, own: Path) -> None:
    app = library(start(own))
    [source] = [one.source for one in resources.engine().collection.documents() if one.metadata.title == "Flood Act"]
    correct(resources.context(), {source: {"description": ["Rules for the wardens of ponds."]}}, "Ada")
    called = heading_of("description")
    app.multiselect(key="library columns").set_value([called])
    app.text_input[0].set_value("ponds").run()
    [row] = app.dataframe[0].value.to_dict("records")
    assert (row["Found in"], row[called]) == (called, "Rules for the wardens of ponds.")


def test_the_columns_that_are_chosen_are_kept(start: Start, own: Path) -> None:
    app = library(start(own))
    app.multiselect(key="library columns").set_value(["Licence", "File"]).run()
    st.cache_resource.clear()
    again = library(start(own))
    assert list(again.dataframe[0].value.columns) == ["Title", "Licence", "File"]


def test_columns_have_names_in_the_language_and_are_kept_whatever_it_is(
    start: Start, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: "it-IT"))
    app = library(start(own))
    choice = app.multiselect(key="library columns")
    assert {"Licenza", "Tipo"} <= set(choice.options)
    choice.set_value(["Type", "Hazard"]).run()
    [piano] = [row for row in app.dataframe[0].value.to_dict("records") if row["Title"] == "Piano caldo"]
    assert piano["Hazard"] == "Ondate di calore"

    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: "en-GB"))
    assert library(start(own)).multiselect(key="library columns").value == ["Type", "Hazard"]


def unchecked(app: AppTest) -> dict[str, str]:
    return dict(zip(app.dataframe[0].value["Title"], app.dataframe[0].value[UNCHECKED], strict=True))


def test_documents_are_confirmed_together_and_that_is_undone(start: Start, own: Path, tmp_path: Path) -> None:
    start(own)
    for name in ("Quay", "Marina"):
        (tmp_path / f"{name}.md").write_text(f"# Law of the {name}\n\nThe {name} has rules against floods.", "utf-8")
        add_files(resources.context(), [tmp_path / f"{name}.md"])
    app = library(start(own))
    before = unchecked(app)
    assert before["Law of the Quay"].endswith("values")
    assert before["Flood Act"] == ""
    app.toggle(key="library unchecked").set_value(True).run()
    assert set(unchecked(app)) == {"Law of the Quay", "Law of the Marina"}
    app.toggle(key="library unchecked").set_value(False).run()

    app = choose(app, "Law of the Quay", "Law of the Marina")
    app.button(key="agree selected").click().run()
    assert not app.error
    assert set(unchecked(app).values()) == {""}
    app.button(key="undo corrections").click().run()
    assert unchecked(app) == before


def draw_form(*files: str) -> None:
    """Draw the form of correction as a page: a dialog cannot be clicked in this test bed."""
    import inspect

    from pages._library.correction import draw_correction
    from pages._shared import resources

    documents = [one for one in resources.engine().collection.documents() if one.file in files]
    inspect.unwrap(draw_correction)(documents)


def of(file: str) -> Metadata:
    return next(one.metadata for one in resources.engine().collection.documents() if one.file == file)


def test_one_form_corrects_several_documents_and_says_where_they_differ(start: Start, own: Path) -> None:
    start(own)
    before = {file: of(file) for file in ("flood-act.txt", "piano-caldo.txt")}
    form = AppTest.from_function(draw_form, args=("flood-act.txt", "piano-caldo.txt"), default_timeout=60).run()
    assert "Flood Act (1)" in "".join(one.value for one in form.caption)
    authority = next(one for one in form.text_input if one.label == "Authority")
    authority.set_value("Port of Valletta")
    next(one for one in form.button if one.label == "Save").click().run()
    assert not form.error
    for file, metadata in before.items():
        assert of(file) == replace(metadata, authority="Port of Valletta")


def test_a_long_value_that_differs_ends_with_a_word(start: Start, own: Path) -> None:
    start(own)
    summary = " ".join(["dykes and wardens"] * 9)
    source = next(one.source for one in resources.engine().collection.documents() if one.file == "flood-act.txt")
    correct(resources.context(), {source: {"description": [summary]}}, "Ada")
    form = AppTest.from_function(draw_form, args=("flood-act.txt", "piano-caldo.txt"), default_timeout=60).run()
    [said] = [one.value for one in form.caption if "dykes" in one.value]
    assert "wardens dykes … (1)" in said


def test_a_wrong_value_is_refused_with_its_reason(start: Start, own: Path) -> None:
    start(own)
    form = AppTest.from_function(draw_form, args=("flood-act.txt",), default_timeout=60).run()
    next(one for one in form.text_input if one.label == "Date").set_value("last May")
    next(one for one in form.button if one.label == "Save").click().run()
    assert "Flood Act: 'last May' is not a date" in form.error[0].value.replace("\\", "")


def test_a_deletion_of_several_documents_is_undone_at_once_on_the_page(
    start: Start, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages._shared.jobs.ensure_worker", lambda _: None)
    start(own)
    context = replace(resources.context(), start_worker=lambda _: None)
    job = queue_erasure(context, [one.source for one in context.engine.collection.documents()], undo_seconds=60)
    app = library(start(own))
    assert "**Deleting 3 documents** · waiting" in [one.value for one in app.markdown]
    [undo] = [one for one in app.button if one.label == "Undo"]
    undo.click().run()
    assert not app.error
    assert not app.exception
    ended = present(context.jobs.find(job.id))
    assert ended.status == "cancelled"


def test_the_selected_documents_are_asked_alone_by_an_address(start: Start, collection: Path) -> None:
    app = choose(library(start(collection)), "Flood Act", "Piano caldo")
    app.button(key="ask selected").click().run()
    assert not app.exception
    ids = app.query_params["document"]
    assert set(app.multiselect(key="ask document").value) == set(ids)
    assert len(ids) == 2

    opened = start(collection)
    opened.query_params["document"] = ids[:1]
    opened.run()
    assert opened.multiselect(key="ask document").value == ids[:1]
    opened.button(key="ask clear").click().run()
    assert "document" not in opened.query_params


def draw_gaps() -> None:
    from pages._library.coverage import draw_coverage
    from pages._shared import resources

    draw_coverage(resources.engine().collection.documents(), {})


@pytest.mark.parametrize(
    ("locale", "years", "country"),
    [
        ("en-GB", "- No documents from 2017 to 2018", "- Country not known\\: 1 of 3 documents"),
        ("it-IT", "- Nessun documento dal 2017 al 2018", "- Paese non indicato\\: 1 di 3 documenti"),
    ],
)
def test_gaps_are_told_in_the_language(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch, locale: str, years: str, country: str
) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: locale))
    start(collection)
    drawn = AppTest.from_function(draw_gaps, default_timeout=60).run()
    assert not drawn.exception
    assert years in drawn.markdown[0].value
    assert country in drawn.markdown[0].value


def test_the_map_counts_documents_by_country_and_year(start: Start, collection: Path) -> None:
    app = library(start(collection))
    app.session_state["library tabs"] = "Coverage"
    app.run()
    assert not app.exception
    grid = next(one.value for one in app.dataframe if "all" in one.value).set_index("")
    assert grid["all"].to_dict() == {"Ireland": 1, "Italy": 1, "not known": 1}
    assert grid["2021-2021"].to_dict() == {"Ireland": 0, "Italy": 1, "not known": 0}

    app.selectbox(key="coverage rows").set_value("hazard").run()
    app.selectbox(key="coverage columns").set_value("licence").run()
    assert not app.exception


@pytest.mark.parametrize(
    ("done", "seconds", "left"), [(0, 10.0, None), (50, 1.0, None), (50, 10.0, 10.0), (100, 10.0, 0.0)]
)
def test_the_time_left_is_told_from_the_bytes_done(done: int, seconds: float, left: float | None) -> None:
    assert time_left(Progress(1, 2, done, 100, "a.pdf"), seconds) == left


@pytest.mark.parametrize(("seconds", "words"), [(41.6, "42 s"), (90.0, "2 min"), (7200.0, "2.0 h")])
def test_a_duration_is_told_as_people_say_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_the_largest_size_of_a_file_is_said_before_it_is_uploaded(start: Start, tmp_path: Path) -> None:
    app = library(start(tmp_path / "empty"))
    [limit] = [one.value for one in app.caption if "500 MB" in one.value]
    assert "The server's administrator can add a whole folder." in limit
    # The browser refuses what is larger than the server takes, which counts as Streamlit does.
    with (ROOT / ".streamlit" / "config.toml").open("rb") as file:
        assert tomllib.load(file)["server"]["maxUploadSize"] * 2**20 == ExtractionLimits().max_bytes


@pytest.mark.parametrize(
    ("texts", "least", "most"),
    [
        (["Loi"], 95, 95),
        # A word in one line.
        (["Lignes directrices", "Recommandation"], 120, 140),
        # A list in three.
        (["France, Italie, Espagne, Portugal, Grèce, Tunisie"], 150, 200),
        (["x" * 500], 240, 240),
    ],
)
def test_a_column_is_as_wide_as_its_words(texts: list[str], least: int, most: int) -> None:
    assert least <= shown_width(95, texts) <= most
