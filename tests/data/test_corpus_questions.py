"""The questions on the real documents with reference answers: those of the passages, and others without an answer."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter

import pytest

from rag_engine.backends.language_identification import identify_language
from rag_engine.config import DATA
from rag_engine.evaluation.answers.questions import read_answer_questions
from rag_engine.evaluation.answers.scoring import answer_match
from rag_engine.evaluation.gold import locate, read_gold
from rag_engine.types import ExtractedText

QUESTIONS = read_answer_questions(DATA / "eval" / "gold" / "corpus.jsonl")
ANSWERABLE = [one for one in QUESTIONS if one.answerable]


def test_there_are_enough_questions_of_every_kind_and_language() -> None:
    assert len(ANSWERABLE) >= 120
    assert set(Counter(one.kind for one in ANSWERABLE)) == {
        "identification",
        "terminology",
        "geographic",
        "institutional",
    }
    languages = Counter(one.language for one in ANSWERABLE)
    assert set(languages) == {"de", "en", "es", "fr", "it", "pt", "tr"}
    assert min(languages.values()) >= 10


def test_one_question_in_five_has_no_answer() -> None:
    without = [one for one in QUESTIONS if not one.answerable]
    assert len(without) / len(QUESTIONS) == pytest.approx(0.2, abs=0.01)
    assert set(Counter(one.language for one in without)) == {one.language for one in QUESTIONS}
    with (DATA / "eval" / "unanswerable.tsv").open(encoding="utf-8", newline="") as file:
        known = {(row["language"], row["question"]) for row in csv.DictReader(file, delimiter="\t")}
    assert {(one.language, one.question) for one in without} <= known


def test_a_question_with_an_answer_is_that_of_the_passages() -> None:
    passages = {
        one.id: (one.question, one.language, one.quotes) for one in read_gold(DATA / "eval" / "passages.jsonl", "all")
    }
    assert {one.id: (one.question, one.language, one.passages) for one in ANSWERABLE} == passages


def test_halves_are_those_of_the_hash_of_the_ids() -> None:
    for one in QUESTIONS:
        even = hashlib.sha256(one.id.encode()).digest()[0] % 2 == 0
        assert one.split == ("dev" if even else "heldout"), one.id


def test_an_id_says_language_and_whether_there_is_an_answer() -> None:
    for one in QUESTIONS:
        assert one.id.startswith(f"{one.language}-")
        assert ("-none-" in one.id) != one.answerable


def test_a_question_is_recognised_as_its_language() -> None:
    taken = {one.id: identify_language(one.question) for one in QUESTIONS}
    assert taken == {one.id: one.language for one in QUESTIONS}


def test_a_reference_answer_is_short_and_has_its_own_key_words() -> None:
    assert [one.id for one in ANSWERABLE if answer_match(one.answer, one) < 1] == []
    assert max(len(one.answer) for one in ANSWERABLE) <= 300


def test_every_quote_is_on_its_page_of_the_real_document(texts: dict[str, ExtractedText]) -> None:
    for question in ANSWERABLE:
        for quote in question.passages:
            assert locate(quote, texts[quote.document]), question.id
