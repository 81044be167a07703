"""Extraction, licences and a list of 1,000 sources from its addresses to the index.

    python -m benchmarks.pipeline.ingestion [--shared DIR] [--repeats N] [--seeds N] [--encode]

The portal that the list leads to is a process of its own on loopback. Documents are encoded by counting words, since
`indexing.py` measures the encoder; `--encode` takes the real one.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# This file has the name of the package that it measures and lies where Python looks first: whoever imports the
# package, this file included, finds the package's modules all the same.
__path__ = [str(ROOT / "ingestion")]


def extraction_rows(corpus: Path, repeats: int) -> list[list[str]]:
    """Return extraction and cleaning against bare PyMuPDF, with one worker and two, and OCR."""
    from benchmarks.pipeline.extraction import measure, rows_of

    rows = rows_of(measure(corpus, repeats))
    return [[f"pages a second, {what}" if rate else what, rate, beside] for what, rate, beside in rows]


def licence_rows() -> list[list[str]]:
    """Verdicts a second without a network."""
    from benchmarks.pipeline.licences import FOLDER, judge_case, rate, read_cases

    cases = [case for name in ("licences.tsv", "licence_statements.tsv") for case in read_cases(FOLDER / name)]
    return [["licence verdicts a second, no network", f"{rate(judge_case, cases):,.0f}", f"{len(cases)} texts"]]


def run_rows(seeds: int, encode: bool) -> tuple[list[list[str]], list[str]]:
    """Return the rows of a run of `seeds` sources against the portal, with notes on it."""
    from benchmarks.pipeline.local_portal import SLOW_SECONDS, open_portal
    from benchmarks.pipeline.portal_run import THREADS, CountedWords, by_kind, measure_run

    with tempfile.TemporaryDirectory() as folder, open_portal(seeds) as portal:
        found = measure_run(portal, Path(folder), None if encode else CountedWords())
        kinds = by_kind(portal.seeds)
    first, second = found.first, found.second
    again = [
        f"{summary.phase} of {summary.done + summary.skipped + summary.refused + summary.failed}"
        for summary in second.summaries
    ]
    alone, overhead = found.bare + found.rendering, first.web_seconds - found.bare
    rows = [[f"{seeds:,} seeds, whole run", f"{first.seconds:.1f} s", f"{seeds / first.seconds:.1f} seeds a second"]]
    for summary in first.summaries:
        done = f"{summary.done} done, {summary.skipped} skipped, {summary.refused} refused, {summary.failed} failed"
        rows.append([f"- {summary.phase}", f"{summary.seconds:.1f} s", done])
    rows += [
        ["its plain requests by bare httpx", f"{found.bare:.1f} s", f"{len(first.plain)} requests, {THREADS} threads"],
        ["its pages with scripts by bare Chromium", f"{found.rendering:.1f} s", "one after another"],
        ["overhead per source over bare httpx", f"{1000 * overhead / seeds:.1f} ms", "browser included"],
        [
            "overhead per source over both, one after the other",
            f"{1000 * (first.web_seconds - alone) / seeds:.1f} ms",
            f"{1000 * first.web_processor / seeds:.1f} ms of processor in all",
        ],
        [
            "second run over the unchanged list",
            f"{second.seconds:.2f} s",
            f"{len(second.asked)} requests; done again: {', '.join(again) or 'nothing'}",
        ],
    ]
    reasons = "; ".join(
        f"{summary.phase}: " + ", ".join(f"{count} {reason}" for reason, count in summary.reasons.items())
        for summary in first.summaries
        if summary.reasons
    )
    return rows, [
        f"Seeds by kind: {kinds}. Slow ones answer after {SLOW_SECONDS} s. The list was read in {found.reading:.2f} s.",
        f"{found.sources} sources with what the lists offer; {found.indexed} documents with {found.children} children "
        f"in the index. {reasons}.",
        "Seconds of a phase are by the clock; network phases work on 8 sources at a time, and a PDF's licence is read "
        "in a sandbox during them. "
        + ("Encoder: the configured one." if encode else "Encoder: words are counted, no model; see indexing.md."),
    ]


def main() -> None:
    """Print and write the table."""
    from benchmarks.report import machine, write_table

    load = os.getloadavg()[0]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--encode", action="store_true")
    asked = parser.parse_args()
    rows = [*extraction_rows(asked.shared / "data" / "corpus", asked.repeats), *licence_rows()]
    run, notes = run_rows(asked.seeds, asked.encode)
    write_table(
        "ingestion",
        "Ingestion",
        ["what", "measured", "beside it"],
        [*rows, *run],
        [
            machine("pymupdf", "httpx"),
            f"Three figures are least / median / greatest of {asked.repeats} repeats; the first two in processor time. "
            f"The machine's load before it began was {load:.1f}.",
            *notes,
        ],
    )


if __name__ == "__main__":
    main()
