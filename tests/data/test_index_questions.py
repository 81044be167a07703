"""The questions on books with an index ask in other words than the books, for pages that they have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.config import DATA
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.scoring import answer_match
from rag_engine.evaluation.datasets import read_objects
from rag_engine.text.analyzer import surface

QUESTIONS = [line.values for line in read_objects(DATA / "eval" / "index_questions.jsonl")]
# So many words in a row of a page make a question a quotation.
COPIED = 6


def test_every_question_has_an_id_of_its_own_and_is_for_development() -> None:
    assert len({one["id"] for one in QUESTIONS}) == len(QUESTIONS)
    assert {one["split"] for one in QUESTIONS} == {"dev"}
    assert set(Counter(one["document"] for one in QUESTIONS).values()) == {20}


def key_words_of(one: Mapping[str, Any]) -> AnswerQuestion:
    """Return a question of which only the key words count."""
    return AnswerQuestion(one["id"], one["language"], "terminology", "", "", (), tuple(one["keywords"]))


def test_every_question_has_a_short_answer_that_holds_its_key_words() -> None:
    for one in QUESTIONS:
        assert answer_match(one["answer"], key_words_of(one)) == 1.0, one["id"]
        assert len(one["answer"].split()) <= 45, one["id"]


@pytest.mark.parametrize("document", sorted({one["document"] for one in QUESTIONS}))
def test_the_key_words_of_an_answer_are_on_its_pages_and_its_question_copies_none_of_them(
    shared: Path, document: str
) -> None:
    extracted = extract(shared / "data" / "indexbook" / document, ExtractionLimits(), None)
    pages: defaultdict[int, str] = defaultdict(str)
    for line in extracted.lines:
        pages[line.page] += f" {extracted.text[line.start : line.end]}"
    for one in QUESTIONS:
        if one["document"] == document:
            printed = [pages[page] for page in one["pages"]]
            assert all(len(text) > 300 for text in printed), one["id"]
            assert answer_match(" ".join(printed), key_words_of(one)) == 1.0, one["id"]
            assert answer_match(one["question"], key_words_of(one)) < 1.0, one["id"]
            assert not any(runs_of(one["question"]) & runs_of(text) for text in printed), one["id"]


def runs_of(text: str) -> set[tuple[str, ...]]:
    """Return every run of COPIED words of a text."""
    words = surface(text)
    return {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}
