"""Share of children that carry the right section, on statutes and treaties whose sections are known.

    python -m benchmarks.pipeline.sections [--shared DIR]

A child is right when its parent names the last section that begins at or before the child's own first character.
Where sections begin is read from data/eval/sections_starts.tsv, and for the acts of statutes_in from their own records.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import machine, write_table
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.chunking.section.chunks import section_chunks, section_coverage
from rag_engine.config import DATA, ChunkSizes
from rag_engine.types.document import ExtractedText
from rag_engine.types.passage import Parent

ROOT = Path(__file__).resolve().parents[2]
TRUTH = DATA / "eval" / "sections_starts.tsv"
ACTS = {
    "constitution": ("The Constitution of India", "Article"),
    "crpc": ("The Code of Criminal Procedure, 1973", "Section"),
    "iea": ("The Indian Evidence Act, 1872", "Section"),
    "ipc": ("The Indian Penal Code", "Section"),
}
_RECORD = re.compile(r"[A-Z]+_(\d+)\s?([A-Z ]*)")


@dataclass(frozen=True, slots=True)
class Start:
    """Where a section begins: its first words, on a page."""

    page: int
    section: str
    begins: str


@dataclass(frozen=True, slots=True)
class Score:
    """How many children of a document carry the right section. `wrong` are (right, given, first words)."""

    name: str
    sections: int
    coverage: float
    parents: int
    children: int
    right: int
    seconds: float
    wrong: tuple[tuple[str, str, str], ...]

    @property
    def share(self) -> float:
        return self.right / self.children if self.children else 0.0


def truths() -> dict[str, list[Start]]:
    """Return the starts of each document's sections, in reading order."""
    with TRUTH.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        name: [Start(int(row["page"]), row["section"], row["begins"]) for row in of_file]
        for name, of_file in groupby(rows, key=lambda row: row["file"])
    }


def located(text: str, starts: Sequence[Start]) -> list[tuple[int, str]]:
    """Offset and section of each start; ValueError where its words do not stand after the start before it."""
    found: list[tuple[int, str]] = []
    cursor = 0
    for start in starts:
        words = re.compile(r"\s*".join(map(re.escape, start.begins.split())))
        match = words.search(text, cursor)
        if not match:
            raise ValueError(f"{start.section!r} on page {start.page}: {start.begins!r} was not found.")
        found.append((match.start(), start.section))
        cursor = match.start() + 1
    return found


def score(name: str, extracted: ExtractedText, language: str, starts: Sequence[tuple[int, str]]) -> Score:
    """Return the document cut into sections and compared with where they begin."""
    began = time.perf_counter()
    parents = section_chunks(
        extracted.text, language, title=extracted.title, blocks=extracted.blocks, config=ChunkSizes()
    )
    seconds = time.perf_counter() - began
    sections, coverage = section_coverage(extracted.text, language, title=extracted.title, blocks=extracted.blocks)
    wrong = list(_wrong(parents, starts))
    children = sum(len(parent.children) for parent in parents)
    return Score(name, sections, coverage, len(parents), children, children - len(wrong), seconds, tuple(wrong))


def _wrong(parents: Sequence[Parent], starts: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
    offsets = [offset for offset, _ in starts]
    for parent in parents:
        for child in parent.children:
            place = bisect_right(offsets, parent.start + child.start) - 1
            right = starts[place][1] if place >= 0 else ""
            if parent.section != right:
                yield right, parent.section, child.text[:60].replace("\n", " ")


def act_as_printed(path: Path) -> tuple[str, list[tuple[int, str]]]:
    """Return an act's records as one text with headings and chapters, and the start of each record.

    A heading is "Section 5. Title".
    """
    title, noun = ACTS[path.stem]
    text, starts, chapter = f"{title}\n\n", [(0, "")], None
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        found = _RECORD.fullmatch(record["_id"])
        assert found, record["_id"]
        number = found[1] + found[2].replace(" ", "")
        label = record["title"] if number == "0" else f"{noun} {number}"
        starts.append((len(text), label))
        if record.get("chapter", chapter) != chapter:
            chapter = record["chapter"]
            text += f"CHAPTER {chapter}\n\n{record['chapter_title'].upper()}\n\n".replace("\n\n\n\n", "\n\n")
        text += record["title"] if number == "0" else f"{label}. {record['title']}"
        text += "\n\n" + re.sub(r"\n\s*\n+", "\n\n", record["text"].strip()) + "\n\n"
    return text, starts


def scores(shared: Path) -> Iterator[Score]:
    """One for each document of the truth table and each act."""
    for name, starts in truths().items():
        extracted = extract(shared / "data" / "corpus" / name, ExtractionLimits(), None)
        yield score(name, extracted, name[:2], located(extracted.text, starts))
    for path in sorted((shared / "data" / "benchmarks" / "statutes_in").glob("*.jsonl")):
        text, offsets = act_as_printed(path)
        with TemporaryDirectory() as folder:
            file = Path(folder) / f"{path.stem}.txt"
            file.write_text(text, encoding="utf-8")
            extracted = extract(file, ExtractionLimits(), None)
        # Extraction joins lines and drops white space: the starts are found again by their first words.
        marked = [Start(1, section, " ".join(text[offset : offset + 120].split()[:6])) for offset, section in offsets]
        yield score(f"statutes_in/{path.stem}", extracted, "en", located(extracted.text, marked))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--wrong", action="store_true", help="list the children with another section")
    arguments = parser.parse_args()
    found = list(scores(arguments.shared))
    if arguments.wrong:
        for one in found:
            for wrong in one.wrong:
                print(one.name, *wrong, sep="\t")
    rows = [
        [
            one.name,
            str(one.sections),
            f"{one.coverage:.1%}",
            str(one.parents),
            str(one.children),
            f"{one.right} ({one.share:.1%})",
            f"{one.seconds:.2f}",
        ]
        for one in found
    ]
    write_table(
        "sections",
        "Children that carry the right section",
        ["document", "numbered sections", "text in them", "parents", "children", "right section", "seconds"],
        rows,
        [
            machine("pymupdf"),
            "`python -m benchmarks.pipeline.sections`; truth in data/eval/sections_starts.tsv, taken from the printed "
            "pages.",
        ],
    )


if __name__ == "__main__":
    main()
