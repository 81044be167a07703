"""A sentence that changes one value of its passage is told from one that says the same."""

import csv
from collections import Counter

import pytest

from rag_engine.answering.claim_values import changes
from rag_engine.config import DATA

PASSAGE = (
    "The county shall pay the wardens 40 euros a day. The wardens may close the gates, except the harbour gate. They "
    "report to the minister twice a year."
)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The wardens shall pay the county 40 euros a day.", "role"),
        ("The county may pay the wardens 40 euros a day.", "modal"),
        ("The wardens must close the gates, except the harbour gate.", "modal"),
        ("The wardens report to the minister every two years.", "frequency"),
        ("The county shall pay the wardens 40 dollars a day.", "unit"),
        ("The wardens may close the gates, including the harbour gate.", "exception"),
    ],
)
def test_another_value_is_a_change(sentence: str, kind: str) -> None:
    assert kind in {one.kind for one in changes(sentence, "en", PASSAGE, "en") if one.sure}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The county shall pay the firemen 40 euros a day.", "word"),
        ("The wardens may close the gates.", "exception"),
        ("The county may close the gates, except the harbour gate.", "word"),
    ],
)
def test_what_the_passage_does_not_say_so_is_a_doubt(sentence: str, kind: str) -> None:
    found = changes(sentence, "en", PASSAGE, "en")
    assert {one.kind for one in found} == {kind}
    assert not any(one.sure for one in found)


@pytest.mark.parametrize(
    "sentence",
    [
        "The wardens are paid 40 euros a day by the county.",
        "The county must pay the wardens 40 euros a day.",
        "Except for the harbour gate, the wardens may close the gates.",
        "The wardens report two times each year to the minister.",
    ],
)
def test_the_same_in_other_words_is_no_change(sentence: str) -> None:
    assert changes(sentence, "en", PASSAGE, "en") == []


def test_units_and_frequencies_are_compared_across_languages() -> None:
    [unit] = changes("Le comté paie 40 dollars.", "fr", "The county pays 40 euros.", "en")
    assert unit.kind == "unit"
    [often] = changes("Der Plan wird jährlich geprüft.", "de", "The plan is reviewed every five years.", "en")
    assert (often.kind, often.sure) == ("frequency", True)
    assert changes("Der Plan wird alle fünf Jahre geprüft.", "de", "The plan is reviewed every five years.", "en") == []


def test_changed_and_true_sentences_of_each_language_are_told_apart() -> None:
    with (DATA / "eval" / "support_changes.tsv").open(encoding="utf-8", newline="") as file:
        rows = [one for one in csv.DictReader(file, delimiter="\t") if one["half"] == "dev"]
    asked, clean = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in rows:
        key = one["language"], one["label"]
        asked[key] += 1
        clean[key] += not changes(one["sentence"], one["language"], one["passage"], one["language"])
    for language in {one["language"] for one in rows}:
        assert clean[language, "changed"] <= 0.1 * asked[language, "changed"]
        assert clean[language, "true"] >= 0.7 * asked[language, "true"]


def test_a_language_without_words_of_its_own_has_units_alone() -> None:
    assert changes("Planen ses över varje år.", "sv", "Planen ses över vart femte år.", "sv") == []


def test_the_name_of_the_document_and_words_about_the_sources_are_no_change() -> None:
    sentence = "According to the Gate Ordinance, the county shall pay the wardens 40 euros a day."
    assert {one.kind for one in changes(sentence, "en", PASSAGE, "en")} == {"word"}
    assert changes(sentence, "en", PASSAGE, "en", "Gate Ordinance of 1998") == []
