"""The page questions are balanced, in their own words, and their quotes stand on their pages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.answers.page_answers import QUESTIONS, TWO_DOCUMENTS, TWO_SIDED, documents
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA
from rag_engine.evaluation.gold import NOT_THERE, GoldQuestion, letters_of, locate, read_gold
from rag_engine.text.folding import fold

ALL, SIDES = read_gold(QUESTIONS, "all"), read_gold(TWO_SIDED, "all")
KINDS = {
    "number", "who", "when", "definition", "list", "condition", "negation", "table cell", TWO_DOCUMENTS, NOT_THERE,
    "follow-up",
}  # fmt: skip
OTHER_SETS = ("passages.jsonl", "gold/fresh.jsonl")


def counts(questions: tuple[GoldQuestion, ...]) -> tuple[Counter[str], Counter[str]]:
    return Counter(one.kind for one in questions), Counter(one.language for one in questions)


def test_sixty_questions_are_balanced_over_kinds_and_languages_in_both_halves() -> None:
    kinds, languages = counts(ALL)
    assert len(ALL) == 60
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 4
    assert set(languages) == {"de", "en", "es", "fr", "it", "pt", "tr"}
    assert 7 <= min(languages.values()) <= max(languages.values()) <= 10
    for half, least in ((read_gold(QUESTIONS, "dev"), 2), (read_gold(QUESTIONS, "heldout"), 1)):
        for of, all_of in zip(counts(half), (kinds, languages), strict=True):
            assert set(of) == set(all_of)
            assert min(of.values()) >= least


def test_every_third_row_is_held_out() -> None:
    assert [one.split for one in ALL] == ["dev", "dev", "heldout"] * 20
    assert [one.split for one in SIDES] == ["dev", "dev", "heldout"] * 10


def test_a_question_is_recognised_as_its_language() -> None:
    every = (*ALL, *SIDES)
    taken = {one.id: identify_language(one.question, {one.language: 1.0}) for one in every}
    assert taken == {one.id: one.language for one in every}
    assert all(one.id.startswith(f"{one.language}-") for one in every)


def test_only_follow_ups_name_the_question_before_and_only_questions_without_an_answer_have_no_quotes() -> None:
    assert {one.id for one in ALL if one.before} == {one.id for one in ALL if one.kind == "follow-up"}
    assert {one.id for one in ALL if not one.quotes} == {one.id for one in ALL if one.kind == NOT_THERE}
    assert all(len(documents(one)) == 2 for one in (*ALL, *SIDES) if one.kind == TWO_DOCUMENTS)
    assert {one.kind for one in SIDES} == {TWO_DOCUMENTS}
    assert all(not file.startswith("scan_") for one in ALL for file in documents(one))


def test_a_question_is_asked_in_its_own_words() -> None:
    for one in ALL:
        words = re.findall(r"\w+", fold(one.question))
        runs = {" ".join(words[start : start + 6]) for start in range(len(words) - 5)}
        for quote in one.quotes:
            assert not [run for run in runs if run in " ".join(re.findall(r"\w+", fold(quote.quote)))], one.id


def test_no_two_questions_ask_for_the_same_sentence_here_or_in_the_other_sets() -> None:
    others = [quote for name in OTHER_SETS for one in read_gold(DATA / "eval" / name, "all") for quote in one.quotes]
    for one in ALL:
        others_here = [quote for other in ALL if other is not one for quote in other.quotes]
        for quote in one.quotes:
            mine = letters_of(quote.quote)[0]
            for other in (*others, *others_here):
                if other.document == quote.document:
                    theirs = letters_of(other.quote)[0]
                    assert mine not in theirs, (one.id, other)
                    assert theirs not in mine, (one.id, other)


@pytest.mark.parametrize("document", sorted({file for one in (*ALL, *SIDES) for file in documents(one)}))
def test_every_quote_stands_on_its_page(shared: Path, document: str) -> None:
    extracted = extract(shared / "data" / "corpus" / document, ExtractionLimits(), None)
    for one in (*ALL, *SIDES):
        for quote in one.quotes:
            if quote.document == document:
                assert locate(quote, extracted), one.id
