"""Accepted answers, and new indexes: checked against them before they go live, or waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ingestion.acts.context import ActContext, queue_job
from ingestion.acts.documents import finish_erasures
from ingestion.acts.register import act, check_role, enter, every_act
from ingestion.jobs.queue import Job
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, WorkspaceError
from rag_engine.evaluation.answers.accepted_run import KeptRun, find_accepted, require_accepted
from rag_engine.evaluation.answers.gate import GateResult, accept_answers, ask_gate
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.messages import Message

_WAITS = (
    "The old index still answers. The new one waits: `sextant rebuild --accept` puts it in place, "
    "`sextant rebuild --discard` removes it, as do the buttons on the Run tab."
)


@act("curator", "Rebuilding the index", on="index")
def rebuild(
    context: ActContext,
    *,
    encode: bool = False,
    anyway: bool = False,
    progress: Callable[[int, int, str], None] = lambda *_: None,
) -> int:
    """Build both indexes again, with `encode` the vectors too; return their number of passages.

    If a run of answers was accepted, the new indexes are first asked its questions. WorkspaceError if a figure falls by
    more than chance explains, or if they cannot be asked. The old indexes then stay, and the new ones wait until an
    admin accepts or discards them. `anyway` leaves this check out.

    An interrupted erasure is finished first. If the old indexes are too damaged for it, it is finished in the new ones.
    """
    if anyway:
        check_role(context.person, every_act()["accept_index"])
    accepted = None if anyway else find_accepted(context.workspace)
    held: list[WorkspaceError] = []

    def check(engine: Engine) -> bool:
        if accepted is not None:
            held.extend(_reasons_to_wait(engine, accepted, progress))
        return not held

    erased = _finish_erasures_now(context)
    children = context.engine.rebuild(encode=encode, progress=progress, check=check)
    if held:
        raise held[0]
    if not erased:
        finish_erasures(context)
        children = len(context.engine.collection.snapshot())
    enter(context, "index", Message("with new vectors") if encode else "")
    return children


def _finish_erasures_now(context: ActContext) -> bool:
    """Finish interrupted erasures; return False if the indexes are too damaged for it."""
    try:
        finish_erasures(context)
    except (BackendError, WorkspaceError):
        return False
    return True


def _reasons_to_wait(
    engine: Engine, accepted: KeptRun, progress: Callable[[int, int, str], None]
) -> Iterator[WorkspaceError]:
    """Yield the reasons for which a new index must wait.

    They are measures that fell below the accepted run, or the error for which it could not be asked.
    """
    try:
        result = ask_gate(engine, accepted, progress)
    except (InputError, BackendError) as error:
        yield WorkspaceError(
            "The new index could not be checked and did not go live: {error}", help=_WAITS, error=error
        )
        return
    if result.dropped:
        yield WorkspaceError(
            "The new index did not go live: {measures} fell significantly below the accepted run on {count} questions.",
            help=_WAITS,
            measures=", ".join(result.dropped),
            count=result.questions,
        )


@act("admin", "Accepting what answers are measured by", on="index")
def accept_index(context: ActContext) -> int:
    """Put the waiting index in place; return its number of passages. WorkspaceError if none waits."""
    children = context.engine.generations.accept_waiting()
    enter(context, "index")
    return children


@act("admin", "Discarding an index", on="index")
def discard_index(context: ActContext) -> None:
    """Remove the index that waits; WorkspaceError if none does."""
    context.engine.generations.discard_waiting()
    enter(context, "index")


@act("curator", "Rebuilding the index")
def queue_rebuild(context: ActContext, *, encode: bool = False, anyway: bool = False) -> Job:
    """Have the worker build both indexes again, as `rebuild` does."""
    if anyway:
        check_role(context.person, every_act()["accept_index"])
    return queue_job(context, "rebuild", {"encode": encode, "anyway": anyway})


@act("admin", "Deciding on an index")
def queue_decision(context: ActContext, *, accept: bool) -> Job:
    """Have the worker put the index that waits in place, or remove it."""
    return queue_job(context, "decide", {"accept": accept})


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
