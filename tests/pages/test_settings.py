"""The Settings tab over a small collection, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import resources
from pages._shared.interface_language import _
from rag_engine.config import read_config
from rag_engine.settings import keep_setting, read_settings, settings_file, settings_table
from tests.pages.conftest import Start, open_page, plain


def settings(app: AppTest) -> AppTest:
    return open_page(app, "admin", tab="settings")


def test_every_setting_is_explained_with_where_its_value_comes_from(start: Start, own: Path) -> None:
    keep_setting(own, "answer_seconds", "600", "Grace")
    app = settings(start(own))

    assert not app.exception
    words = plain(app)
    explained = [(one.name, one.label, _(one.explanation)) for one in settings_table().values()]
    assert not [name for name, label, explanation in explained if label not in words or explanation not in words]
    assert "Kept with the workspace: Grace, " in words
    assert "Only the server's administrator sets it (a secret)." in words


def test_a_value_is_saved_with_its_effect_said_before_and_counts_without_a_restart(start: Start, own: Path) -> None:
    app = settings(start(own))
    assert not [button for button in app.button if button.key and button.key.startswith("save ")]

    app.text_input("input answer_seconds default 300").input("600").run()
    assert "Takes effect from the next question." in plain(app)
    assert read_settings(own).state("answer_seconds").origin == "default"
    app.button("save answer_seconds").click().run()

    assert not app.exception
    assert read_settings(own).value("answer_seconds") == 600
    start(own)
    assert resources.engine().config.generation.answer_seconds == 600

    app.button("reset answer_seconds").click().run()
    start(own)
    assert resources.engine().config.generation.answer_seconds == 300


def test_what_a_change_of_the_index_means_is_said_and_nothing_is_started(start: Start, own: Path) -> None:
    app = settings(start(own))
    app.selectbox("input chunking default ").select("section").run()

    assert "3 documents must be encoded again" in plain(app)
    app.button("save chunking").click().run()
    assert read_config(own).chunking.strategy == "section"
    assert not resources.jobs().latest()


def test_what_the_environment_sets_cannot_be_edited(start: Start, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_CONTROLLER", "off")
    app = settings(start(own))

    assert "The server's administrator has fixed this value." in plain(app)
    assert not [one for one in app.selectbox if one.key and "controller" in one.key]


def test_a_value_that_is_not_allowed_is_refused_on_the_page(start: Start, own: Path) -> None:
    app = settings(start(own))
    app.text_input("input answer_seconds default 300").input("soon").run()

    assert "no number from 1 to" in app.error[0].value
    assert not [button for button in app.button if button.key == "save answer_seconds"]
    assert not settings_file(own).exists()


def test_a_damaged_file_is_an_error_with_its_remedy(start: Start, own: Path) -> None:
    app = settings(start(own))
    settings_file(own).write_text("colour = 'red'\n", encoding="utf-8")
    app.run()

    assert "has an entry 'colour' that is no setting" in plain(app)
    assert "The server's administrator can remove it." in plain(app)
    assert not app.exception
