"""Acts of a person upon the answers that are accepted."""

from __future__ import annotations

from collections.abc import Callable

from ingestion.jobs.queue import Run
from ingestion.operations.acts import act, check_role, enter, every_act
from ingestion.operations.desk import Desk, queue_action
from rag_engine.evaluation.answers.accepted_run import find_accepted, require_accepted
from rag_engine.evaluation.answers.gate import GateResult, accept_answers, ask_gate
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.messages import Message


@act("curator", "Checking the answers")
def queue_gate(desk: Desk, *, accept: bool = False) -> Run:
    """Have the worker ask the accepted run's questions again, or with `accept` accept the answers of now.

    The first accepted answers are those to the questions on the sample. InputError if nothing was accepted.
    """
    if accept:
        check_role(desk.person, every_act()["accept_index"])
    else:
        require_accepted(desk.workspace)
    return queue_action(desk, "gate", {"accept": accept})


@act("curator", "Checking the answers", on="answers")
def measure_gate(
    desk: Desk, *, accept: bool = False, progress: Callable[[int, int, str], None] = lambda *_: None
) -> GateResult | None:
    """Ask the accepted run's questions again and compare the answers; with `accept` accept them."""
    if accept:
        check_role(desk.person, every_act()["accept_index"])
        accepted = find_accepted(desk.workspace)
        accept_answers(desk.engine, accepted.request if accepted else AnswersRequest(), progress)
        enter(desk, Message("answers accepted"))
        return None
    return ask_gate(desk.engine, require_accepted(desk.workspace), progress)
