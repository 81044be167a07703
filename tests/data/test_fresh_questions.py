"""The plain questions by which nothing is chosen."""

from __future__ import annotations

from collections import Counter

from rag_engine.config import DATA
from rag_engine.evaluation.answers.questions import read_answer_questions

QUESTIONS = read_answer_questions(DATA / "eval" / "gold" / "fresh.jsonl")


def test_they_are_forty_in_eight_languages_half_of_them_english() -> None:
    languages = Counter(one.language for one in QUESTIONS)
    assert len(QUESTIONS) == 40
    assert set(languages) == {"de", "en", "es", "fr", "it", "pt", "sv", "tr"}
    assert languages["en"] >= 20


def test_each_has_an_answer_and_belongs_to_neither_half() -> None:
    assert all(one.answerable and one.passages and not one.split for one in QUESTIONS)


def test_none_asks_what_another_set_asks() -> None:
    known = {one.question for one in read_answer_questions(DATA / "eval" / "gold" / "corpus.jsonl")}
    assert known.isdisjoint(one.question for one in QUESTIONS)
