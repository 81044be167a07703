"""The questions on the sample are well formed, and every quote is on its page of the sample as it is extracted."""

from __future__ import annotations

from collections import Counter

import pytest

from ingestion.extraction.extract import extract
from ingestion.types import ExtractionLimits
from rag_engine.backends.language_identification import identify_language
from rag_engine.config import DATA
from rag_engine.evaluation.answers.questions import SAMPLE, read_answer_questions
from rag_engine.evaluation.answers.scoring import answer_match
from rag_engine.evaluation.gold import locate

DOCUMENTS = DATA / "sample" / "documents"
QUESTIONS = read_answer_questions(SAMPLE)
QUOTED = sorted({quote.document for question in QUESTIONS for quote in question.passages})


def test_there_are_enough_questions_of_every_kind_and_language() -> None:
    assert len(QUESTIONS) >= 60
    assert Counter(one.kind for one in QUESTIONS).keys() == {
        "identification",
        "terminology",
        "geographic",
        "institutional",
    }
    assert set(Counter(one.language for one in QUESTIONS).values()) == {10}
    assert min(Counter((one.language, one.kind) for one in QUESTIONS if one.answerable).values()) == 2


def test_one_question_in_five_has_no_answer() -> None:
    assert sum(not one.answerable for one in QUESTIONS) * 5 == len(QUESTIONS)


def test_an_id_says_language_and_whether_there_is_an_answer() -> None:
    for one in QUESTIONS:
        assert one.id.startswith(f"{one.language}-")
        assert ("-none-" in one.id) != one.answerable


def test_a_question_is_recognised_as_its_language() -> None:
    taken = {one.id: identify_language(one.question) for one in QUESTIONS}
    assert taken == {one.id: one.language for one in QUESTIONS}


@pytest.mark.parametrize("document", QUOTED)
def test_every_quote_is_on_its_page(document: str) -> None:
    extracted = extract(DOCUMENTS / document, ExtractionLimits(), None)
    for question in QUESTIONS:
        for quote in question.passages:
            if quote.document == document:
                assert locate(quote, extracted), question.id


def test_a_reference_answer_has_its_own_key_words() -> None:
    wanting = [one.id for one in QUESTIONS if one.answerable and answer_match(one.answer, one) < 1]
    assert not wanting
