"""The questions with their passages are well formed, and every passage stands on its page."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.types.document import ExtractedText
from tests.conftest import ROOT

KINDS = {"statute", "decision", "guide", "report", "table", "web", "office"}
# The file holds the whole handbook four times over.
COPIES = {"en_us_doj_chapter13_trustee_handbook.docx": 4}


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote and the page of the document that it stands on."""

    document: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the file."""

    id: str
    question: str
    language: str
    passages: tuple[Passage, ...]
    cross_lingual: bool
    kind: str
    split: str


def read_items() -> list[Item]:
    with (ROOT / "data" / "eval" / "passages.jsonl").open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [Item(**{**line, "passages": tuple(Passage(**passage) for passage in line["passages"])}) for line in lines]


ITEMS = read_items()


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def pages_of(quote: str, extracted: ExtractedText) -> Iterator[set[int]]:
    """Yield the pages of the lines of each place where the quote stands, white space aside."""
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    for found in re.finditer(pattern, extracted.text):
        yield {line.page for line in extracted.lines if line.start < found.end() and line.end > found.start()}


def test_there_are_enough_questions_of_every_kind_and_language() -> None:
    assert len(ITEMS) >= 66
    assert sum(item.cross_lingual for item in ITEMS) >= 14
    assert len({passage.document for item in ITEMS for passage in item.passages}) >= 20
    assert {item.kind for item in ITEMS} == KINDS
    languages = Counter(item.language for item in ITEMS)
    assert set(languages) == {"de", "en", "es", "fr", "it", "pt", "tr"}
    assert min(languages.values()) >= 10
    in_two_parts = [item for item in ITEMS if len({one.document for one in item.passages}) < len(item.passages)]
    assert 2 <= len(in_two_parts) <= 4


def test_an_id_stands_once_and_names_the_language_and_whether_it_is_crossed() -> None:
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    for item in ITEMS:
        assert re.fullmatch(rf"{item.language}-(x-)?[a-z0-9]+-\d\d", item.id), item.id
        assert ("-x-" in item.id) == item.cross_lingual, item.id


def test_half_of_the_questions_are_held_out_by_the_hash_of_their_ids() -> None:
    for item in ITEMS:
        even = hashlib.sha256(item.id.encode()).digest()[0] % 2 == 0
        assert item.split == ("dev" if even else "heldout"), item.id
    for crossed in (False, True):
        splits = Counter(item.split for item in ITEMS if item.cross_lingual == crossed)
        assert min(splits["dev"], splits["heldout"]) >= 0.4 * splits.total()


def test_a_question_is_asked_in_its_own_words() -> None:
    assert len({item.question for item in ITEMS}) == len(ITEMS)
    for item in ITEMS:
        assert item.question.endswith("?"), item.id
        asked = words(item.question)
        runs = {" ".join(asked[start : start + 6]) for start in range(len(asked) - 5)}
        for passage in item.passages:
            assert not [run for run in runs if run in " ".join(words(passage.quote))], item.id


def test_a_crossed_question_has_no_passage_in_its_language_and_any_other_has_one() -> None:
    with (ROOT / "data" / "eval" / "corpus_metadata.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        languages = {row["file"]: row["language"] for row in rows}
    for item in ITEMS:
        answered_in = {languages[passage.document] for passage in item.passages}
        assert item.cross_lingual == (item.language not in answered_in), item.id


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, ExtractedText]:
    """Return what the product reads in every document that is quoted."""
    names = {passage.document for item in ITEMS for passage in item.passages}
    return {name: extract(shared / "data" / "corpus" / name, ExtractionLimits(), None) for name in sorted(names)}


def test_every_quote_stands_once_and_on_its_page(texts: dict[str, ExtractedText]) -> None:
    for item in ITEMS:
        for passage in item.passages:
            assert passage.quote == " ".join(passage.quote.split()), item.id
            places = list(pages_of(passage.quote, texts[passage.document]))
            assert places == [{passage.page}] * COPIES.get(passage.document, 1), (item.id, passage.quote)
