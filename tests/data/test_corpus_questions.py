"""The questions on the real documents: those of the passages, and others without an answer."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter

import pytest

from rag_engine.config import DATA
from rag_engine.evaluation.gold import read_gold
from tests.data.test_answer_questions import CORPUS, KINDS

ANSWERABLE = [one for one in CORPUS if one.answerable]


def test_there_are_enough_questions_of_every_kind() -> None:
    assert len(ANSWERABLE) >= 120
    assert {one.kind for one in ANSWERABLE} == KINDS


def test_one_question_in_five_has_no_answer() -> None:
    without = [one for one in CORPUS if not one.answerable]
    assert len(without) / len(CORPUS) == pytest.approx(0.2, abs=0.01)
    assert set(Counter(one.language for one in without)) == {one.language for one in CORPUS}
    with (DATA / "eval" / "unanswerable.tsv").open(encoding="utf-8", newline="") as file:
        known = {(row["language"], row["question"]) for row in csv.DictReader(file, delimiter="\t")}
    assert {(one.language, one.question) for one in without} <= known


def test_a_question_with_an_answer_is_that_of_the_passages() -> None:
    passages = {
        one.id: (one.question, one.language, one.quotes) for one in read_gold(DATA / "eval" / "passages.jsonl", "all")
    }
    assert {one.id: (one.question, one.language, one.passages) for one in ANSWERABLE} == passages


def test_halves_are_those_of_the_hash_of_the_ids() -> None:
    for one in CORPUS:
        even = hashlib.sha256(one.id.encode()).digest()[0] % 2 == 0
        assert one.split == ("dev" if even else "heldout"), one.id


def test_a_reference_answer_is_short() -> None:
    assert max(len(one.answer) for one in ANSWERABLE) <= 300
