"""New indexes, held against the accepted answers before they answer, and those that wait for a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ingestion.jobs.queue import Run
from ingestion.operations.acts import act, check_role, enter, every_act
from ingestion.operations.desk import Desk, queue_action
from ingestion.operations.documents import finish_erasures
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, WorkspaceError
from rag_engine.evaluation.answers.accepted_run import KeptRun, find_accepted
from rag_engine.evaluation.answers.gate import ask_gate
from rag_engine.messages import Message

_WAITS = (
    "The old index still answers. The new one waits: `sextant rebuild --accept` puts it in place, "
    "`sextant rebuild --discard` removes it, as do the buttons on the Run tab."
)


@act("curator", "Rebuilding the index", on="index")
def rebuild(
    desk: Desk,
    *,
    encode: bool = False,
    anyway: bool = False,
    progress: Callable[[int, int, str], None] = lambda *_: None,
) -> int:
    """Make both indexes anew, with `encode` the vectors too; return the number of passages in them.

    Where a run of answers was accepted, the new indexes are asked its questions before they are put in place:
    WorkspaceError where a figure fell by more than chance explains or they cannot be asked; then the old ones stay and
    the new ones wait until somebody accepts or discards them. `anyway` leaves that out. An erasure that was broken off
    is finished first, or else, where the old indexes are too damaged for it, in the new ones.
    """
    if anyway:
        check_role(desk.person, every_act()["accept_index"])
    accepted = None if anyway else find_accepted(desk.workspace)
    held: list[WorkspaceError] = []

    def check(engine: Engine) -> bool:
        if accepted is not None:
            held.extend(_reasons_to_wait(engine, accepted, progress))
        return not held

    erased = _finish_erasures_now(desk)
    children = desk.engine.rebuild(encode=encode, progress=progress, check=check)
    if held:
        raise held[0]
    if not erased:
        finish_erasures(desk)
        children = len(desk.engine.collection.snapshot())
    enter(desk, "index", Message("with new vectors") if encode else "")
    return children


def _finish_erasures_now(desk: Desk) -> bool:
    """Finish what was begun to be erased; return False where the indexes are too damaged for it."""
    try:
        finish_erasures(desk)
    except (BackendError, WorkspaceError):
        return False
    return True


def _reasons_to_wait(
    engine: Engine, accepted: KeptRun, progress: Callable[[int, int, str], None]
) -> Iterator[WorkspaceError]:
    """Yield why a new index is not put in place: what fell below the accepted run, or why it could not be asked."""
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
def accept_index(desk: Desk) -> int:
    """Put the index that waits in place and return its number of passages; WorkspaceError where none waits."""
    children = desk.engine.collection.accept_waiting()
    enter(desk, "index")
    return children


@act("admin", "Discarding an index", on="index")
def discard_index(desk: Desk) -> None:
    """Remove the index that waits; WorkspaceError where none does."""
    desk.engine.collection.discard_waiting()
    enter(desk, "index")


@act("curator", "Rebuilding the index")
def queue_rebuild(desk: Desk, *, encode: bool = False, anyway: bool = False) -> Run:
    """Have the worker make both indexes anew, as `rebuild` does."""
    if anyway:
        check_role(desk.person, every_act()["accept_index"])
    return queue_action(desk, "rebuild", {"encode": encode, "anyway": anyway})


@act("admin", "Deciding on an index")
def queue_decision(desk: Desk, *, accept: bool) -> Run:
    """Have the worker put the index that waits in place, or remove it."""
    return queue_action(desk, "decide", {"accept": accept})
