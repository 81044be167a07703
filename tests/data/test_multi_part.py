"""The questions of several parts: their form, and that the places exist that are to answer them."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pymupdf

from benchmarks.answers.controller import read_questions, written_place
from rag_engine.config import DATA

with (DATA / "eval" / "multi_part.tsv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_there_are_sixty_questions_to_develop_with_in_seven_languages_with_at_least_two_parts_each() -> None:
    parts = Counter(row["id"] for row in ROWS)
    assert sum(one.half == "dev" for one in read_questions()) >= 60
    assert min(parts.values()) >= 2
    assert {row["language"] for row in ROWS} == {"en", "it", "fr", "es", "de", "pt", "tr"}


def test_every_id_has_one_question_in_the_language_that_it_begins_with() -> None:
    texts: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in ROWS:
        texts[row["id"]].add((row["language"], row["question"]))
    assert all(len(found) == 1 for found in texts.values())
    assert all(id.startswith(f"{language}-") for id, found in texts.items() for language, _ in found)


def test_every_place_is_a_document_with_pages_or_words(shared: Path) -> None:
    known = {path.name for path in (shared / "data" / "corpus").iterdir()}
    for row in ROWS:
        for place in row["places"].split(" | "):
            name, _, rest = place.partition(" ")
            assert name in known, row["id"]
            assert rest.startswith("“") or all(page.isdigit() for page in rest.split(",")), row["id"]


def test_every_page_that_is_to_answer_is_one_of_its_document(shared: Path) -> None:
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for row in ROWS:
        for place in map(written_place, row["places"].split(" | ")):
            pages[place.file] |= place.pages
    for name, asked in pages.items():
        if asked:
            with pymupdf.open(shared / "data" / "corpus" / name) as pdf:
                assert asked <= set(range(1, len(pdf) + 1)), name
