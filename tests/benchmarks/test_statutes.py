"""Statutes as printed, and the two figures of the statute task."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.retrieval.statutes import (
    assemble_statutes,
    complete_right,
    primary_right,
    read_statutes,
    score_statutes,
    wilson_interval,
)
from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import read_dataset
from tests.conftest import ROOT

QUESTIONS = ROOT / "data" / "eval" / "statutes_in"
FILES = ("constitution", "crpc", "iea", "ipc")
DOCUMENTS = st.sampled_from("abcdef")
RANKINGS = st.lists(DOCUMENTS, unique=True)
RELEVANT = st.sets(DOCUMENTS, min_size=1)


@pytest.fixture
def statutes(shared: Path) -> Path:
    return shared / "data" / "benchmarks" / "statutes_in"


def write_acts(folder: Path, **lines: list[dict[str, str]]) -> Path:
    for name in FILES:
        text = "".join(json.dumps(line) + "\n" for line in lines.get(name, []))
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_every_section_begins_with_what_a_lawyer_cites(statutes: Path) -> None:
    documents = {document.id: document for document in read_statutes(statutes)}
    assert len(documents) == 1749
    assert documents["IPC_302"].text.startswith("Section 302. Punishment for murder\n\nWhoever commits murder")
    assert documents["IPC_302"].title == "Indian Penal Code, 1860"
    assert documents["IPC_304B"].text == "Section 304B. Dowry death", "its words are missing"
    assert documents["CRPC_25A"].whole.startswith("Code of Criminal Procedure, 1973\n\nSection 25A. Directorate")
    assert documents["IEA_45"].whole.startswith("Indian Evidence Act, 1872\n\nSection 45. Opinions of experts\n\n")
    assert documents["ART_21"].whole.startswith("Constitution of India\n\nArticle 21. Protection of life")
    assert documents["ART_0"].text.startswith("Preamble\n\nWE, THE PEOPLE")
    assert documents["ART_239 A A"].text.startswith("Article 239AA. Special provisions with respect to Delhi\n\n")


def test_words_come_without_the_indents_of_the_files(tmp_path: Path) -> None:
    line = {"_id": "IPC_1", "title": " Title ", "text": "First,\n\t\t\n\t\tsecond  part.\n"}
    assert read_statutes(write_acts(tmp_path, ipc=[line]))[0].text == "Section 1. Title\n\nFirst,\nsecond part."


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"_id": "IPC_X", "title": "a", "text": "b"}], "line 1: the id 'IPC_X' has no number"),
        ([{"_id": "IPC_1", "title": "", "text": "b"}], "line 1: 'title' is ''"),
        ([{"_id": "IPC_1", "title": "a"}, {"_id": "IPC_1", "title": "a"}], "line 2: the id 'IPC_1' was given before"),
    ],
)
def test_a_line_that_cannot_be_cited_is_named(tmp_path: Path, lines: list[dict[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_statutes(write_acts(tmp_path, ipc=lines))


def test_a_missing_act_is_named(tmp_path: Path) -> None:
    write_acts(tmp_path)
    (tmp_path / "iea.jsonl").unlink()
    with pytest.raises(InputError, match=r"iea\.jsonl is missing"):
        read_statutes(tmp_path)


def test_the_acts_and_the_questions_make_a_data_set(statutes: Path, tmp_path: Path) -> None:
    folder = assemble_statutes(statutes, QUESTIONS, tmp_path / "new" / "statutes_in")
    for split in ("dev", "heldout"):
        dataset = read_dataset(folder, split, identify=lambda text: "en")
        assert len(dataset.documents) == 1749
        assert len(dataset.queries) >= 65
        assert dataset.warnings == ()


def test_a_folder_without_questions_is_refused(statutes: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no queries"):
        assemble_statutes(statutes, tmp_path, tmp_path / "out")


@given(RANKINGS, RELEVANT)
def test_the_whole_set_is_right_as_the_definition_says(ranking: list[str], relevant: set[str]) -> None:
    first = ranking[: len(relevant)]
    assert complete_right(ranking, relevant) == (sorted(first) == sorted(relevant))


@given(RANKINGS, RELEVANT)
def test_a_right_set_has_a_right_first_citation(ranking: list[str], relevant: set[str]) -> None:
    assert primary_right(ranking, relevant) or not complete_right(ranking, relevant)


@given(RANKINGS, DOCUMENTS)
def test_with_one_relevant_document_both_ask_the_same(ranking: list[str], document: str) -> None:
    assert primary_right(ranking, {document}) == complete_right(ranking, {document})


def test_a_question_that_the_run_leaves_out_counts_as_wrong() -> None:
    score = score_statutes({"q1": ["a"], "q3": []}, {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}})
    assert (score.questions, score.primary.value, score.complete.value) == (3, 1 / 3, 1 / 3)


def test_a_document_of_grade_nought_is_not_relevant() -> None:
    score = score_statutes({"q": ["b", "a"]}, {"q": {"a": 1, "b": 0}})
    assert (score.primary.value, score.complete.value) == (0.0, 0.0)


def test_the_intervals_are_those_published_for_two_hundred_complaints() -> None:
    run = {f"q{number}": ["a" if number < 188 else "x", "b" if number < 164 else "x2"] for number in range(200)}
    score = score_statutes(run, {query: {"a": 1, "b": 1} for query in run})
    assert (round(score.primary.low, 3), round(score.primary.high, 3)) == (0.898, 0.965)
    assert (round(score.complete.low, 3), round(score.complete.high, 3)) == (0.761, 0.867)


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        ({"q2": ["a"]}, {"q1": {"a": 1}}, r"1 questions have no judgement \(q2\)"),
        ({"q1": ["a"]}, {"q1": {"a": 0}}, r"1 questions have no relevant document \(q1\)"),
        ({"q1": ["a", "a"]}, {"q1": {"a": 1}}, r"1 questions have a document ranked twice \(q1\)"),
    ],
)
def test_a_run_that_does_not_fit_its_judgements_is_refused(
    run: dict[str, list[str]], qrels: dict[str, dict[str, int]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        score_statutes(run, qrels)


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_wilson_interval_holds_its_share_and_stays_a_proportion(some: int, more: int) -> None:
    found = wilson_interval(some, some + more)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="5 of 4"):
        wilson_interval(5, 4)
