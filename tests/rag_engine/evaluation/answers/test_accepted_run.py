from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.errors import BackendError, InputError
from rag_engine.evaluation.answers.accepted_run import (
    KeptRun,
    accepted_path,
    changes,
    differing_settings,
    read_run,
    require_answers,
    write_run,
)
from rag_engine.evaluation.answers.run_answers import AnswersRequest, summarise
from tests.rag_engine.evaluation.answers.test_rows import METRICS, ROW


def run_of(values: Sequence[float | None], **settings: object) -> KeptRun:
    rows = tuple(
        replace(ROW, id=f"en-{number}", figures={"abstention": 1.0, "answer_match": value})
        for number, value in enumerate(values)
    )
    return KeptRun(settings, rows, summarise(rows, METRICS), AnswersRequest("gold.jsonl", top_k=3))


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = accepted_path(tmp_path)
    run = run_of([1.0, None, 0.25], top_k=10, versions={"numpy": "2.1"})
    write_run(path, run)
    assert read_run(path) == run


@pytest.mark.parametrize("content", ["", "[]", '{"rows": 3}', "PK"])
def test_what_is_no_run_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="is not a run"):
        read_run(path)


def test_a_missing_run_says_how_to_accept_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--accept"):
        read_run(tmp_path / "run.json")


def test_the_same_figures_have_not_changed() -> None:
    run = run_of([1.0, 0.5, 0.0])
    assert [(one.difference.value, one.dropped) for one in changes(run, run)] == [(0, False)] * 2


def test_a_fall_on_many_questions_is_a_drop_and_on_one_it_is_not() -> None:
    before = run_of([1.0] * 20)
    fallen = changes(before, run_of([0.0] * 10 + [1.0] * 10))[1]
    assert (fallen.accepted, fallen.current, fallen.dropped) == (1.0, 0.5, True)
    assert not changes(before, run_of([0.0] + [1.0] * 19))[1].dropped
    assert not changes(run_of([1.0]), run_of([0.0]))[1].dropped


def test_a_rise_is_no_drop() -> None:
    risen = changes(run_of([0.0] * 20), run_of([1.0] * 20))[1]
    assert risen.difference.value == 1
    assert not risen.dropped


def test_figures_are_paired_on_the_questions_that_both_have() -> None:
    changed = changes(run_of([1.0, 0.0, None, 1.0]), run_of([0.5, None, 1.0]))[1]
    assert (changed.questions, changed.difference.value) == (1, -0.5)


def test_a_question_in_other_words_is_another() -> None:
    before = run_of([1.0])
    with pytest.raises(InputError, match="none of these questions"):
        changes(before, replace(before, rows=(replace(before.rows[0], question="Who else?"),)))


def test_a_run_with_unanswered_questions_is_not_held_against_another() -> None:
    run = run_of([1.0, 1.0])
    require_answers(run)
    with pytest.raises(BackendError, match="1 of 2 questions"):
        require_answers(replace(run, rows=(run.rows[0], replace(run.rows[1], status="error", failure="gone"))))


def test_settings_that_differ_are_named() -> None:
    assert differing_settings(run_of([1.0], top_k=10, model="a"), run_of([1.0], top_k=5, model="a")) == ("top_k",)
