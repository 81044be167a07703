"""Acts of a person upon answers: one question to each document, and the answers that are accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ingestion.dataset.answer_sheets import answers_workbook, write_answers
from ingestion.dataset.answer_store import AnsweredForm, AnswerStore, form_id
from ingestion.dataset.document_answers import DocumentsRequest
from ingestion.jobs.queue import Run
from ingestion.operations.acts import act, check_role, enter, every_act, name_act
from ingestion.operations.dataset import answered_forms
from ingestion.operations.desk import Desk, queue_action, queue_once
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.gate import GateResult, accept_answers, ask_gate, find_accepted
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.filters import answering_documents
from rag_engine.text.templates import kept_sentence
from rag_engine.text.wording import ENGLISH, Wording


@act("curator", "Asking each document", on="")
def ask_documents(desk: Desk, request: DocumentsRequest) -> Run:
    """Have the worker ask each document that the request's filter allows; what was answered before is kept.

    A run of the same request that is under way serves as well, and continues where it was paused. InputError for a
    filter that no document passes, BackendError where no language model answers.
    """
    snapshot = desk.engine.collection.snapshot()
    answering_documents(request.wanted, snapshot.facets, snapshot.documents)
    desk.engine.require_language_model()
    name_act(desk, request.question)
    enter(desk, "ask_documents", request.question)
    return queue_once(desk, "ask", request.to_json())


@act("reader")
def export_answers(desk: Desk, request: DocumentsRequest, file: Path) -> int:
    """Write what the documents replied to a request to a workbook; return the number of documents in it."""
    found = _form(desk, form_id(request.question, request.schema))
    write_answers(file, found)
    return sum(len(form.answers) for form in found)


@act("reader")
def exported_answers(desk: Desk, form: str, words: Wording = ENGLISH) -> bytes:
    """Return the workbook of a question that was asked of each document."""
    return answers_workbook(_form(desk, form), words)


@act("curator", "Removing answers", on_first=True)
def remove_answers(desk: Desk, form: str) -> None:
    """Remove a question that was asked of each document, with every reply."""
    AnswerStore(desk.engine.catalog).remove(form)
    enter(desk, "remove_answers", form)


@act("curator", "Checking the answers")
def queue_gate(desk: Desk, *, accept: bool = False) -> Run:
    """Have the worker ask the accepted run's questions again, or with `accept` accept the answers of now.

    What is accepted first are the answers to the questions on the sample. InputError where nothing was accepted.
    """
    if accept:
        check_role(desk.person, every_act()["accept_index"])
    if not accept and find_accepted(desk.workspace) is None:
        raise InputError("No run was accepted.", help="Accept one first: `sextant eval gate GOLD --accept`.")
    return queue_action(desk, "gate", {"accept": accept})


@act("curator", "Checking the answers", on="answers")
def measure_gate(
    desk: Desk, *, accept: bool = False, progress: Callable[[int, int, str], None] = lambda *_: None
) -> GateResult | None:
    """Ask the accepted run's questions again and return how the answers compare; with `accept` they are accepted."""
    accepted = find_accepted(desk.workspace)
    if accept:
        check_role(desk.person, every_act()["accept_index"])
        accept_answers(desk.engine, accepted.request if accepted else AnswersRequest(), progress)
        enter(desk, "measure_gate", kept_sentence("answers accepted"))
        return None
    if accepted is None:
        raise InputError("No run was accepted.", help="Accept one first: `sextant eval gate GOLD --accept`.")
    return ask_gate(desk.engine, accepted, progress)


def _form(desk: Desk, id: str) -> list[AnsweredForm]:
    return [form for form in answered_forms(desk) if form.id == id]
