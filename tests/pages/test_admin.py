"""The admin page over a list of sources in every state, without a browser."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from ingestion import workspace as folders
from ingestion.types.run import Progress
from pages._shared import resources
from pages._shared.markdown import escape
from rag_engine.errors import WorkspaceError
from tests.pages.conftest import Start, open_page, texts

TABS = ("sources", "run", "review", "quarantine", "metadata", "dataset", "knowledge", "feedback")


@pytest.fixture
def changed(listed: Path, tmp_path: Path) -> Path:
    """Return a copy of it for a test that changes something."""
    return Path(shutil.copytree(listed, tmp_path / "workspace"))


def admin(app: AppTest, tab: str) -> AppTest:
    return open_page(app, "admin", tab=tab)


def draw_removal(code: str) -> None:
    """Draw the confirmation as a page: a dialog cannot be clicked in this test bed."""
    import inspect

    from pages._admin.sources import _confirm

    inspect.unwrap(_confirm)([code])


@pytest.mark.usefixtures("idle")
def test_a_removed_source_can_be_undone_where_it_was_removed(start: Start, changed: Path) -> None:
    start(changed)
    before = resources.store().records()

    dialog = AppTest.from_function(draw_removal, args=("ADM001",), default_timeout=60).run()
    assert any("You can undo this on the Sources tab" in one.value for one in dialog.markdown)
    dialog.button(key="remove confirmed").click().run()
    assert not dialog.error
    [job] = resources.jobs().latest()

    app = admin(start(changed), "sources")
    assert f"**{escape('Removing 1 source: ADM001')}**" in texts(app)
    app.button(key=f"cancel {job.id}").click().run()
    assert not app.exception
    assert [one.status for one in resources.jobs().latest()] == ["cancelled"]
    assert resources.store().records() == before


@pytest.mark.parametrize("tab", TABS)
def test_every_part_says_what_to_do_where_there_is_nothing(start: Start, tmp_path: Path, tab: str) -> None:
    app = admin(start(tmp_path / "empty"), tab)

    assert not app.exception
    assert len(app.info) == 1


@pytest.mark.parametrize(("locale", "title"), [("en-GB", "Admin"), ("fr-FR", "Administration")])
@pytest.mark.parametrize("tab", TABS)
def test_every_part_shows_sources_in_every_state_in_every_language(
    start: Start, listed: Path, tab: str, monkeypatch: pytest.MonkeyPatch, locale: str, title: str
) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: locale))
    app = admin(start(listed), tab)
    assert not app.exception
    assert not app.error
    assert app.title[0].value == title
    assert app.query_params["tab"] in ([tab], tab)


@pytest.mark.parametrize("locale", ["it", "fr", "es"])
def test_no_two_columns_of_the_list_have_one_heading(
    start: Start, listed: Path, locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = admin(start(listed), "sources").dataframe[0].value.columns
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: locale))
    headings = admin(start(listed), "sources").dataframe[0].value.columns
    assert len(headings) == len(english)
    assert list(headings) != list(english)


def test_the_open_tab_stays_when_the_browser_reports_none_as_chosen(start: Start, listed: Path) -> None:
    app = admin(start(listed), "review")

    app.button_group(key="admin tab").set_value(None).run()
    assert app.query_params["tab"] in (["review"], "review")
    assert "to review" in texts(app)

    app.button_group(key="admin tab").set_value("dataset").run()
    assert app.query_params["tab"] in (["dataset"], "dataset")
    assert "to review" not in texts(app)


def test_the_tab_that_was_open_last_opens_again_where_the_address_names_none(start: Start, listed: Path) -> None:
    app = admin(start(listed), "quarantine")
    app.switch_page("pages/library.py").run()
    app.switch_page("pages/admin.py")
    app.query_params.pop("tab", None)
    app.run()
    assert app.query_params["tab"] in (["quarantine"], "quarantine")
    assert "Refused for" in [one.label for one in app.button_group]


def test_a_seed_list_says_which_columns_are_not_taken(start: Start, changed: Path) -> None:
    app = admin(start(changed), "sources")
    text = b"URL,Title,Priority\nhttps://example.net/a.pdf,Storm plan,high\n"
    uploader = next(one for one in app.file_uploader if one.label.startswith("Source list"))
    uploader.set_value(("seeds.csv", text, "text/csv")).run()
    assert "Ignored column: “Priority”" in texts(app)


def test_files_that_could_not_be_added_are_kept_and_the_reason_is_shown(
    start: Start, changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uploader(label: str, *, key: str, accept_multiple_files: bool = False, **_: object) -> object:
        if key == "document upload 0":
            return [SimpleNamespace(name="rules.txt")]
        return [] if accept_multiple_files else None

    def refuse(*_: object) -> None:
        raise WorkspaceError("The disk is full.")

    monkeypatch.setattr(st, "file_uploader", uploader)
    monkeypatch.setattr("ingestion.acts.sources.add_own_files", refuse)
    app = admin(start(changed), "sources")

    next(one for one in app.button if one.label == "Add document").click().run()
    assert ["The disk is full" in one.value for one in app.error] == [True]
    assert not next(one for one in app.button if one.label == "Add document").disabled


def test_the_list_is_searched_and_narrowed_by_state(start: Start, listed: Path) -> None:
    app = admin(start(listed), "sources")
    assert len(app.dataframe[0].value) == 25

    app.text_input(key="words").set_value("council PLAN").run()
    assert list(app.dataframe[0].value["Code"]) == ["REV001", "REV002", "REV003"]

    app.text_input(key="words").set_value("").run()
    app.button_group(key="states").set_value(["failed"]).run()
    assert list(app.dataframe[0].value["Reason"]) == ["timed out", "http error"]


def test_a_link_to_a_source_shows_its_evidence_and_history(start: Start, listed: Path) -> None:
    app = admin(start(listed, source="QUA003"), "sources")
    assert "QUA003" in app.header[0].value
    assert "ADM001" in texts(app)
    assert next(iter(app.dataframe[-1].value["Event"])) == "Deduplication"
    portal = admin(start(listed, source="POR001"), "sources")
    assert escape("Documents left out, in the list already: 3.") in texts(portal)


def test_a_licence_is_not_decided_without_a_note_and_a_name_and_a_group_is_decided_at_once(
    start: Start, changed: Path
) -> None:
    app = admin(start(changed), "review")
    assert "3 sources of council" in texts(app)
    app.button(key="group REV001 green").click().run()
    assert "needs a reason" in app.error[0].value
    app.text_input(key="group REV001 note").set_value("Allowed by their terms")
    app.button(key="group REV001 green").click().run()
    assert not app.exception
    decided = {one.code for one in resources.store().decisions() if one.note == "Allowed by their terms"}
    assert decided == {"REV001", "REV002", "REV003"}
    app.button(key="undo REV001").click().run()
    assert "REV001" not in {one.code for one in resources.store().decisions()}
    app.text_input(key="admin author").set_value("").run()
    app.text_input(key="review REV005 note").set_value("They said so")
    app.button(key="review REV005 red").click().run()
    assert "needs the name of who decides" in app.error[0].value


def test_a_name_is_kept_from_tab_to_tab_and_where_its_field_was_away(start: Start, changed: Path) -> None:
    app = start(changed)
    admin(app, "review").text_input(key="admin author").set_value("Ann").run()
    assert admin(app, "quarantine").text_input(key="admin author").value == "Ann"
    app.text_input(key="admin author").set_value("").run()
    assert not [one for one in admin(app, "run").text_input if one.key == "admin author"]
    assert admin(app, "review").text_input(key="admin author").value == "Ann"


def test_what_is_restored_may_go_on_and_be_taken_back(start: Start, changed: Path) -> None:
    app = admin(start(changed), "quarantine")
    app.text_input(key="restore QUA001 note").set_value("In force")
    app.button(key="restore QUA001").click().run()

    assert resources.store().records()["QUA001"].stopped is None
    app.button(key="undo restore QUA001").click().run()
    assert resources.store().records()["QUA001"].stopped is not None


def test_a_value_is_shown_with_its_sentence_corrected_and_taken_back(start: Start, changed: Path) -> None:
    app = admin(start(changed), "metadata")
    app.selectbox(key="values document").set_value("ADM002").run()
    app.selectbox(key="values field").set_value("date").run()
    assert "2021\\-05\\-18" in texts(app)
    assert "Approved on 18 May 2021" in texts(app)

    value = next(one for one in app.text_input if one.label == "Correct value")
    value.set_value("18 May")
    app.button(key="save correction").click().run()
    assert "is not a date" in app.error[0].value

    next(one for one in app.text_input if one.label == "Correct value").set_value("2021-06")
    app.button(key="save correction").click().run()
    assert resources.store().records()["ADM002"].metadata.date == "2021-06"
    app.button(key="undo correction").click().run()
    assert resources.store().records()["ADM002"].metadata.date == "2021-05-18"


def test_documents_are_narrowed_to_those_with_an_empty_field(start: Start, listed: Path) -> None:
    app = admin(start(listed), "metadata")

    app.button_group(key="metadata which").set_value("missing").run()
    app.selectbox(key="metadata narrowed field").set_value("date").run()

    assert "4 of 8 documents" in texts(app)


def test_a_wish_in_words_is_queued_only_when_it_is_understood_and_confirmed(start: Start, changed: Path) -> None:
    # As while a worker is at it, so that none is started here.
    with folders.work_lock(changed):
        app = admin(start(changed), "run")
        for wish, said in (
            ("what a nice day", "could not be interpreted"),
            ("download what failed", "everything that failed"),
        ):
            next(one for one in app.text_input if one.label.startswith("Or describe")).set_value(wish)
            next(one for one in app.button if one.label == "Interpret").click().run()
            assert said in texts(app)
        assert runs_of() == []
        app.button(key="confirm command").click().run()
        [arguments] = runs_of()
        assert arguments["phases"] == ["acquisition"]
        assert arguments["which"] == "failed"


def test_chosen_sources_are_run(start: Start, changed: Path) -> None:
    with folders.work_lock(changed):
        app = admin(start(changed), "sources")
        key = str(app.dataframe[0].key)
        app.session_state[key] = {"selection": {"rows": [23, 24], "columns": [], "cells": []}}
        app.run()
        app.session_state[key] = {"selection": {"rows": [23, 24], "columns": [], "cells": []}}
        next(one for one in app.button if one.label == "Run selected").click().run()

        [arguments] = runs_of()
        assert arguments["codes"] == ["NEW001", "NEW002"]
        assert "Run all phases for everything new or changed of NEW001" in texts(app)


def test_what_the_list_says_stays_mere_text(start: Start, listed: Path) -> None:
    app = admin(start(listed), "review")

    shown = [one.value for one in app.markdown if "alert" in one.value]
    assert shown
    assert all("<script>" not in one and "![x]" not in one for one in shown)


def test_the_funnel_counts_what_came_how_far(start: Start, listed: Path) -> None:
    app = admin(start(listed), "run")

    table = next(one.value for one in app.dataframe if "Stage" in one.value)
    assert list(table["Passed"]) == [24, 17, 13, 11, 9, 8, 8, 8]
    assert "licence conflict" in table["Why they were stopped"][1]


def runs_of() -> list[dict[str, object]]:
    """Return what the runs of the page's workspace were asked for."""
    return [dict(job.arguments) for job in resources.jobs().latest()]


@pytest.mark.usefixtures("idle")
def test_a_second_run_is_queued_only_when_a_person_says_so(start: Start, changed: Path) -> None:
    app = admin(start(changed), "run")
    app.button(key="run failed").click().run()
    assert [job.request.which for job in resources.jobs().latest()] == ["failed"]
    assert "after the current run" in app.button(key="run all").label
    assert "everything that failed" in app.button(key="run all").help
    app.button(key="run all").click().run()
    assert "Another run has not ended" in texts(app)
    assert len(resources.jobs().latest()) == 1
    app.button(key="second run leave").click().run()
    assert "Another run has not ended" not in texts(app)
    app.button(key="run all").click().run()
    app.button(key="second run queue").click().run()
    assert [job.request.which for job in resources.jobs().latest()] == ["due", "failed"]
    assert not app.exception


@pytest.mark.usefixtures("idle")
def test_a_running_phase_shows_its_sources_once_they_are_asked_for(start: Start, changed: Path) -> None:
    app = admin(start(changed), "run")
    app.button(key="run failed").click().run()
    job = resources.jobs().next()
    assert job is not None
    resources.jobs().beat(job.id, Progress(1, 3, 0, 0, "", "licence", now=("ADM002",), waiting=("ADM003",)))
    app.run()
    assert "1 done · 1 now · 1 waiting" in texts(app)
    columns = ["Source", "Title", "State"]
    assert columns not in [list(one.value) for one in app.dataframe]

    app.session_state[f"sources of {job.id}"] = True
    app.run()

    assert not app.exception
    [table] = [one.value for one in app.dataframe if list(one.value) == columns]
    assert table.values.tolist()[:2] == [
        ["ADM002", "National heat health action plan", "Now"],
        ["ADM003", "Plan de protección ante incendios", "Waiting"],
    ]
