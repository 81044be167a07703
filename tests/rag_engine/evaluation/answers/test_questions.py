import json
from pathlib import Path
from typing import Any

import pytest

from rag_engine.errors import InputError
from rag_engine.evaluation.answers.questions import question_lines, read_answer_questions

ASKED = {"id": "en-1", "language": "en", "kind": "institutional", "question": "Who decides?"}
ANSWERED = {
    "answer": "The mayor.",
    "passages": [{"document": "plan.md", "page": 1, "quote": "The mayor decides."}],
    "keywords": ["mayor"],
}


def read(tmp_path: Path, *lines: dict[str, Any]) -> Any:
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return read_answer_questions(path)


def test_questions_with_and_without_an_answer_are_read(tmp_path: Path) -> None:
    first, second = read(tmp_path, ASKED | ANSWERED, ASKED | {"id": "en-2"})
    assert first.answerable
    assert first.keywords == ("mayor",)
    assert not second.answerable


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"kind": "guess"}, "the kind is 'guess'"),
        ({"language": "english"}, "the language is 'english'"),
        ({"question": " "}, "'question' is ' '"),
        ({"passages": []}, "an answer or keywords without passages"),
        ({"passages": [], "answer": ""}, "an answer or keywords without passages"),
        ({"filters": {"country": "Italy"}}, "the filters are"),
        ({"filters": ["Italy"]}, "the filters are"),
        ({"passages": [{"document": "plan.md", "page": 0, "quote": "x"}]}, "the page is 0"),
        ({"keywords": "mayor"}, "the keywords are 'mayor'"),
        ({"keywords": ["?"]}, "the keywords are"),
        ({"split": "test"}, "the split is 'test'"),
        ({"anser": "The mayor."}, "unknown field anser"),
        ({"id": "en-1"}, "the id 'en-1' was given before"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, ASKED | ANSWERED, ASKED | ANSWERED | {"id": "en-2"} | changed)
    assert f"line 2: {fault}" in str(error.value)


def test_a_file_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no question"):
        read(tmp_path)


def test_questions_are_read_as_they_were_written(tmp_path: Path) -> None:
    evidence = {"passages": ANSWERED["passages"], "filters": {"country": ["Italy", "Spain"]}}
    questions = read(tmp_path, ASKED | ANSWERED, {"id": "2", "language": "en", "question": "Who?"} | evidence)
    assert questions[1].filters == {"country": ("Italy", "Spain")}
    assert (questions[1].kind, questions[1].answer, questions[1].keywords) == ("", "", ())
    again = tmp_path / "again.jsonl"
    again.write_text(question_lines(questions), encoding="utf-8")
    assert read_answer_questions(again) == questions
