"""Speed of answers: Sextant's share of a model's answer, a question with quotations, a cold start.

    python -m benchmarks.answers.answering_speed [--workspace DIR] [--questions N] [--starts N]

Without a workspace the sample is indexed into a temporary one. The questions are the first of
data/eval/gold/sample.jsonl, one from each language in turn. The language model is a server on this machine that
answers at once with a set reply, so that only our time is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, zip_longest
from pathlib import Path
from statistics import median

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.config import ROOT, Config, GenerationConfig, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.answers.questions import AnswerQuestion, read_answer_questions
from rag_engine.types.answer import Answer

SAMPLE = ROOT / "data" / "sample" / "documents"
GOLD = ROOT / "data" / "eval" / "gold" / "sample.jsonl"
NO_MODEL = "http://127.0.0.1:9"
AROUND_BAR, FIRST_BAR, WARM_BAR, COLD_BAR, READING_BAR = 150.0, 100.0, 500.0, 2000.0, 500.0
# A reply of the usual length: four statements with a mark each, and one of a source that there is not.
REPLY = (
    "The authority prepares the plan and keeps it up to date [Source 1]. ",
    "It is reviewed after each event and published within 12 months [Source 2]. ",
    "The measures are paid for by the state and the municipality [Source 1] [Source 3]. ",
    "Every household is informed once a year [Source 9].",
)
PASSAGES = 20
WARM_STEPS = ("plan", "retrieval", "judge", "answer")
STARTS_SCRIPT = (
    "import sys; from benchmarks.answers.answering_speed import print_cold_stages; "
    "print_cold_stages(sys.argv[1], sys.argv[2])"
)
# Runs a command and prints its seconds and its peak of memory in KiB. A process of its own, since a child's peak begins
# with the memory of the process that starts it.
LAUNCHER = (
    "import resource, subprocess, sys, time; started = time.perf_counter(); "
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
    "print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)

Row = list[str]


class InstantModel(BaseHTTPRequestHandler):
    """Ollama's protocol, with a model whose reply is ready.

    `own` collects the seconds until its first token.
    """

    own: list[float]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        details = {"family": "llama"}
        self._send({"models": [{"name": "instant", "model": "instant", "details": details}]})

    def do_POST(self) -> None:
        started = time.perf_counter()
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/api/chat":
            self._send({"model_info": {"llama.context_length": 32768}, "capabilities": ["completion"]})
        elif asked.get("format"):
            self._send({"error": "no plans"}, status=500)
        else:
            pieces = [{"message": {"role": "assistant", "content": piece}, "done": False} for piece in REPLY]
            self._send(*pieces, {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
            self.own.append(time.perf_counter() - started)

    def _send(self, *lines: dict[str, object], status: int = 200) -> None:
        body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def instant_model() -> Iterator[tuple[str, list[float]]]:
    """Yield the address of the instant model, and the seconds that it took until each first token."""
    own: list[float] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (InstantModel,), {"own": own}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", own
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--questions", type=int, default=28)
    parser.add_argument("--starts", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sextant-speed-") as away:
        workspace = asked.workspace or _sample(Path(away))
        questions = in_turn(read_answer_questions(GOLD), asked.questions)
        rows = [*written_rows(workspace, questions), *quoted_rows(workspace, questions)]
        rows += cold_rows(workspace, questions[0], asked.starts)
    write_table(
        "answering_speed",
        "How fast answers are",
        ["what", "median", "90th percentile", "bar"],
        rows,
        [
            machine("openvino", "ollama", "httpx"),
            f"`python -m benchmarks.answers.answering_speed`; {len(questions)} questions in "
            f"{len({one.language for one in questions})} languages on the sample, {asked.starts} starts from cold.",
            "Around the model: analysing the question by rules, packing the prompt, checking the citations, "
            "labelling the sentences; searching is not in it. First token: from the packed prompt to the first piece, "
            "less what the server itself took.",
            "A warm question has its models loaded and is asked for the first time, so that nothing of it is cached.",
            "The stages from cold follow one another in a process of their own; the command itself loads the models "
            "while it analyses the question.",
        ],
    )


def _sample(away: Path) -> Path:
    """Return a workspace with the sample in it."""
    engine = open_engine(_without_model(away / "workspace"))
    add_paths([SAMPLE], engine)
    engine.close()
    return away / "workspace"


def _without_model(workspace: Path) -> Config:
    return replace(read_config(workspace), generation=GenerationConfig(ollama_url=NO_MODEL))


def in_turn(questions: Sequence[AnswerQuestion], count: int) -> list[AnswerQuestion]:
    """Return the first questions that have an answer, one of each language in turn."""
    by_language: dict[str, list[AnswerQuestion]] = {}
    for one in questions:
        if one.answerable:
            by_language.setdefault(one.language, []).append(one)
    mixed = chain.from_iterable(zip_longest(*by_language.values()))
    return [one for one in mixed if one is not None][:count]


def written_rows(workspace: Path, questions: Sequence[AnswerQuestion]) -> Iterator[Row]:
    """Yield what is done around the model and before its first token."""
    around: list[dict[str, float]] = []
    first: list[float] = []
    with instant_model() as (url, own):
        config = replace(read_config(workspace), generation=GenerationConfig(ollama_url=url))
        engine = open_engine(config)
        _answered(engine, questions[-1].question)
        for one in questions:
            planned = _plan_by_rules(engine, one.question)
            own.clear()
            answer = _answered(engine, one.question)
            if not own:  # refused before a model was asked
                continue
            seconds = answer.seconds
            first.append(1000 * (seconds["first_words"] - seconds["prompt"] - own[0]))
            around.append(
                {
                    "analysing the question": 1000 * planned,
                    "packing the prompt": 1000 * seconds["prompt"],
                    "checking the citations": 1000 * (seconds["answer"] - seconds["first_words"]),
                    "labelling the sentences": 1000 * seconds.get("support", 0.0),
                }
            )
        engine.close()
    yield _row("**around the model**", [sum(one.values()) for one in around], AROUND_BAR)
    yield from (_row(f"- {step}", [one[step] for one in around]) for step in around[0])
    yield _row("**first token, beyond the server's own**", first, FIRST_BAR)


def _plan_by_rules(engine: Engine, question: str) -> float:
    """Return the seconds that the rules take; the same engine without its language model."""
    from rag_engine.geography import load_gazetteer
    from rag_engine.planning.plan import plan_question

    started = time.perf_counter()
    plan_question(
        question, identify=engine.language_of, gazetteer=load_gazetteer(), generator=None, config=engine.config
    )
    return time.perf_counter() - started


def quoted_rows(workspace: Path, questions: Sequence[AnswerQuestion]) -> Iterator[Row]:
    """Yield a warm question with quotations, whole and by its stages."""
    engine = open_engine(_without_model(workspace))
    _answered(engine, questions[-1].question)
    total: list[float] = []
    stages: list[dict[str, float]] = []
    passages: dict[str, None] = {}
    for one in questions[:-1]:
        started = time.perf_counter()
        answer = _answered(engine, one.question)
        total.append(1000 * (time.perf_counter() - started))
        stages.append({**answer.evidence.seconds, **answer.seconds})
        passages |= {hit.text: None for hit in answer.evidence.hits}
    reading = [_read(engine, one.question, list(passages)[:PASSAGES]) for one in questions]
    engine.close()
    yield _row("**a warm question with quotations**", total, WARM_BAR)
    names = {"plan": "analysing the question", "retrieval": "searching and reading what is found"}
    names |= {"judge": "judging the passages", "answer": "choosing the quotations"}
    yield from (_row(f"- {names[step]}", [1000 * one.get(step, 0.0) for one in stages]) for step in WARM_STEPS)
    yield _row(f"**reading {PASSAGES} passages**", reading, READING_BAR)


def _read(engine: Engine, question: str, passages: Sequence[str]) -> float:
    """Return the milliseconds in which the reader reads passages that it has not read for this question."""
    reader = engine.models.reader()
    assert reader is not None, "SEXTANT_READER is none"
    started = time.perf_counter()
    reader.read(f"{question} ", passages)
    return 1000 * (time.perf_counter() - started)


def _answered(engine: Engine, question: str) -> Answer:
    *_, last = engine.ask(question)
    assert isinstance(last, Answer), "an answer always ends with itself"
    return last


def cold_rows(workspace: Path, question: AnswerQuestion, starts: int) -> Iterator[Row]:
    """Yield `sextant ask` as a new process: its time, its peak of memory, and where the time goes."""
    environment = os.environ | {"SEXTANT_OLLAMA_URL": NO_MODEL, "PYTHONPATH": str(ROOT)}
    # An installation keeps its compiled modules.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "cli", "ask", question.question, "-w", str(workspace), "--json"]
    seconds, memory = [], []
    for _ in range(starts):
        done = subprocess.run(
            [sys.executable, "-c", LAUNCHER, *command], cwd=ROOT, env=environment, capture_output=True, check=True
        )
        taken, peak = map(float, done.stdout.split())
        seconds.append(1000 * taken)
        memory.append(peak / 1024)
    yield _row("**`sextant ask` from cold**", seconds, COLD_BAR)
    yield ["- peak memory", f"{median(memory):,.0f} MB", f"{max(memory):,.0f} MB", ""]
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(ROOT / "benchmarks")))
    laps: list[dict[str, float]] = []
    for _ in range(starts):
        staged = [sys.executable, "-c", STARTS_SCRIPT, str(workspace), question.question]
        done = subprocess.run(staged, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        laps.append(json.loads(done.stdout.splitlines()[-1]))
    yield from (_row(f"- {stage}", [1000 * one[stage] for one in laps]) for stage in laps[0])


def print_cold_stages(workspace: str, question: str) -> None:
    """Print the seconds of each stage of a first question as JSON; run this in a new process."""
    stages: dict[str, float] = {}
    engine = open_engine(_without_model(Path(workspace)))
    for stage, act in {
        "opening the collection": engine.collection.snapshot,
        "looking for a language model": engine.models.language_model,
        "the question's language": lambda: engine.language_of(question),
        "loading the encoder": engine.embedder,
        "loading the reader": engine.models.reader,
        "the answer": lambda: _answered(engine, question),
    }.items():
        started = time.perf_counter()
        act()
        stages[stage] = time.perf_counter() - started
    engine.close()
    code = (
        "import time; started = time.perf_counter(); import cli.ask, rag_engine.engine, rag_engine.answering.bundle; "
    )
    code += "print(time.perf_counter() - started)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    print(json.dumps({"Python's imports": float(done.stdout), **stages}))


def _row(what: str, milliseconds: Sequence[float], bar: float | None = None) -> Row:
    """Return a line of the table, in bold words where there is a bar."""
    ordered = sorted(milliseconds)
    high = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
    met = "" if bar is None else f"{bar:,.0f} ms: {'met' if median(ordered) <= bar else 'missed'}"
    return [what, f"{median(ordered):,.0f} ms", f"{high:,.0f} ms", met]


if __name__ == "__main__":
    main()
