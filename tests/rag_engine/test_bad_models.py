"""The engine with language models that are slow, loop or serve one person at a time."""

import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rag_engine.config import GenerationConfig
from rag_engine.engine import Engine
from rag_engine.types.answer import Answer
from tests.rag_engine.conftest import CountingEmbedder, unread

QUESTION = "When do residents within 300 metres of the dyke leave their homes?"
STATEMENT = "Residents leave when the gauge reads 4.5 metres [Source 1]. "
PLAN = {
    "query_1": "dyke",
    "query_2": "evacuation",
    "query_3": "gauge",
    "output_instructions": "",
    "geographic_scope": [],
}


@dataclass
class Served:
    """A language model as Ollama serves it: one request at a time. `plans` is False if it never plans.

    One that never stops says its statement again and again. `busy` gathers how many requests were being served whenever
    one began, `left` is set when a client hangs up in the middle.
    """

    plans: bool = True
    stops: bool = True
    url: str = ""
    asked: list[str] = field(default_factory=list)
    busy: list[int] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    turn: threading.Lock = field(default_factory=threading.Lock)
    serving: int = 0


class OneAtATime(BaseHTTPRequestHandler):
    """Ollama's protocol over one model."""

    model: Served

    def do_GET(self) -> None:
        self.send({"models": [{"name": "m", "model": "m", "details": {"family": "llama"}}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/api/chat":
            self.send({"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]})
            return
        with self.model.turn:
            self.model.serving += 1
            self.model.busy.append(self.model.serving)
            try:
                self.complete(plan=bool(body.get("format")))
            except ConnectionError:
                self.model.left.set()
            finally:
                self.model.serving -= 1

    def complete(self, *, plan: bool) -> None:
        model = self.model
        model.asked.append("plan" if plan else "answer")
        if plan and not model.plans:
            model.released.wait(0.6)
        self.send(said(json.dumps(PLAN)) if plan else said(STATEMENT))
        while not plan and not model.stops and not model.released.is_set():
            self.write(said(STATEMENT))
        self.write({"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})

    def send(self, line: dict[str, object]) -> None:
        self.send_response(200)
        self.end_headers()
        self.write(line)

    def write(self, line: dict[str, object]) -> None:
        self.wfile.write(json.dumps(line).encode() + b"\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def said(text: str) -> dict[str, object]:
    return {"message": {"role": "assistant", "content": text}, "done": False}


@contextmanager
def served(model: Served) -> Iterator[Served]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (OneAtATime,), {"model": model}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        model.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def asking(counted_workspace: Path, own: Path, model: Served, *, planner_seconds: float = 30.0) -> Iterator[Engine]:
    """Yield an engine whose answers the model writes."""
    config = unread(shutil.copytree(counted_workspace, own / "workspace"))
    generation = GenerationConfig(ollama_url=model.url, planner_seconds=planner_seconds)
    engine = Engine(replace(config, generation=generation), embedder=CountingEmbedder())
    yield engine
    engine.close()


def answered(engine: Engine, question: str = QUESTION) -> Answer:
    *_, last = engine.ask(question)
    assert isinstance(last, Answer)
    return last


def test_a_model_that_never_stops_is_left_and_hears_that_nobody_listens(
    counted_workspace: Path, tmp_path: Path
) -> None:
    with served(Served(stops=False)) as model, asking(counted_workspace, tmp_path, model) as engine:
        reply = answered(engine)
        assert model.left.wait(10)
    assert reply.status == "answered"
    assert reply.text == STATEMENT.strip()
    assert any("kept repeating itself" in warning for warning in reply.warnings)


def test_a_model_that_is_too_slow_to_plan_is_not_waited_for_again(counted_workspace: Path, tmp_path: Path) -> None:
    with (
        served(Served(plans=False)) as model,
        asking(counted_workspace, tmp_path, model, planner_seconds=0.3) as engine,
    ):
        first = answered(engine)
        model.released.set()
        second = answered(engine)
    assert any("within 0.3 seconds" in warning for warning in first.evidence.warnings)
    assert any("took too long to plan an earlier one" in warning for warning in second.evidence.warnings)
    assert model.asked == ["plan", "answer", "answer"]
    assert first.text == second.text == STATEMENT.strip()


def test_a_model_that_was_too_slow_to_plan_is_not_asked_for_the_parts_of_a_question_either(
    counted_workspace: Path, tmp_path: Path
) -> None:
    with (
        served(Served(plans=False)) as model,
        asking(counted_workspace, tmp_path, model, planner_seconds=0.3) as engine,
    ):
        assert engine.controller_tools().generator is not None
        engine.plan(QUESTION)
        assert engine.controller_tools().generator is None


def test_two_people_at_once_are_both_answered_by_a_server_that_takes_one(
    counted_workspace: Path, tmp_path: Path
) -> None:
    with served(Served()) as model, asking(counted_workspace, tmp_path, model) as engine, ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda question: answered(engine, question), [QUESTION] * 2))
    assert [reply.text for reply in replies] == [STATEMENT.strip()] * 2
    assert sorted(model.asked) == ["answer", "answer", "plan", "plan"]
    assert set(model.busy) == {1}
