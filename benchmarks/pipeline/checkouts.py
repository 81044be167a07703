"""Two checkouts read the same files: what their texts differ in, and how long each takes by format.

    python -m benchmarks.pipeline.checkouts OTHER [--shared DIR] [--repeats N] [--diff DIR]

Processes of this checkout and of the OTHER folder read the files by turns, without OCR. Times are of the processor,
over the files whose texts are the same in both: those that hold nothing which one of them reads in another way. To the
corpus come files of plain paragraphs and tables, one in each format. `--diff` writes what differs as one file for each
document.
"""

from __future__ import annotations

import argparse
import difflib
import html
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import docx
import openpyxl
import pptx
import pymupdf
from pptx.util import Inches

from benchmarks.report import machine, write_table
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = (".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".html", ".epub", ".rtf", ".md", ".txt", ".csv")
_ODF = ("office", "text", "table")
# Run by either checkout, so only with what both have.
_READ = """
import json, resource, sys, time
from pathlib import Path
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
paths, found = [Path(line) for line in sys.stdin.read().splitlines()], {}
for _ in range(4):
    for path in paths:
        started = time.process_time()
        try:
            text = extract(path, ExtractionLimits(), None).text
        except Refusal as refusal:
            text = f"refused: {refusal}"
        taken = time.process_time() - started
        found[str(path)] = min(taken, found.get(str(path), (taken,))[0]), text
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"files": found, "peak": peak}))
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds and text of each file, and the most memory that the process took, in kibibytes."""

    seconds: Mapping[str, float]
    texts: Mapping[str, str]
    peak: int


def read_with(checkout: Path, paths: Sequence[Path]) -> Reading:
    """Read the files in a process of a checkout; of four times the shortest counts."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", _READ],
        input="\n".join(map(str, paths)),
        env=environment,
        cwd=checkout,
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(ran.stdout)
    files = said["files"]
    return Reading(
        {name: taken for name, (taken, _) in files.items()},
        {name: text for name, (_, text) in files.items()},
        said["peak"],
    )


def plain_files(folder: Path, paragraphs: Sequence[str]) -> list[Path]:
    """Write the paragraphs and a table of them as a file in each format, without any look."""
    rows = [[f"{number}", words[:40], words[40:80]] for number, words in enumerate(paragraphs)]
    document, deck, book = docx.Document(), pptx.Presentation(), openpyxl.Workbook()
    sheet = book.create_sheet("Plain", 0)
    for words in paragraphs:
        document.add_paragraph(words)
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = words[:60]
        slide.shapes.add_textbox(Inches(1), Inches(2), Inches(8), Inches(4)).text_frame.text = words
    table = document.add_table(0, 3)
    for row in rows:
        sheet.append(row)
        for cell, words in zip(table.add_row().cells, row, strict=True):
            cell.text = words
    for written, name in ((document, "plain.docx"), (deck, "plain.pptx"), (book, "plain.xlsx")):
        written.save(folder / name)
    body = "".join(f"<p>{html.escape(words)}</p>" for words in paragraphs)
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(words)}</td>" for words in row) + "</tr>" for row in rows)
    page = f'<html lang="en"><head><title>Plain</title></head><body>{body}<table>{cells}</table></body></html>'
    (folder / "plain.html").write_text(page, encoding="utf-8")
    _write_odt(folder / "plain.odt", paragraphs, rows)
    with pymupdf.open() as pdf:
        for words in paragraphs:
            pdf.new_page().insert_textbox(pymupdf.Rect(72, 72, 520, 760), f"{words}\n\n" * 4, fontsize=10)
        pdf.save(folder / "plain.pdf")
    return sorted(folder.iterdir())


def _write_odt(path: Path, paragraphs: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    written = "".join(f"<text:p>{html.escape(words)}</text:p>" for words in paragraphs)
    cells = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{html.escape(words)}</text:p></table:table-cell>" for words in row)
        + "</table:table-row>"
        for row in rows
    )
    spaces = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in _ODF)
    body = f"<office:body><office:text>{written}<table:table>{cells}</table:table></office:text></office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text", zipfile.ZIP_STORED)
        package.writestr("content.xml", f"<office:document-content{spaces}>{body}</office:document-content>")


def ratio(ours: Iterable[float], theirs: Iterable[float]) -> str:
    """Return how many times as fast ours are, the least, the median and the greatest of the repeats."""
    found = sorted(b / a for a, b in zip(ours, theirs, strict=True))
    return f"{found[0]:.2f} / {median(found):.2f} / {found[-1]:.2f}"


def rows_of(ours: Sequence[Reading], theirs: Sequence[Reading]) -> list[list[str]]:
    """Return a row for each format, over the files of the same text."""
    same: dict[str, list[str]] = defaultdict(list)
    other: dict[str, int] = defaultdict(int)
    for name, text in ours[0].texts.items():
        if text == theirs[0].texts[name]:
            same[Path(name).suffix].append(name)
        else:
            other[Path(name).suffix] += 1
    rows = []
    for suffix in sorted({*same, *other}):
        new, old = (
            [sum(one.seconds[name] for name in same[suffix]) for one in readings] for readings in (ours, theirs)
        )
        measured = [f"{median(old):.2f}", f"{median(new):.2f}", ratio(new, old)] if same[suffix] else ["", "", ""]
        rows.append([suffix[1:].upper(), str(len(same[suffix])), str(other[suffix]), *measured])
    peaks = [median(one.peak / 1024 for one in readings) for readings in (theirs, ours)]
    return [*rows, ["memory, MB", "", "", *(f"{peak:.0f}" for peak in peaks), f"{peaks[1] / peaks[0]:.2f}"]]


def write_differences(folder: Path, ours: Reading, theirs: Reading) -> None:
    """Write a file for each document that differs, with the lines that only one of them has."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ours.texts.items():
        before = theirs.texts[name]
        if before != text:
            lines = difflib.unified_diff(before.split("\n"), text.split("\n"), "other", "this", lineterm="", n=0)
            (folder / f"{Path(name).name}.diff").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--diff", type=Path)
    asked = parser.parse_args()
    corpus = (asked.shared / "data" / "corpus").resolve()
    paths = [path for path in sorted(corpus.iterdir()) if path.suffix in SUFFIXES and not path.name.startswith("scan_")]
    text = extract(corpus / "en_eu_climate_law_2021-1119.md", ExtractionLimits(), None).text
    paragraphs = [words for words in text.split("\n\n") if len(words) > 200 and words.isprintable()] * 5
    ours: list[Reading] = []
    theirs: list[Reading] = []
    with tempfile.TemporaryDirectory() as made:
        paths += plain_files(Path(made), paragraphs)
        for _ in range(asked.repeats):
            theirs.append(read_with(asked.other.resolve(), paths))
            ours.append(read_with(ROOT, paths))
    if asked.diff:
        write_differences(asked.diff, ours[0], theirs[0])
    write_table(
        "checkouts",
        "Reading by this checkout and by another",
        ["format", "files of one text", "others", "seconds there", "seconds here", "speed (least / median / greatest)"],
        rows_of(ours, theirs),
        [machine("pymupdf"), f"{len(paths)} files without scans, {asked.repeats} repeats, processor time."],
    )


if __name__ == "__main__":
    main()
