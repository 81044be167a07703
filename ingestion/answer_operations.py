"""Acts of a person upon answers: one question to each document, and new indexes, held against accepted answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ingestion.dataset.answer_sheets import answers_workbook, write_answers
from ingestion.dataset.answer_store import AnsweredForm, AnswerStore, form_id
from ingestion.dataset.document_answers import DocumentsRequest
from ingestion.jobs.queue import Run
from ingestion.operations import Desk, answered_forms, control, queue_action
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, WorkspaceError
from rag_engine.evaluation.answers.accepted_run import KeptRun
from rag_engine.evaluation.answers.gate import GateResult, accept_answers, ask_gate, find_accepted
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.filters import answering_documents

# Among so many runs an equal one is looked for.
_LATEST = 100
_WAITS = (
    "The old index still answers and the new one waits: `sextant rebuild --accept` puts it in place, "
    "`sextant rebuild --discard` removes it, as do the buttons on the Run tab."
)


# --- one question to each document


def ask_documents(desk: Desk, request: DocumentsRequest) -> Run:
    """Have the worker ask each document that the request's filter allows; what was answered before is kept.

    A run of the same request that is under way serves as well, and continues where it was paused. InputError for a
    filter that no document passes, BackendError where no language model answers.
    """
    snapshot = desk.engine.collection.snapshot()
    answering_documents(request.wanted, snapshot.facets, snapshot.documents)
    desk.engine.require_language_model()
    arguments = request.to_json()
    for one in desk.jobs.runs(_LATEST):
        same = one.action == "ask" and one.arguments == arguments and one.signal != "cancel"
        if same and (one.status == "paused" or (one.active and one.signal == "pause")):
            return control(desk, "resume", one.id)
        if same and one.active:
            desk.start_worker(desk.workspace)
            return one
    return queue_action(desk, "ask", arguments)


def export_answers(desk: Desk, request: DocumentsRequest, file: Path) -> int:
    """Write what the documents replied to a request to a workbook; return the number of documents in it."""
    found = _form(desk, form_id(request.question, request.schema))
    write_answers(file, found)
    return sum(len(form.answers) for form in found)


def exported_answers(desk: Desk, form: str) -> bytes:
    """Return the workbook of a question that was asked of each document."""
    return answers_workbook(_form(desk, form))


def remove_answers(desk: Desk, form: str) -> None:
    """Remove a question that was asked of each document, with every reply."""
    AnswerStore(desk.engine.catalog).remove(form)


# --- new indexes, and the answers that they are held against


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
    the new ones wait until somebody accepts or discards them. `anyway` leaves that out.
    """
    accepted = None if anyway else find_accepted(desk.workspace)
    held: list[WorkspaceError] = []

    def check(engine: Engine) -> bool:
        if accepted is not None:
            held.extend(_reasons_to_wait(engine, accepted, progress))
        return not held

    children = desk.engine.rebuild(encode=encode, progress=progress, check=check)
    if held:
        raise held[0]
    return children


def _reasons_to_wait(
    engine: Engine, accepted: KeptRun, progress: Callable[[int, int, str], None]
) -> Iterator[WorkspaceError]:
    """Yield why a new index is not put in place: what fell below the accepted run, or why it could not be asked."""
    try:
        result = ask_gate(engine, accepted, progress)
    except (InputError, BackendError) as error:
        yield WorkspaceError(f"The new index could not be checked and did not go live: {error}", help=_WAITS)
        return
    if result.dropped:
        yield WorkspaceError(
            f"The new index did not go live: {', '.join(result.dropped)} fell significantly below the accepted "
            f"run on {result.questions} questions.",
            help=_WAITS,
        )


def accept_index(desk: Desk) -> int:
    """Put the index that waits in place and return its number of passages; WorkspaceError where none waits."""
    return desk.engine.collection.accept_waiting()


def discard_index(desk: Desk) -> None:
    """Remove the index that waits; WorkspaceError where none does."""
    desk.engine.collection.discard_waiting()


def queue_decision(desk: Desk, *, accept: bool) -> Run:
    """Have the worker put the index that waits in place, or remove it."""
    return queue_action(desk, "decide", {"accept": accept})


def queue_rebuild(desk: Desk, *, encode: bool = False, anyway: bool = False) -> Run:
    """Have the worker make both indexes anew, as `rebuild` does."""
    return queue_action(desk, "rebuild", {"encode": encode, "anyway": anyway})


def queue_gate(desk: Desk, *, accept: bool = False) -> Run:
    """Have the worker ask the accepted run's questions again, or with `accept` accept the answers of now.

    What is accepted first are the answers to the questions on the sample. InputError where nothing was accepted.
    """
    if not accept and find_accepted(desk.workspace) is None:
        raise InputError("No run was accepted.", help="Accept one first: `sextant eval gate GOLD --accept`.")
    return queue_action(desk, "gate", {"accept": accept})


def measure_gate(
    desk: Desk, *, accept: bool = False, progress: Callable[[int, int, str], None] = lambda *_: None
) -> GateResult | None:
    """Ask the accepted run's questions again and return how the answers compare; with `accept` they are accepted."""
    accepted = find_accepted(desk.workspace)
    if accept:
        accept_answers(desk.engine, accepted.request if accepted else AnswersRequest(), progress)
        return None
    if accepted is None:
        raise InputError("No run was accepted.", help="Accept one first: `sextant eval gate GOLD --accept`.")
    return ask_gate(desk.engine, accepted, progress)


def _form(desk: Desk, id: str) -> list[AnsweredForm]:
    return [form for form in answered_forms(desk) if form.id == id]
