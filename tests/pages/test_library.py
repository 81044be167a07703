"""The library, over a small real collection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion.types import Progress
from pages._shared.jobs import display_duration, time_left

Start = Callable[..., AppTest]


def library(app: AppTest) -> AppTest:
    return app.switch_page("pages/library.py").run()


def test_an_empty_library_offers_the_place_for_files(start: Start, tmp_path: Path) -> None:
    app = library(start(tmp_path / "empty"))

    assert not app.exception
    assert not app.dataframe
    assert len(app.get("file_uploader")) == 1


def test_the_table_lists_every_document(start: Start, collection: Path) -> None:
    app = library(start(collection))

    assert not app.exception
    assert set(app.dataframe[0].value["File"]) == {"flood-act.txt", "piano-caldo.txt", "hostile.txt"}


def test_words_and_filters_narrow_the_table(start: Start, collection: Path) -> None:
    app = library(start(collection))

    app.text_input[0].set_value("CALDO ministero").run()
    assert list(app.dataframe[0].value["Title"]) == ["Piano caldo"]

    app.text_input[0].set_value("").run()
    app.multiselect(key="library hazard").set_value(["Flood"]).run()
    assert list(app.dataframe[0].value["Title"]) == ["Flood Act"]


def choose(app: AppTest, file: str) -> AppTest:
    """Return the page after a click on a file's row: this test bed cannot click, but a widget's state can be set."""
    [table] = app.dataframe
    row = list(table.value["File"]).index(file)
    app.session_state[str(table.key)] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return app.run()


def test_a_row_that_is_chosen_opens_its_document(start: Start, collection: Path) -> None:
    app = choose(library(start(collection)), "piano-caldo.txt")

    assert not app.exception
    assert "Piano caldo" in app.get("html")[0].proto.body
    assert set(app.query_params) == {"document"}


def test_the_library_lists_every_document_again_after_one_was_open(start: Start, collection: Path) -> None:
    app = library(choose(library(start(collection)), "piano-caldo.txt"))

    assert not app.exception
    assert len(app.dataframe[0].value) == 3


@pytest.mark.parametrize(
    ("done", "seconds", "left"), [(0, 10.0, None), (50, 1.0, None), (50, 10.0, 10.0), (100, 10.0, 0.0)]
)
def test_the_time_left_is_told_from_the_bytes_done(done: int, seconds: float, left: float | None) -> None:
    assert time_left(Progress(1, 2, done, 100, "a.pdf"), seconds) == left


@pytest.mark.parametrize(("seconds", "words"), [(41.6, "42 s"), (90.0, "2 min"), (7200.0, "2.0 h")])
def test_a_duration_is_told_as_people_say_it(seconds: float, words: str) -> None:
    assert display_duration(seconds) == words
