"""Memory and seconds of the packaged encoder and reader, by the precision that a processor is given.

    python -m benchmarks.models.memory

Each precision is opened in a process of its own, with an empty cache and then with a filled one, which is measured.
Memory is resident, above that of the program without models; the most is that of opening and reading.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import psutil

from benchmarks.report import machine, write_table
from rag_engine.backends import model_runtime
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.model_runtime import GraphPrecision
from rag_engine.backends.reader.load import CHECK_QUESTION, load_reader
from rag_engine.config import DATA, read_config
from rag_engine.retrieval.tuning import READ, WINDOW

# The precisions of models whose outputs become chances (`fastest_precision`).
PROCESSORS: dict[GraphPrecision, str] = {"bf16": "with AMX, or AMD's AVX512-BF16", "f32": "all others"}
TEXT = DATA / "sample" / "documents" / "en-global-glossary.md"
ROUNDS = 20
COLUMNS = ("precision", "processors", "encoder MB", "both MB", "at most MB", "opening both s", "a question ms")
COLUMNS += (f"reading {READ} windows ms",)


def megabytes() -> float:
    """Return the resident memory of this process."""
    return float(psutil.Process().memory_info().rss) / 1e6


def milliseconds(call: Callable[[], object]) -> float:
    """Return the median of some rounds, after one that prepares kernels."""
    taken = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - started))
    return statistics.median(taken[1:])


def measure(precision: GraphPrecision) -> list[str]:
    """Return the figures of one precision, in the order of the columns."""
    model_runtime.fastest_precision = lambda *_, **__: precision
    text = TEXT.read_text(encoding="utf-8")
    windows = [text[WINDOW * at // 4 :][:WINDOW] for at in range(READ)]
    before, started = megabytes(), time.perf_counter()
    encoder = load_encoder(read_config().encoder)
    encoder.encode_queries([CHECK_QUESTION])
    alone = megabytes() - before
    reader = load_reader()
    reader.read(CHECK_QUESTION, windows)
    opened, both = time.perf_counter() - started, megabytes() - before
    times = [milliseconds(lambda: encoder.encode_queries([CHECK_QUESTION]))]
    times.append(milliseconds(lambda: reader.read(CHECK_QUESTION, windows)))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6 - before
    figures = [f"{alone:.0f}", f"{both:.0f}", f"{most:.0f}", f"{opened:.1f}", *(f"{one:.1f}" for one in times)]
    return [encoder.execution, PROCESSORS[precision], *figures]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=list(PROCESSORS), help="measure one, and print it alone")
    chosen = parser.parse_args().precision
    if chosen:
        print("\t".join(measure(chosen)))
        return
    rows = []
    for precision in PROCESSORS:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "benchmarks.models.memory", "--precision", precision]
            for _ in ("empty", "filled"):
                run = subprocess.run(
                    command, env=os.environ | {"SEXTANT_CACHE": cache}, stdout=subprocess.PIPE, text=True, check=True
                )
            rows.append(run.stdout.splitlines()[-1].split("\t"))
    note = "`python -m benchmarks.models.memory`; a filled cache. Both precisions are computed on this processor."
    write_table("memory", "Memory and seconds of the packaged models", COLUMNS, rows, [machine(), note])


if __name__ == "__main__":
    main()
