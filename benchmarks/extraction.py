"""Extraction and cleaning in ratio to bare PyMuPDF, with one worker and with two, and OCR.

    python benchmarks/extraction.py [--shared DIR] [--repeats N]

Each repeat runs all of it one after the other over the same files, so that a busy machine slows every part alike; the
first two are measured in processor time, the workers by the clock.
"""

from __future__ import annotations

import argparse
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import pymupdf
from report import machine, write_table

from ingestion.backends.ocr import choose_ocr
from ingestion.backends.sandbox import Sandbox
from ingestion.cleaning import clean
from ingestion.extraction.extract import extract
from ingestion.types import ExtractionLimits

ROOT = Path(__file__).resolve().parents[1]
LIMITS = ExtractionLimits()
BARE_FLAGS = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES


def bare(paths: Sequence[Path]) -> None:
    """Nothing; every page as PyMuPDF's dictionary of blocks, lines and spans."""
    for path in paths:
        with pymupdf.open(path) as document:
            for page in document:
                page.get_text("dict", flags=BARE_FLAGS)


def ours(paths: Sequence[Path]) -> None:
    """Nothing; every file extracted and cleaned in this process."""
    for path in paths:
        clean(extract(path, LIMITS, None), path.name[:2])


def workers(sandboxes: Sequence[Sandbox], paths: Sequence[Path]) -> None:
    """Nothing; every file extracted by one of the sandboxes and cleaned, each sandbox with a thread of its own."""
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for path in paths:
        waiting.put(path)

    def work(sandbox: Sandbox) -> None:
        while True:
            try:
                path = waiting.get_nowait()
            except queue.Empty:
                return
            clean(sandbox.extract(path), path.name[:2])

    with ThreadPoolExecutor(len(sandboxes)) as pool:
        list(pool.map(work, sandboxes))


def seconds(call: Callable[[], None], clock: Callable[[], float]) -> float:
    started = clock()
    call()
    return clock() - started


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Least / median / greatest."""
    return " / ".join(f"{value:.{digits}f}" for value in (min(values), median(values), max(values)))


def pages_of(path: Path) -> int:
    with pymupdf.open(path) as document:
        return int(document.page_count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    corpus = asked.shared / "data" / "corpus"
    scans = sorted(corpus.glob("scan_*.pdf"))
    layered = sorted(set(corpus.glob("*.pdf")) - set(scans), key=pages_of, reverse=True)
    pages, scanned = sum(map(pages_of, layered)), sum(map(pages_of, scans))
    ocr = choose_ocr("tesseract", LIMITS)
    times: dict[str, list[float]] = {name: [] for name in ("bare", "ours", "one", "two", "ocr")}
    with Sandbox(ocr="none") as first, Sandbox(ocr="none") as second:
        # Imports, patterns and the lists of words are paid for once in the life of a process.
        ours(layered[-2:])
        bare(layered[-2:])
        workers([first], layered[-2:])
        workers([second], layered[-2:])
        for _ in range(asked.repeats):
            times["bare"].append(seconds(lambda: bare(layered), time.process_time))
            times["ours"].append(seconds(lambda: ours(layered), time.process_time))
            times["one"].append(seconds(lambda: workers([first], layered), time.perf_counter))
            times["two"].append(seconds(lambda: workers([first, second], layered), time.perf_counter))
    for _ in range(min(2, asked.repeats)):
        times["ocr"].append(seconds(lambda: [extract(path, LIMITS, ocr) for path in scans] and None, time.perf_counter))

    def row(what: str, name: str, count: int, ratio: str) -> list[str]:
        return [what, spread([count / taken for taken in times[name]], 1), ratio]

    def ratio(of: str, to: str) -> str:
        return spread([a / b for a, b in zip(times[to], times[of], strict=True)])

    write_table(
        "extraction",
        "Extraction and cleaning of PDF",
        ["what", "pages a second (least / median / greatest)", "ratio (least / median / greatest)"],
        [
            row('bare `get_text("dict")`, one core', "bare", pages, "1"),
            row("extraction and cleaning, one core", "ours", pages, f"{ratio('ours', 'bare')} of bare"),
            row("the same in one worker", "one", pages, "1"),
            row("the same in two workers", "two", pages, f"{ratio('two', 'one')} of one worker"),
            row("OCR by Tesseract", "ocr", scanned, ""),
        ],
        [
            machine("pymupdf"),
            f"{len(layered)} files with a text layer, {pages} pages; {len(scans)} scans, {scanned} pages; "
            f"{asked.repeats} repeats.",
        ],
    )


if __name__ == "__main__":
    main()
