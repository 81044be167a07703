"""Texts that a measurement asks for, by the questions of data/eval, and that are not trained on.

A question names what answers it by a quotation or by a page. A passage that shares a run of six words with either is
left out. So is every document that is another language's version of a measured one: its paragraphs are the measured
ones in other words.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_engine.config import DATA
from rag_engine.types.document import ExtractedText

QUESTIONS = DATA / "eval"
# As the card of an adapter says it.
LEFT_OUT = (
    "passages that share six words with what a question of data/eval quotes or with a page that it names, and "
    "documents that are another language's version of one that is asked about"
)
Run = tuple[str, ...]
# The words of a quotation by which a passage that a measurement asks for is known.
_QUOTED = 6
_QUOTING = (
    *("passages.jsonl", "gold/corpus.jsonl", "gold/fresh.jsonl", "gold/sample.jsonl"),
    *("cross_language/dev.jsonl", "cross_language/heldout.jsonl"),
)
_PLACED = ("page_questions.tsv", "multi_part.tsv")


@dataclass(frozen=True, slots=True)
class MeasuredTexts:
    """Texts that answer the questions: runs of words of quotations, and the pages of each file.

    A file that is only quoted has no pages.
    """

    quoted: frozenset[Run]
    pages: Mapping[str, frozenset[int]]


def measured_texts(folder: Path = QUESTIONS) -> MeasuredTexts:
    """Return what the questions of a folder are answered by."""
    quoted: set[Run] = set()
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for file, quote, page in _places(folder):
        if quote:
            quoted |= word_runs(quote)
        pages[file] |= {page} if page else set()
    return MeasuredTexts(frozenset(quoted), {file: frozenset(found) for file, found in pages.items()})


def measured_runs(measured: MeasuredTexts, name: str, text: ExtractedText) -> frozenset[Run]:
    """Return the runs of words by which a passage of a file is known as measured.

    A line that stands on several pages, as a header does, tells none of them.
    """
    asked = measured.pages.get(name, frozenset())
    if not asked:
        return measured.quoted
    said: defaultdict[int, list[str]] = defaultdict(list)
    for line in text.lines:
        said[line.page].append(text.text[line.start : line.end])
    by_page = {page: word_runs(" ".join(lines)) for page, lines in said.items()}
    found = Counter(run for runs in by_page.values() for run in runs)
    return measured.quoted | {run for page in asked for run in by_page.get(page, ()) if found[run] == 1}


def is_version_of_measured(measured: MeasuredTexts, name: str, names: Collection[str]) -> bool:
    """Return whether a file is a measured one in another language: "es_plan.pdf" for "en_plan.pdf"."""
    language, _, rest = Path(name).stem.partition("_")
    versions = (Path(other).stem.partition("_") for other in names if other in measured.pages)
    return any(own == rest and other != language for other, _, own in versions)


def word_runs(text: str) -> set[Run]:
    """Return every run of six words of a text, or all of them where there are fewer."""
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + _QUOTED]) for at in range(max(len(words) - _QUOTED + 1, 1))}


def _places(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Yield file, quotation ("" for none) and page (0 for none) of all that answers a question."""
    for name in _QUOTING:
        for question in _objects(folder / name):
            places = question.get("passages", (question, *question.get("also", ())))
            yield from ((place["document"], place["quote"], 0) for place in places)
    for question in _objects(folder / "index_questions.jsonl"):
        yield from ((question["document"], "", page) for page in question["pages"])
    for row in _rows(folder / "support.tsv"):
        yield row["document"], row["passage"], 0
    for name in _PLACED:
        for row in _rows(folder / name):
            for place in re.split(r" [|+] ", row["places"]):
                file, _, where = place.partition(" ")
                if where.startswith("“"):
                    yield file, where.strip("“”"), 0
                else:
                    yield from ((file, "", int(page)) for page in where.split(","))


def _objects(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
