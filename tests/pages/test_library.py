"""The library, over a small real collection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from streamlit.testing.v1 import AppTest

from ingestion.add_files import add_paths
from ingestion.types import Progress
from pages._library.documents import search_titles
from pages._shared.jobs import display_duration, time_left
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from tests.rag_engine.backends.test_page_renderer import page_of_shadings

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

    assert app.header[0].value == "Piano caldo"


def test_a_row_that_is_chosen_opens_no_other_document_when_the_rows_change(start: Start, collection: Path) -> None:
    app = choose(library(start(collection)), "hostile.txt")
    opened = app.query_params["document"]

    app.text_input[0].set_value("flood act").run()

    assert list(app.dataframe[0].value["File"]) == ["flood-act.txt"]
    assert app.query_params["document"] == opened


def test_a_document_that_was_closed_opens_again_after_a_search(start: Start, collection: Path) -> None:
    app = choose(library(start(collection)), "piano-caldo.txt")
    app.button(key="close document").click().run()
    assert not app.header
    app.text_input[0].set_value("caldo").run()

    app = choose(app, "piano-caldo.txt")

    assert app.header[0].value == "Piano caldo"


def test_a_link_to_a_document_shows_what_is_known_of_it(start: Start, collection: Path) -> None:
    engine = open_engine(read_config(collection))
    [document] = search_titles(engine.collection.documents(), "flood act")
    engine.close()

    app = library(start(collection, document=document.document_id))

    assert not app.exception
    assert app.header[0].value == "Flood Act"
    assert any("Parliament of Ireland" in one.value for one in app.markdown)
    assert any("**Segmentation**" in one.value for one in app.markdown)


def test_a_link_to_a_document_that_is_gone_says_so(start: Start, collection: Path) -> None:
    app = library(start(collection, document="ffffffffffff"))

    assert any("not in the collection" in one.value for one in app.info)


@pytest.mark.parametrize(
    ("done", "seconds", "left"), [(0, 10.0, None), (50, 1.0, None), (50, 10.0, 10.0), (100, 10.0, 0.0)]
)
def test_the_time_left_is_told_from_the_bytes_done(done: int, seconds: float, left: float | None) -> None:
    assert time_left(Progress(1, 2, done, 100, "a.pdf"), seconds) == left


@pytest.mark.parametrize(("seconds", "words"), [(41.6, "42 s"), (90.0, "2 min"), (7200.0, "2.0 h")])
def test_a_duration_is_told_as_people_say_it(seconds: float, words: str) -> None:
    assert display_duration(seconds) == words


def test_a_page_that_is_slow_to_draw_says_so_and_the_rest_of_the_library_is_there(start: Start, tmp_path: Path) -> None:
    with pymupdf.open() as report:
        page = report.new_page()
        for row in range(20):
            page.insert_text((72, 90 + 20 * row), f"County council {row} prepares a flood plan every six years.")
        report.save(tmp_path / "endless.pdf")
    engine = open_engine(read_config(tmp_path / "workspace"))
    [added] = add_paths([tmp_path / "endless.pdf"], engine)
    assert added.status == "indexed", added.reason
    [document] = engine.collection.documents()
    engine.collection.stored_file(document).write_bytes(page_of_shadings())
    engine.close()

    app = start(tmp_path / "workspace", document=document.document_id).switch_page("pages/library.py")
    app.query_params["document"] = document.document_id
    app.run()

    assert not app.exception
    assert [one.value for one in app.info] == ["This page takes longer to draw …"]
    assert list(app.dataframe[0].value["File"]) == ["endless.pdf"]
