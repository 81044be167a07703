from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import BackendError, InputError
from rag_engine.evaluation.answers.accepted_run import (
    KeptRun,
    changes,
    keep_run,
    read_run,
    record_run,
    require_accepted,
    require_answers,
)
from rag_engine.evaluation.answers.run_answers import AnswersRequest, summarise
from tests.rag_engine.evaluation.answers.test_rows import METRICS, ROW


def run_of(values: Sequence[float | None], **settings: object) -> KeptRun:
    rows = tuple(
        replace(ROW, id=f"en-{number}", figures={"abstention": 1.0, "answer_match": value})
        for number, value in enumerate(values)
    )
    return KeptRun(settings, rows, summarise(rows, METRICS), AnswersRequest("gold.jsonl", top_k=3))


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_run_is_kept_as_it_was_recorded_with_any_answer(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    workspace = tmp_path_factory.mktemp("workspace")
    run = run_of([1.0, None, 0.25], top_k=10, versions={"numpy": "2.1"})
    run = replace(run, rows=(*run.rows, replace(ROW, answer=text, failure="the judge failed")))
    recorded = record_run(workspace, "gate.0a", run, "")
    assert recorded.run == run
    keep_run(workspace, recorded.id)
    assert require_accepted(workspace) == run


@pytest.mark.parametrize("content", ["", "[]", '{"rows": 3}', "PK"])
def test_what_is_no_run_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="is not a run"):
        read_run(path)


def test_without_an_accepted_run_it_says_how_to_accept_one(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        require_accepted(tmp_path)
    assert "--accept" in error.value.help


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
