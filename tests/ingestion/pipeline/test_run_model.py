"""The phases beside a language model that answers nonsense, half a JSON, or never."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ingestion.config import IngestionConfig
from ingestion.jobs.queue import JobQueue
from ingestion.pipeline.run import run_phases
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.tools import open_tools
from ingestion.types.run import RunRequest
from ingestion.worker import work
from rag_engine.config import GenerationConfig, read_config
from rag_engine.engine import Engine
from tests.portal.texts import FLOOD, HEAT
from tests.rag_engine.conftest import CountingEmbedder

SECONDS = 0.5


@contextmanager
def _model(words: str | None) -> Iterator[str]:
    """Yield the address of an endpoint whose every answer is these words; None never answers."""
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if words is None:
                released.wait(60)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            with suppress(ConnectionError):
                for delta, reason in (({"content": words}, None), ({}, "stop")):
                    choice = {"index": 0, "delta": delta, "finish_reason": reason}
                    chunk = {
                        "id": "1",
                        "object": "chat.completion.chunk",
                        "created": 0,
                        "model": "m",
                        "choices": [choice],
                    }
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    "words",
    ["Certainly! Here is the weather.", '{"title": {"value": "Fl', '{"hazards": 7, "decision": [], "x": null}', None],
    ids=["nonsense", "half a JSON", "another shape", "never"],
)
def test_documents_are_described_by_rules_within_the_models_time_and_it_is_said(
    words: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "plans"
    folder.mkdir()
    for name, text in {"flood": FLOOD, "heat": HEAT}.items():
        (folder / f"{name}.md").write_text(f"# {text.plain}", encoding="utf-8")
    with _model(words) as url:
        config = read_config(tmp_path / "workspace")
        config = replace(config, generation=GenerationConfig(openai_url=url, openai_model="m"))
        engine = Engine(config, embedder=CountingEmbedder())
        store = SourceStore(engine.catalog)
        store.add(read_source_list(folder, ()).new)
        started = time.monotonic()
        with open_tools(engine, replace(IngestionConfig(), model_seconds=SECONDS)) as tools:
            assert tools.language_model is not None
            run_phases(store, engine, replace(tools, encode=None), RunRequest())
        # Two sources, each asked for its licence and its description, with up to eight times as long for a long text.
        assert time.monotonic() - started < 4 * 8 * SECONDS + 15
        for record in store.records().values():
            outcome = record.outcomes["metadata"]
            assert (outcome.status, outcome.reason) == ("done", "model_failed")
            assert "openai" in outcome.message.lower() or "m " in outcome.message
            assert record.description is not None
            assert {value.source for value in record.description.values} == {"rule"}
        assert len(engine.collection.documents()) == 2
        engine.close()


def test_a_model_that_is_named_and_cannot_be_asked_is_told_with_the_run(tmp_path: Path) -> None:
    config = read_config(tmp_path / "workspace")
    config = replace(config, generation=GenerationConfig(openai_url="http://127.0.0.1:9/v1"))
    engine = Engine(config, embedder=CountingEmbedder())
    jobs = JobQueue(engine.catalog)
    jobs.queue("run", {})
    work(engine)
    [job] = jobs.latest()
    assert job.status == "done"
    assert "SEXTANT_OPENAI_MODEL" in job.message
    engine.close()
