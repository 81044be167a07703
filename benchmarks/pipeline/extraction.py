"""Extraction and cleaning in ratio to bare PyMuPDF, with one worker and with two, and OCR.

    python -m benchmarks.pipeline.extraction [--shared DIR] [--repeats N]

Each repeat runs all of it one after the other over the same files, so that a busy machine slows every part alike; the
first two are measured in processor time, the workers by the clock and in processor time. Two processes that only count
show what the machine had to give to two at that time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import pymupdf

from benchmarks.report import machine, write_table
from ingestion.extraction.cleaning import clean
from ingestion.extraction.extract import extract
from ingestion.extraction.ocr.choose import choose_ocr
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[2]
LIMITS = ExtractionLimits()
BARE_FLAGS = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES


@dataclass(frozen=True, slots=True)
class Work:
    """Time of reading all files: seconds by the clock, and of each thread's and child's processor."""

    seconds: float
    threads: tuple[float, ...]
    children: tuple[float, ...]

    @property
    def longest(self) -> float:
        """Processor time of the worker that had most to do: what the clock would show if nobody waited."""
        return max(map(sum, zip(self.threads, self.children, strict=True)))

    @property
    def parent_share(self) -> float:
        """The share of processor time in this process, where only one thread computes at a time."""
        return sum(self.threads) / (sum(self.threads) + sum(self.children))


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each repeat, of the processor but for `ocr`, by the clock; `counting` are ratios."""

    files: int
    pages: int
    scans: int
    scanned: int
    bare: tuple[float, ...]
    ours: tuple[float, ...]
    one: tuple[Work, ...]
    two: tuple[Work, ...]
    counting: tuple[float, ...]
    ocr: tuple[float, ...]


def bare(paths: Sequence[Path]) -> None:
    """Read every page as PyMuPDF's dictionary of blocks, lines and spans."""
    for path in paths:
        with pymupdf.open(path) as document:
            for page in document:
                page.get_text("dict", flags=BARE_FLAGS)


def ours(paths: Sequence[Path]) -> None:
    """Extract and clean every file in this process."""
    for path in paths:
        clean(extract(path, LIMITS, None), path.name[:2])


def workers(sandboxes: Sequence[Sandbox], paths: Sequence[Path]) -> Work:
    """Every file extracted by one of the sandboxes and cleaned, with a thread for each sandbox."""
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for path in paths:
        waiting.put(path)

    def work(sandbox: Sandbox) -> tuple[float, float]:
        child, began = psutil.Process(sandbox.process_id), time.thread_time()
        before = sum(child.cpu_times()[:2])
        while True:
            try:
                path = waiting.get_nowait()
            except queue.Empty:
                return time.thread_time() - began, sum(child.cpu_times()[:2]) - before
            clean(sandbox.read(path).extracted, path.name[:2])

    started = time.perf_counter()
    with ThreadPoolExecutor(len(sandboxes)) as pool:
        found = list(pool.map(work, sandboxes))
    threads = tuple(thread for thread, _ in found)
    return Work(time.perf_counter() - started, threads, tuple(child for _, child in found))


def count_up(_turn: int) -> int:
    """Return a sum that takes some tenths of a second and shares nothing."""
    return sum(n * n for n in range(4_000_000))


def counting(pool: Executor) -> float:
    """How many times as fast two processes count as one does."""
    one = seconds(lambda: [pool.submit(count_up, turn).result() for turn in range(2)], time.perf_counter)
    two = seconds(lambda: list(pool.map(count_up, range(2))), time.perf_counter)
    return one / two


def seconds(call: Callable[[], object], clock: Callable[[], float]) -> float:
    started = clock()
    call()
    return clock() - started


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Least / median / greatest."""
    return " / ".join(f"{value:.{digits}f}" for value in (min(values), median(values), max(values)))


def pages_of(path: Path) -> int:
    with pymupdf.open(path) as document:
        return int(document.page_count)


def measure(corpus: Path, repeats: int) -> Measured:
    """All of it over the PDF of a folder; those called scan_* are for OCR."""
    scans = sorted(corpus.glob("scan_*.pdf"))
    # The longest first: a long file at the end would leave the other worker idle.
    layered = sorted(set(corpus.glob("*.pdf")) - set(scans), key=pages_of, reverse=True)
    ocr = choose_ocr("tesseract", LIMITS)
    bares, alone, one, two, counted = [], [], [], [], []
    with (
        ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool,
        Sandbox(ocr="none") as first,
        Sandbox(ocr="none") as second,
    ):
        # Processes, imports, patterns and the lists of words are paid for once in the life of a process.
        list(pool.map(count_up, range(2)))
        ours(layered[-2:])
        bare(layered[-2:])
        for sandbox in (first, second):
            sandbox.read(layered[-1])
            workers([sandbox], layered[-2:])
        for _ in range(repeats):
            bares.append(seconds(lambda: bare(layered), time.process_time))
            alone.append(seconds(lambda: ours(layered), time.process_time))
            one.append(workers([first], layered))
            two.append(workers([first, second], layered))
            counted.append(counting(pool))
    read = [
        seconds(lambda: [extract(path, LIMITS, ocr) for path in scans], time.perf_counter)
        for _ in range(min(2, repeats))
    ]
    return Measured(
        files=len(layered),
        pages=sum(map(pages_of, layered)),
        scans=len(scans),
        scanned=sum(map(pages_of, scans)),
        bare=tuple(bares),
        ours=tuple(alone),
        one=tuple(one),
        two=tuple(two),
        counting=tuple(counted),
        ocr=tuple(read),
    )


def rows_of(found: Measured) -> list[list[str]]:
    """Return the table's rows: what, pages a second, and in ratio to what."""

    def rate(taken: Sequence[float]) -> str:
        return spread([found.pages / each for each in taken], 1)

    def ratio(taken: Sequence[float], to: Sequence[float]) -> str:
        return spread([b / a for a, b in zip(taken, to, strict=True)])

    one, two = ([work.seconds for work in works] for works in (found.one, found.two))
    one_longest, two_longest = ([work.longest for work in works] for works in (found.one, found.two))
    share = spread([100 * work.parent_share for work in found.two], 1)
    return [
        ['bare `get_text("dict")`, one core', rate(found.bare), "1"],
        ["extraction and cleaning, one core", rate(found.ours), f"{ratio(found.ours, found.bare)} of bare"],
        ["the same in one worker, by the clock", rate(one), "1"],
        ["the same in two workers, by the clock", rate(two), f"{ratio(two, one)} of one worker"],
        ["one worker, by processor time", rate(one_longest), "1"],
        [
            "two workers, by the processor time of the busier",
            rate(two_longest),
            f"{ratio(two_longest, one_longest)} of one worker",
        ],
        ["two processes that only count, by the clock", "", f"{spread(found.counting)} of one"],
        ["processor time in the parent of two workers", "", f"{share} % of all"],
        ["OCR by Tesseract", spread([found.scanned / each for each in found.ocr], 2), ""],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    found = measure(asked.shared / "data" / "corpus", asked.repeats)
    write_table(
        "extraction",
        "Extraction and cleaning of PDF",
        ["what", "pages a second (least / median / greatest)", "ratio (least / median / greatest)"],
        rows_of(found),
        [
            machine("pymupdf"),
            f"{found.files} files with a text layer, {found.pages} pages; {found.scans} scans, {found.scanned} pages; "
            f"{asked.repeats} repeats.",
        ],
    )


if __name__ == "__main__":
    main()
