"""The questions on the Indian acts: halves by hash, existing sections, paraphrases without giveaways."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path

import pytest

from benchmarks.retrieval.statutes import read_statutes
from tests.conftest import ROOT

FOLDER = ROOT / "data" / "eval" / "statutes_in"
SPLITS = ("dev", "heldout")
GIVEN_AWAY = re.compile(r"\d|\b(?:section|sec|article|art|arts|ipc|crpc|iea|act|code|constitution)\b", re.IGNORECASE)
NUMBER = re.compile(r"\d+[A-Z]*\b")
WORD = re.compile(r"[a-z]{4,}")
FUNCTION_WORDS = {"with", "from", "when", "other", "such", "that", "section", "article"}


def questions(split: str) -> dict[str, str]:
    lines = (FOLDER / f"queries.{split}.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    assert all(set(one) == {"_id", "text"} for one in read)
    assert len({one["_id"] for one in read}) == len(read)
    return {one["_id"]: one["text"] for one in read}


def judgements(split: str) -> dict[str, list[str]]:
    judged: dict[str, list[str]] = {}
    with (FOLDER / f"qrels.{split}.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", strict=True):
            assert row["score"] == "1"
            judged.setdefault(row["query-id"], []).append(row["corpus-id"])
    return judged


def everything() -> tuple[dict[str, str], dict[str, list[str]]]:
    asked = {id: text for split in SPLITS for id, text in questions(split).items()}
    return asked, {id: sections for split in SPLITS for id, sections in judgements(split).items()}


@pytest.mark.parametrize("split", SPLITS)
def test_each_half_is_large_and_judged_throughout(split: str) -> None:
    assert len(questions(split)) >= 65
    assert set(questions(split)) == set(judgements(split))
    assert all(len(set(sections)) == len(sections) for sections in judgements(split).values())


def test_the_hash_of_its_id_puts_a_question_in_its_half() -> None:
    for place, split in enumerate(SPLITS):
        assert [id for id in questions(split) if hashlib.sha256(id.encode()).digest()[0] % 2 != place] == []


def test_about_two_questions_in_five_name_a_section_and_no_two_are_the_same() -> None:
    asked, _ = everything()
    named = [id for id in asked if id.startswith("section-")]
    assert {id.rsplit("-", 1)[0] for id in asked} == {"section", "paraphrase", "policy"}
    assert 0.35 <= len(named) / len(asked) <= 0.45
    assert len({text.casefold() for text in asked.values()}) == len(asked)


def test_several_questions_of_each_half_need_two_sections() -> None:
    for split in SPLITS:
        assert sum(len(sections) > 1 for sections in judgements(split).values()) >= 15


def test_every_judged_section_is_in_the_acts(shared: Path) -> None:
    known = {document.id for document in read_statutes(shared / "data" / "benchmarks" / "statutes_in")}
    _, judged = everything()
    assert {section for sections in judged.values() for section in sections} - known == set()


def test_a_question_that_names_a_section_names_those_that_are_judged() -> None:
    asked, judged = everything()
    for id, text in asked.items():
        if id.startswith("section-"):
            said = set(NUMBER.findall(text))
            wanted = {section.split("_")[1].replace(" ", "") for section in judged[id]} - {"0"}
            assert wanted <= said, (text, wanted)


def test_a_paraphrase_names_no_number_and_no_act() -> None:
    asked, _ = everything()
    said = {id: text for id, text in asked.items() if not id.startswith("section-") and GIVEN_AWAY.search(text)}
    assert said == {}


def test_no_paraphrase_repeats_the_heading_it_asks_for(shared: Path) -> None:
    asked, judged = everything()
    acts = read_statutes(shared / "data" / "benchmarks" / "statutes_in")
    headings = {document.id: words(document.text.split("\n")[0]) for document in acts}
    repeated = {
        (text, section)
        for id, text in asked.items()
        for section in judged[id]
        # To be tried twice for the same offence is said in no other words.
        if not id.startswith("section-") and id != "paraphrase-001"
        if len(words(text) & headings[section]) > len(headings[section]) / 2
    }
    assert repeated == set()


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower())) - FUNCTION_WORDS
