"""The language model from the page: said once how to get one, chosen, downloaded."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.settings import keep_setting, read_settings
from tests.pages.conftest import Start, plain
from tests.pages.test_admin import admin
from tests.rag_engine.backends.scripted_server import Reply, Script, serving
from tests.rag_engine.backends.test_ollama import line
from tests.rag_engine.backends.test_ollama import words as chat

pytestmark = pytest.mark.usefixtures("idle")


@pytest.fixture
def ollama(own: Path) -> Iterator[Script]:
    """Serve an Ollama with three models, which the workspace names."""
    models = [
        {"name": name, "model": name, "size": size, "details": {"family": "llama"}}
        for name, size in (("old:1b", 1_300_000_000), ("other:2b", 2_000_000_000), ("small:1b", 900_000_000))
    ]
    shown = {"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]}
    script = Script(
        {
            "/api/tags": Reply((json.dumps({"models": models}).encode(),)),
            "/api/show": Reply((json.dumps(shown).encode(),)),
            "/api/ps": Reply((b'{"models": []}',)),
            "/api/pull": Reply((line(status="pulling", digest="a", total=10, completed=10), line(status="success"))),
            "/api/chat": Reply(chat("At 4.2 metres.")),
        }
    )
    with serving(script):
        keep_setting(own, "ollama_url", script.url, "Ada")
        yield script


def test_without_a_model_the_sidebar_says_once_what_one_adds_and_settings_how_to_get_it(
    start: Start, own: Path
) -> None:
    app = start(own)
    assert plain(app).count("A language model writes them out") == 1
    assert "admin?tab=settings" in plain(app)
    admins = admin(app, "settings")
    settings = plain(admins)
    assert [one.proto.url for one in admins.get("link_button")] == ["https://ollama.com/download"]
    assert "Ollama does not answer at" in settings
    for text in (plain(app), settings.partition("All settings")[0]):
        assert "SEXTANT_" not in text
        assert "ollama serve" not in text


def test_the_models_are_listed_with_their_sizes_and_one_is_chosen(start: Start, own: Path, ollama: Script) -> None:
    app = admin(start(own), "settings")
    assert "Answers are written by **ollama/old:1b**" in plain(app)
    assert "**other:2b** · 2.0 GB" in plain(app)
    app.button("use other:2b").click().run()
    assert not app.exception
    assert read_settings(own).value("ollama_model") == "other:2b"
    assert "Answers are written by **ollama/other:2b**" in plain(admin(start(own), "settings"))


def test_a_model_is_downloaded_and_the_test_question_is_shown_with_its_answer(
    start: Start, own: Path, ollama: Script
) -> None:
    app = admin(start(own), "settings")
    proposed = app.selectbox("model to download")
    assert "GB to download" in proposed.options[0]
    proposed.select("").run()
    app.text_input("model named").input("small:1b").run()
    app.button("download model").click().run()
    assert "**Downloading a language model** · waiting" in plain(app)
    with closing(open_engine(read_config(own))) as engine:
        work(engine)
    told = plain(admin(start(own), "settings"))
    assert "small:1b is ready." in told
    assert "At 4.2 metres." in told
