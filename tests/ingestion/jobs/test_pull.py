"""Language models that a page asks for: the worker has Ollama download them, chooses and tries them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.acts.jobs import control
from ingestion.acts.language_models import fitting_model, list_models, proposed_models, queue_pull
from ingestion.acts.people import audit_entries
from ingestion.worker import work
from rag_engine.backends.ollama import pull_model
from rag_engine.config import GenerationConfig
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.settings import keep_setting, read_settings
from tests.ingestion.backup.workspaces import HARBOUR, add, context_of, open_engine
from tests.rag_engine.backends.scripted_server import Reply, Script, serving
from tests.rag_engine.backends.test_ollama import line, listing, words

GIGABYTE = 1_000_000_000


def pulled(*more: bytes) -> Reply:
    parts = [("sha256:big", 0), ("sha256:big", 900_000_000), ("sha256:small", 50_000_000)]
    totals = {"sha256:big": 900_000_000, "sha256:small": 50_000_000}
    lines = [line(status=f"pulling {part}", digest=part, total=totals[part], completed=done) for part, done in parts]
    return Reply((line(status="pulling manifest"), *lines, *more))


@pytest.fixture
def ollama() -> Iterator[Script]:
    """Serve an Ollama that has one model and can download another."""
    shown = {"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]}
    script = Script(
        {
            "/api/tags": listing("old:1b", "small:1b"),
            "/api/show": Reply((json.dumps(shown).encode(),)),
            "/api/ps": Reply((b'{"models": []}',)),
            "/api/pull": pulled(line(status="success")),
            "/api/chat": Reply(words("The gate is closed ", "at 4.2 metres.")),
        }
    )
    with serving(script):
        yield script


@pytest.fixture
def engine(tmp_path: Path, ollama: Script) -> Iterator[Engine]:
    add(tmp_path / "workspace", "harbour.md", HARBOUR)
    keep_setting(tmp_path / "workspace", "ollama_url", ollama.url, "Ada")
    with closing(open_engine(tmp_path / "workspace")) as engine:
        yield engine


def test_a_model_is_downloaded_chosen_and_asked_a_test_question(engine: Engine, ollama: Script) -> None:
    context = context_of(engine)
    job = queue_pull(context, " small:1b ")
    assert queue_pull(context, "small:1b").id == job.id
    work(engine)

    [done] = context.jobs.latest()
    [result] = done.results
    assert (done.status, result["model"], result["right"]) == ("done", "small:1b", True)
    assert result["answer"] == "The gate is closed at 4.2 metres."
    assert read_settings(context.workspace).value("ollama_model") == "small:1b"
    assert [body["model"] for path, body in ollama.asked if path == "/api/pull"] == ["small:1b"]
    assert ("pull", "small:1b") in [(one.act, one.on) for one in audit_entries(context)]


def test_a_download_tells_its_bytes_over_all_parts(ollama: Script) -> None:
    parts = list(pull_model(GenerationConfig(ollama_url=ollama.url), "small:1b"))
    assert parts == [(0, 900_000_000), (900_000_000, 900_000_000), (950_000_000, 950_000_000)]


def test_a_model_that_fails_its_test_question_is_there_and_says_why(engine: Engine, ollama: Script) -> None:
    ollama.replies["/api/chat"] = Reply((b'{"error": "model requires more system memory"}',), status=500)
    queue_pull(context_of(engine), "small:1b")
    work(engine)
    [done] = context_of(engine).jobs.latest()
    assert (done.status, done.results) == ("done", [{"model": "small:1b"}])
    assert "requires more system memory" in done.message


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply((line(error="pull model manifest: file does not exist"),)), "could not download no:1b: pull model"),
        (pulled(), "download of no:1b broke off"),
        (Reply(pulled().pieces, drops=True), "Download it again"),
    ],
    ids=["unknown", "ends early", "breaks off"],
)
def test_a_download_that_fails_names_the_cure_and_leaves_the_choice(
    engine: Engine, ollama: Script, reply: Reply, said: str
) -> None:
    ollama.replies["/api/pull"] = reply
    queue_pull(context_of(engine), "no:1b")
    work(engine)
    [failed] = context_of(engine).jobs.latest()
    assert failed.status == "failed"
    assert said in failed.message
    assert read_settings(context_of(engine).workspace).value("ollama_model", "") == ""


def test_a_download_is_cancelled_and_continues_when_it_is_asked_for_again(engine: Engine, ollama: Script) -> None:
    context = context_of(engine)
    ollama.replies["/api/pull"] = [Reply(pulled().pieces, stalls=True), pulled(line(status="success"))]
    job = queue_pull(context, "small:1b")
    working = threading.Thread(target=work, args=(engine,))
    working.start()
    while not any(path == "/api/pull" for path, _ in ollama.asked):
        working.join(0.02)
    control(context, "cancel", job.id)
    working.join(9)
    assert [one.status for one in context.jobs.latest()] == ["cancelled"]
    again = queue_pull(context, "small:1b")
    assert again.id != job.id
    work(engine)
    assert [one.status for one in context.jobs.latest()] == ["done", "cancelled"]


def test_models_are_listed_with_their_sizes_and_an_unnamed_one_is_refused(engine: Engine, ollama: Script) -> None:
    models = [{"name": "a:1b", "model": "a:1b", "size": 5, "details": {"family": "llama"}}]
    ollama.replies["/api/tags"] = Reply((json.dumps({"models": models}).encode(),))
    assert [(one.name, one.size) for one in list_models(context_of(engine))] == [("a:1b", 5)]
    with pytest.raises(InputError, match="no name"):
        queue_pull(context_of(engine), " ")


def test_the_largest_model_that_fits_the_memory_is_proposed() -> None:
    sizes = [one.memory for one in proposed_models()]
    assert sizes == sorted(sizes)
    assert fitting_model(sizes[1]) == proposed_models()[1]
    assert fitting_model(sizes[1] - 1) == proposed_models()[0]
    assert fitting_model(GIGABYTE) is None
