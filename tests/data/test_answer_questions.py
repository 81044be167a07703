"""The sets of plain questions are well formed, and the quotes of the sample's are on their pages."""

from __future__ import annotations

from collections import Counter

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA
from rag_engine.evaluation.answers.questions import SAMPLE, AnswerQuestion, read_answer_questions
from rag_engine.evaluation.answers.scoring import answer_match
from rag_engine.evaluation.gold import locate

QUESTIONS = read_answer_questions(SAMPLE)
CORPUS = read_answer_questions(DATA / "eval" / "gold" / "corpus.jsonl")
FRESH = read_answer_questions(DATA / "eval" / "gold" / "fresh.jsonl")
QUOTED = sorted({quote.document for question in QUESTIONS for quote in question.passages})
KINDS = {"identification", "terminology", "geographic", "institutional"}
both_sets = pytest.mark.parametrize("questions", [QUESTIONS, CORPUS], ids=["of the sample", "of the real documents"])


def test_there_are_enough_questions_of_every_kind_and_language() -> None:
    assert len(QUESTIONS) >= 60
    assert {one.kind for one in QUESTIONS} == KINDS
    assert set(Counter(one.language for one in QUESTIONS).values()) == {10}
    assert min(Counter((one.language, one.kind) for one in QUESTIONS if one.answerable).values()) == 2


def test_one_question_in_five_has_no_answer() -> None:
    assert sum(not one.answerable for one in QUESTIONS) * 5 == len(QUESTIONS)


@both_sets
def test_an_id_says_language_and_whether_there_is_an_answer(questions: list[AnswerQuestion]) -> None:
    for one in questions:
        assert one.id.startswith(f"{one.language}-")
        assert ("-none-" in one.id) != one.answerable


@both_sets
def test_a_question_is_recognised_as_its_language(questions: list[AnswerQuestion]) -> None:
    taken = {one.id: identify_language(one.question) for one in questions}
    assert taken == {one.id: one.language for one in questions}


@both_sets
def test_a_reference_answer_has_its_own_key_words(questions: list[AnswerQuestion]) -> None:
    assert [one.id for one in questions if one.answerable and answer_match(one.answer, one) < 1] == []


@pytest.mark.parametrize("document", QUOTED)
def test_every_quote_is_on_its_page(document: str) -> None:
    extracted = extract(DATA / "sample" / "documents" / document, ExtractionLimits(), None)
    for question in QUESTIONS:
        for quote in question.passages:
            if quote.document == document:
                assert locate(quote, extracted), question.id


def test_the_questions_by_which_nothing_is_chosen_are_forty_others_with_answers_half_of_them_english() -> None:
    languages = Counter(one.language for one in FRESH)
    assert len(FRESH) == 40
    assert set(languages) == {"de", "en", "es", "fr", "it", "pt", "sv", "tr"}
    assert languages["en"] >= 20
    assert all(one.answerable and one.passages and not one.split for one in FRESH)
    assert {one.question for one in CORPUS}.isdisjoint(one.question for one in FRESH)
