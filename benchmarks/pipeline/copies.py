"""Copies, versions and different works: verdicts on pairs from real documents, by limits of likeness.

    python -m benchmarks.pipeline.copies [--shared DIR]

Each document is compared with five made from it:

- with a cover page in front
- misread by OCR (a letter in two of a hundred words)
- its first two thirds
- amended (three paragraphs in other words, a later date)
- a plan of another place on the same pattern (its most frequent names and all its numbers are others)
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from benchmarks.report import machine, write_table
from ingestion.config import DeduplicationConfig
from ingestion.deduplication import pairs
from ingestion.deduplication.find_duplicates import relate
from ingestion.deduplication.signatures import ComparedSource, candidate_of
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.types.source import Extraction, ListedSource
from rag_engine.types.document import ExtractedText

ROOT = Path(__file__).resolve().parents[2]
# Characters of the documents: shorter ones have no paragraphs to change, longer ones take their time.
SHORTEST, LONGEST = 8_000, 120_000
COVER = (
    "Institutional repository of the university library. This copy was made available for research and private study. "
    "Downloaded on 3 March 2021 at 14:05. Please cite the published version. Items in the repository are protected. "
) * 2
NAMES = ("Brookhaven", "Larkfield", "Ostermoor", "Valdrino", "Kestrel", "Penrose")
WANTED = {
    "cover page": "copy", "misread": "copy", "two thirds": "copy", "amended": "version", "another place": "other",
}  # fmt: skip


def texts(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the PDFs that are neither very short nor very long."""
    for path in sorted(corpus.glob("*.pdf")):
        if path.name.startswith("scan_"):
            continue
        text = extract(path, ExtractionLimits(), None).text
        if SHORTEST <= len(text) <= LONGEST:
            yield path.stem, text


def misread(text: str, chance: random.Random) -> str:
    """Return the text with a letter exchanged in two of a hundred words."""

    def read(word: re.Match[str]) -> str:
        letters = word.group()
        if chance.random() >= 0.02:
            return letters
        at = chance.randrange(len(letters))
        return letters[:at] + chance.choice("bcehlnor") + letters[at + 1 :]

    return re.sub(r"[^\W\d_]{4,}", read, text)


def amended(text: str, chance: random.Random) -> str:
    """Return the text with three of its longer paragraphs in other words."""
    lines = text.split("\n")
    long = [place for place, line in enumerate(lines) if len(line) > 60]
    for place in chance.sample(long, min(3, len(long))):
        lines[place] = f"The provision number {place} is replaced: the competent body decides within six weeks."
    return "\n".join(lines)


def elsewhere(text: str) -> str:
    """Return the text with its most frequent names exchanged and every number another."""
    found = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{3,}\b", text))
    for (name, _), other in zip(found.most_common(len(NAMES)), NAMES, strict=False):
        text = re.sub(rf"\b{name}\b", other, text)
    return re.sub(r"\d+", lambda number: str(int(number.group()[:9]) * 3 + 7), text)


def made_of(text: str, chance: random.Random) -> Mapping[str, tuple[str, str]]:
    """Return what is made of a text by its name, each with its date."""
    return {
        "cover page": (f"{COVER}\n\n{text}", "2019-05-01"),
        "misread": (misread(text, chance), "2019-05-01"),
        "two thirds": (text[: text.rindex("\n", 0, 2 * len(text) // 3)], "2019-05-01"),
        "amended": (amended(text, chance), "2022-09-15"),
        "another place": (elsewhere(text), "2019-05-01"),
    }


def candidate(code: str, title: str, text: str, date: str) -> ComparedSource:
    """Return a document as deduplication sees it."""
    size = len(text)
    extracted = ExtractedText(text, 1, (), (), "text/plain", title)
    extraction = Extraction(f"{code} {size}", "text/plain", 1, 0, 0, size, size, title, "en", size)
    return candidate_of(ListedSource(code), extraction, extracted, text, score=50, date=date, sha256=f"{code} {size}")


def said_of(one: ComparedSource, other: ComparedSource, read: Mapping[str, str], config: DeduplicationConfig) -> str:
    """Return what two documents are to each other: copy, version or other."""
    reasons = {outcome.reason for outcome in relate([one, other], config, None, read.__getitem__).values()}
    if reasons & {"same_text", "same_work", "same_content"}:
        return "copy"
    return "version" if "superseded" in reasons else "other"


def row(name: str, documents: Sequence[tuple[str, str]], config: DeduplicationConfig) -> list[str]:
    """Return how many of each kind of pair are told rightly."""
    right: Counter[str] = Counter()
    for title, text in documents:
        first = candidate("A", title, text, "2019-05-01")
        for kind, (other, date) in made_of(text, random.Random(title)).items():
            # A plan of another place says so in its title.
            second = candidate("B", f"{title} {NAMES[0]}" if kind == "another place" else title, other, date)
            right[kind] += said_of(first, second, {"A": text, "B": other}, config) == WANTED[kind]
    cells = [f"{right[kind]} of {len(documents)}" for kind in WANTED]
    print(name, *cells, flush=True)
    return [name, *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    shared = parser.parse_args().shared.resolve()
    documents = [(name.replace("_", " "), text) for name, text in texts(shared / "data" / "corpus")]
    default = DeduplicationConfig()
    rows = [row("as it is", documents, default)]
    for field, value in (("text_similarity", 0.75), ("text_similarity", 0.95), ("title_similarity", 0.75)):
        rows += [row(f"{field} {value}", documents, replace(default, **{field: value}))]
    for value in (0.5, 0.7):
        with mock.patch.object(pairs, "SAME_WORK", value):
            rows.append(row(f"one work from {value}", documents, default))
    for limit, value in (("amended", 0.6), ("amended", 0.8), ("dates", 0.4), ("dates", 0.6)):
        with mock.patch.dict(pairs._LIKE_ENOUGH, {limit: value}):
            rows.append(row(f"versions by {limit} from {value}", documents, default))
    write_table(
        "copies",
        "Copies, versions and different works told rightly, by the limits of likeness",
        ["limit", *(f"{kind} ({wanted})" for kind, wanted in WANTED.items())],
        rows,
        [
            machine(),
            f"`python -m benchmarks.pipeline.copies`; {len(documents)} PDFs of the corpus, one change of a limit a "
            "row.",
        ],
    )


if __name__ == "__main__":
    main()
