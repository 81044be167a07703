"""The questions on books with an index ask in words of their own for pages that the books have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ingestion.extraction.extract import extract
from ingestion.types import ExtractionLimits
from rag_engine.config import DATA
from rag_engine.evaluation.datasets import read_objects
from rag_engine.text.analyzer import surface

QUESTIONS = [values for _, values in read_objects(DATA / "eval" / "index_questions.jsonl")]
# So many words in a row of a page make a question a quotation.
COPIED = 6


def test_every_question_has_an_id_of_its_own_and_is_for_development() -> None:
    assert len({one["id"] for one in QUESTIONS}) == len(QUESTIONS)
    assert {one["split"] for one in QUESTIONS} == {"dev"}
    assert set(Counter(one["document"] for one in QUESTIONS).values()) == {20}


def test_every_question_asks_for_pages_of_the_book_and_copies_none_of_them(shared: Path) -> None:
    for document in {one["document"] for one in QUESTIONS}:
        extracted = extract(shared / "data" / "indexbook" / document, ExtractionLimits(), None)
        pages: Counter[int] = Counter()
        words: dict[int, list[str]] = {}
        for line in extracted.lines:
            pages[line.page] += line.end - line.start
            words.setdefault(line.page, []).extend(surface(extracted.text[line.start : line.end]))
        for one in QUESTIONS:
            if one["document"] != document:
                continue
            assert all(pages[page] > 200 for page in one["pages"]), one["id"]
            asked = surface(one["question"])
            runs = {tuple(asked[at : at + COPIED]) for at in range(len(asked) - COPIED + 1)}
            for page in one["pages"]:
                said = words[page]
                told = {tuple(said[at : at + COPIED]) for at in range(len(said) - COPIED + 1)}
                assert not runs & told, one["id"]
