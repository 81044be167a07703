"""The questions on books with an index ask in words of their own for pages that the books have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ingestion.extraction.extract import extract
from ingestion.types import ExtractionLimits
from rag_engine.config import DATA
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.scoring import answer_match
from rag_engine.evaluation.datasets import read_objects
from rag_engine.text.analyzer import surface

QUESTIONS = [values for _, values in read_objects(DATA / "eval" / "index_questions.jsonl")]
# So many words in a row of a page make a question a quotation.
COPIED = 6


def test_every_question_has_an_id_of_its_own_and_is_for_development() -> None:
    assert len({one["id"] for one in QUESTIONS}) == len(QUESTIONS)
    assert {one["split"] for one in QUESTIONS} == {"dev"}
    assert set(Counter(one["document"] for one in QUESTIONS).values()) == {20}


def test_every_question_has_a_short_answer_that_holds_its_key_words() -> None:
    for one in QUESTIONS:
        question = AnswerQuestion(
            one["id"], one["language"], "terminology", one["question"], one["answer"], (), tuple(one["keywords"])
        )
        assert answer_match(one["answer"], question) == 1.0, one["id"]
        assert len(one["answer"].split()) <= 45, one["id"]


def test_the_key_words_of_an_answer_are_on_its_pages_and_not_in_its_question(shared: Path) -> None:
    for document in {one["document"] for one in QUESTIONS}:
        extracted = extract(shared / "data" / "indexbook" / document, ExtractionLimits(), None)
        words: dict[int, str] = {}
        for line in extracted.lines:
            words[line.page] = f"{words.get(line.page, '')} {extracted.text[line.start : line.end]}"
        for one in QUESTIONS:
            if one["document"] == document:
                key_words = AnswerQuestion(
                    one["id"], one["language"], "terminology", "", "", (), tuple(one["keywords"])
                )
                printed = " ".join(words[page] for page in one["pages"])
                assert answer_match(printed, key_words) == 1.0, one["id"]
                assert answer_match(one["question"], key_words) < 1.0, one["id"]


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
