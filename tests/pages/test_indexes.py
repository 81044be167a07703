"""The check of a new index before it answers, on the Run tab."""

from pathlib import Path

import pytest

from pages._shared import resources
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.evaluation.answers.accepted_run import keep_run, record_run
from rag_engine.evaluation.answers.gate import GateResult, compare_runs, keep_result
from tests.pages.conftest import Start, texts
from tests.pages.test_admin import admin
from tests.rag_engine.evaluation.answers.test_accepted_run import run_of

pytestmark = pytest.mark.usefixtures("idle")


def accept(workspace: Path, current: float) -> GateResult:
    """Accept a run of ten questions, and keep how one whose answers match so far compares with it."""
    keep_run(workspace, record_run(workspace, "gate.0a", run_of([1.0] * 10), "").id)
    result = compare_runs(run_of([1.0] * 10), run_of([current] * 10), generation=2)
    keep_result(workspace, result)
    return result


def test_where_nothing_was_accepted_the_page_says_how_and_can_begin(start: Start, own: Path) -> None:
    app = admin(start(own), "run")
    assert not app.exception
    assert "No accepted answers yet." in texts(app)
    assert "“Measure and accept” asks the questions about the invented samples" in texts(app)
    app.button(key="accept answers").click().run()
    [job] = resources.jobs().latest()
    assert (job.kind, job.arguments) == ("gate", {"accept": True})


def test_a_drop_is_named_and_a_person_may_switch_all_the_same(start: Start, own: Path) -> None:
    assert accept(own, current=0.0).dropped == ("answer_match",)
    app = admin(start(own), "run")
    assert "Significantly lower: Answer has the key words." in texts(app)
    app.button(key="rebuild anyway").click().run()
    [job] = resources.jobs().latest()
    assert (job.kind, job.arguments) == ("rebuild", {"encode": False, "anyway": True})


def test_without_a_drop_there_is_nothing_to_decide(start: Start, own: Path) -> None:
    accept(own, current=1.0)
    app = admin(start(own), "run")
    assert "No significant drop." in texts(app)
    assert "did not go live" not in texts(app)


@pytest.mark.parametrize(("button", "accepted"), [("accept index", True), ("discard index", False)])
def test_an_index_that_waits_is_accepted_or_discarded_by_the_worker(
    start: Start, own: Path, button: str, accepted: bool
) -> None:
    engine = open_engine(read_config(own))
    engine.generations.rebuild(check=lambda _: False)
    engine.close()
    app = admin(start(own), "run")
    assert "did not go live.** The old index keeps answering." in texts(app)
    app.button(key=button).click().run()
    [job] = resources.jobs().latest()
    assert (job.kind, job.arguments) == ("decide", {"accept": accepted})
