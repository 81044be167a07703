"""Time, memory and cache of a question in the terminal, and memory of the page after twenty questions.

    python -m benchmarks.models.first_answer CHECKOUT [CHECKOUT] [--rounds N] [--workspace DIR]

Each checkout is a folder with its own `.venv`; they are measured by turns. Empty means that nothing was ever exported,
filled that it was. Memory is the highest sum of the resident memory of a process and all that it started, looked at
forty times a second; a page shared by two processes counts in each. The page is opened over the corpus, in a browser;
DIR is a workspace that holds it already.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx
import psutil
from playwright.sync_api import sync_playwright

from benchmarks.report import machine
from rag_engine.config import ROOT, shared_folder

QUESTION = "Who warns older people when a heatwave is forecast?"
PAGE_QUESTIONS = 20
PORT = 8917
NO_MODEL = "http://127.0.0.1:9"
LOOK_SECONDS = 0.025
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds, processor seconds, megabytes at the peak of all processes, and megabytes of cache."""

    seconds: float
    processor: float
    peak: float
    cache: float


def environment(cache: Path) -> dict[str, str]:
    """Return the variables of a process that asks no server and keeps its models in `cache`."""
    return os.environ | {"SEXTANT_CACHE": str(cache), "SEXTANT_OLLAMA_URL": NO_MODEL, "HF_HUB_OFFLINE": "1"}


def resident(process: psutil.Process) -> float:
    """Return the resident megabytes of a process and of all that it started."""
    found = 0
    with suppress(psutil.NoSuchProcess):
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                found += one.memory_info().rss
    return found / MEGABYTE


def run(checkout: Path, cache: Path, *arguments: str) -> Measured:
    """Measure one command of a checkout."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [str(checkout / ".venv/bin/python"), "-m", "cli", *arguments]
    peak = 0.0
    with subprocess.Popen(command, cwd=checkout, env=environment(cache), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, resident(psutil.Process(process.pid)))
            time.sleep(LOOK_SECONDS)
    if process.returncode:
        raise SystemExit(f"{checkout}: {' '.join(arguments)} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    held = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) / MEGABYTE
    return Measured(time.perf_counter() - started, processor, peak, held)


@contextmanager
def page_server(checkout: Path, cache: Path, workspace: Path) -> Iterator[psutil.Process]:
    """Yield the process of a checkout's page."""
    command = [str(checkout / ".venv/bin/python"), "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", str(PORT)]
    variables = environment(cache) | {"SEXTANT_WORKSPACE": str(workspace)}
    with subprocess.Popen(command, cwd=checkout, env=variables, stdout=subprocess.DEVNULL) as process:
        try:
            with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=60.0) as client:
                client.get(f"http://127.0.0.1:{PORT}/_stcore/health").raise_for_status()
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


def page_memory(checkout: Path, cache: Path, workspace: Path) -> float:
    """Return the resident megabytes of the page's own process after twenty questions, each to its end."""
    with (ROOT / "data" / "eval" / "page_questions.tsv").open(encoding="utf-8") as lines:
        questions = [row["question"] for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    chosen = questions[:: max(1, len(questions) // PAGE_QUESTIONS)][:PAGE_QUESTIONS]
    with page_server(checkout, cache, workspace) as process, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(180_000)
        page.goto(f"http://127.0.0.1:{PORT}")
        for turn, question in enumerate(chosen):
            field = page.get_by_test_id("stChatInputTextArea")
            field.fill(question)
            field.press("Enter")
            page.locator(f".st-key-live-answer-{turn}").wait_for()
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        browser.close()
        held: int = process.memory_info().rss
        return held / MEGABYTE


def main() -> None:
    """Measure the checkouts by turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workspace", type=Path, help="one that holds the corpus already")
    arguments = parser.parse_args()
    checkouts = [one.absolute() for one in arguments.checkouts]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        filled = {one: folder / f"cache-{at}" for at, one in enumerate(checkouts)}
        sample = {one: folder / f"sample-{at}" for at, one in enumerate(checkouts)}
        for one in checkouts:
            run(one, filled[one], "add", str(one / "data" / "sample" / "documents"), "-w", str(sample[one]))
            run(one, filled[one], "ask", QUESTION, "-w", str(sample[one]))
        found: dict[tuple[Path, str], list[Measured]] = {}
        for _ in range(arguments.rounds):
            for one in checkouts:
                empty = folder / "empty"
                for state, cache in (("empty", empty), ("filled", filled[one])):
                    measured = run(one, cache, "ask", QUESTION, "-w", str(sample[one]))
                    found.setdefault((one, state), []).append(measured)
                shutil.rmtree(empty)
        print(machine())
        print(f"{'checkout':32} {'cache':7} {'seconds':>8} {'processor':>10} {'peak MB':>8} {'cache MB':>9}")
        for (one, state), rounds in found.items():
            columns = [median(getattr(each, name) for each in rounds) for name in Measured.__slots__]
            print(f"{one.name:32} {state:7} {columns[0]:8.1f} {columns[1]:10.1f} {columns[2]:8.0f} {columns[3]:9.0f}")
        for at, one in enumerate(checkouts):
            workspace = folder / f"page-{at}"
            if arguments.workspace:
                shutil.copytree(arguments.workspace, workspace)
            else:
                run(one, filled[one], "add", str(shared_folder() / "data" / "corpus"), "-w", str(workspace))
            print(f"{one.name:32} page process after {PAGE_QUESTIONS} questions: ", end="", flush=True)
            print(f"{page_memory(one, filled[one], workspace):.0f} MB", flush=True)


if __name__ == "__main__":
    main()
