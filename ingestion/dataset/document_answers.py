"""One question asked of each document by itself: a row a document, kept as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from ingestion.dataset.answer_store import AnsweredForm, AnswerStore, DocumentAnswer, StatedRecord
from ingestion.dataset.ask_in_turn import ask_in_turn
from ingestion.types import Progress
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.config import RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.filters import DOCUMENT, VERSIONS, Filter, answering_documents
from rag_engine.types import CitedRecord, DocumentRecord, StructuredAnswer


@dataclass(frozen=True, slots=True)
class DocumentsRequest:
    """Request for a run: a question, the form that each document fills in, which documents, and how they are searched.

    None searches as the workspace is set.
    """

    question: str
    schema: AnswerSchema
    wanted: Filter
    retrieval: RetrievalConfig | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the request as the job queue keeps it."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values


@dataclass(frozen=True, slots=True)
class AskedDocuments:
    """Outcome of a run: how many documents have a row, how many were asked this time, and the files that failed."""

    documents: int
    asked: int
    failed: tuple[str, ...]
    warnings: tuple[str, ...]


_REQUEST = TypeAdapter(DocumentsRequest)


def request_of(values: Mapping[str, Any]) -> DocumentsRequest:
    """Return the request that `to_json` gave."""
    return _REQUEST.validate_python(values)


def ask_each_document(
    engine: Engine,
    store: AnswerStore,
    request: DocumentsRequest,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> AskedDocuments:
    """Ask each document that the request's filter allows, and keep its reply before the next is asked.

    Documents with a reply are not asked again, those that failed are; `stopped` ends the run after the document it is
    at. Replies of documents that left the collection go. BackendError where no language model answers, or three
    documents fail in a row.
    """
    snapshot = engine.collection.snapshot()
    allowed = answering_documents(request.wanted, snapshot.facets, snapshot.documents)
    keys = sorted(snapshot.documents if allowed is None else allowed)
    chosen = [snapshot.documents[key] for key in keys]
    form = _opened(engine, store, request)
    answers = dict(form.answers)
    waiting = [one for one in chosen if one.document_id not in answers or answers[one.document_id].status == "failed"]
    if waiting:
        engine.require_language_model()
    plan = engine.plan(request.question)

    def keep(answer: DocumentAnswer) -> None:
        answers[answer.document_id] = answer
        store.put(form.id, answer)

    def ask(record: DocumentRecord) -> bool:
        alone = {DOCUMENT: (record.document_id,), VERSIONS: ("all",)}
        answer = engine.structure(engine.find(plan, alone, request.retrieval), request.schema)
        keep(_answered(record, answer, plan.warnings))
        return True

    asked = ask_in_turn(
        waiting,
        ask,
        lambda record, error: keep(_failed(record, error)),
        lambda record: record.shown_title,
        done=len(chosen) - len(waiting),
        progress=progress,
        stopped=stopped,
    )
    failed = tuple(one.file for one in answers.values() if one.status == "failed")
    return AskedDocuments(len(answers), asked, failed, plan.warnings)


def _opened(engine: Engine, store: AnswerStore, request: DocumentsRequest) -> AnsweredForm:
    """Return the form with the replies of the documents that the collection still has; the others are removed."""
    form = store.open(request.question, request.schema)
    present = {record.document_id for record in engine.collection.snapshot().documents.values()}
    if gone := form.answers.keys() - present:
        store.forget_documents(gone)
        form = store.open(request.question, request.schema)
    return form


def _answered(record: DocumentRecord, answer: StructuredAnswer, known: Sequence[str]) -> DocumentAnswer:
    """Return a document's reply, without the warnings that all documents share."""
    return DocumentAnswer(
        document_id=record.document_id,
        title=record.shown_title,
        file=record.file,
        status="answered" if answer.records else "no answer",
        entities=answer.entities,
        records=tuple(_stated(one) for one in answer.records),
        generator=answer.generator,
        warnings=tuple(warning for warning in answer.warnings if warning not in known),
    )


def _stated(record: CitedRecord) -> StatedRecord:
    cited = record.citation
    return StatedRecord(
        record.attributes, cited.page, cited.quote, cited.child_id, cited.authority, cited.year, cited.licence
    )


def _failed(record: DocumentRecord, error: BackendError) -> DocumentAnswer:
    return DocumentAnswer(record.document_id, record.shown_title, record.file, status="failed", warnings=(str(error),))
