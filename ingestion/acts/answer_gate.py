"""Acts of a person upon the answers that are accepted."""

from __future__ import annotations

from collections.abc import Callable

from ingestion.acts.context import ActContext, queue_job
from ingestion.acts.register import act, check_role, enter, every_act
from ingestion.jobs.queue import Job
from rag_engine.evaluation.answers.accepted_run import find_accepted, require_accepted
from rag_engine.evaluation.answers.gate import GateResult, accept_answers, ask_gate
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.messages import Message


@act("curator", "Checking the answers")
def queue_gate(context: ActContext, *, accept: bool = False) -> Job:
    """Have the worker ask the accepted run's questions again, or with `accept` accept the answers of now.

    The first accepted answers are those to the questions on the sample. InputError if nothing was accepted.
    """
    if accept:
        check_role(context.person, every_act()["accept_index"])
    else:
        require_accepted(context.workspace)
    return queue_job(context, "gate", {"accept": accept})


@act("curator", "Checking the answers", on="answers")
def measure_gate(
    context: ActContext, *, accept: bool = False, progress: Callable[[int, int, str], None] = lambda *_: None
) -> GateResult | None:
    """Ask the accepted run's questions again and compare the answers; with `accept` accept them."""
    if accept:
        check_role(context.person, every_act()["accept_index"])
        accepted = find_accepted(context.workspace)
        accept_answers(context.engine, accepted.request if accepted else AnswersRequest(), progress)
        enter(context, Message("answers accepted"))
        return None
    return ask_gate(context.engine, require_accepted(context.workspace), progress)
