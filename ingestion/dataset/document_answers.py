"""One question asked of each document by itself: a workbook with a row a document, which grows as they are asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from ingestion.spreadsheets.read import read_rows
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, storable, to_workbook
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.atomic_write import write_atomic
from rag_engine.config import RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from rag_engine.filters import DOCUMENT, VERSIONS, Filter, answering_documents
from rag_engine.types import Attribute, AttributeContent, DocumentRecord, StructuredAnswer

# Out of sight in the workbook, so that a run goes on from the file alone.
_KEPT = "Kept"
# Characters of a piece of it: a cell holds 32,767.
_PIECE = 30_000
# Documents that may fail one after the other before the model is taken to be unavailable.
_FAILURES = 3

AskingProgress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class StatedRecord:
    """A record that a document states, as a workbook shows it."""

    attributes: tuple[Attribute, ...]
    page: int
    quote: str
    child_id: str


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document's reply to the question, as a workbook shows it."""

    document_id: str
    title: str
    file: str
    status: Literal["answered", "no answer", "failed"]
    entities: tuple[Attribute, ...] = ()
    records: tuple[StatedRecord, ...] = ()
    generator: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedDocuments:
    """Outcome of a run: how many documents the workbook holds, and how many of them were asked this time."""

    path: Path
    documents: int
    asked: int
    failed: tuple[str, ...]
    warnings: tuple[str, ...]


_ANSWER = TypeAdapter(DocumentAnswer)


def ask_each_document(
    engine: Engine,
    question: str,
    schema: AnswerSchema,
    path: Path,
    *,
    wanted: Filter | None = None,
    retrieval: RetrievalConfig | None = None,
    progress: AskingProgress = lambda *_: None,
) -> AskedDocuments:
    """Ask each document that the filter allows, and write the workbook after each.

    Documents that the workbook holds already are not asked again, those that failed are. InputError for a file of
    another question or schema; BackendError where no language model answers, or three documents fail in a row.
    """
    held = _read(path, question, schema)
    snapshot = engine.collection.snapshot()
    allowed = answering_documents(wanted or {}, snapshot.facets, snapshot.documents)
    keys = sorted(snapshot.documents if allowed is None else allowed)
    chosen = [snapshot.documents[key] for key in keys]
    present = {record.document_id for record in snapshot.documents.values()}
    answers = {id: answer for id, answer in held.items() if id in present}
    waiting = [record for record in chosen if record.document_id not in answers]
    if waiting:
        engine.require_language_model()
    # Before a model has worked for hours: whether the file can be written at all.
    _write(path, question, schema, list(answers.values()))
    plan = engine.plan(question)
    row_of_failures = 0
    for done, record in enumerate(waiting, start=len(chosen) - len(waiting)):
        progress(done, len(chosen), record.metadata.title or record.file)
        alone = {DOCUMENT: (record.document_id,), VERSIONS: ("all",)}
        try:
            answer = engine.structure(engine.find(plan, alone, retrieval), schema)
        except BackendError as error:
            row_of_failures += 1
            if row_of_failures == min(_FAILURES, len(waiting)):
                raise
            answers[record.document_id] = _failed(record, error)
        else:
            row_of_failures = 0
            answers[record.document_id] = _answered(record, answer, plan.warnings)
        _write(path, question, schema, list(answers.values()))
    progress(len(chosen), len(chosen), "")
    failed = tuple(answer.file for answer in answers.values() if answer.status == "failed")
    return AskedDocuments(path, len(answers), len(waiting), failed, plan.warnings)


def _answered(record: DocumentRecord, answer: StructuredAnswer, known: Sequence[str]) -> DocumentAnswer:
    """Return a document's reply, without the warnings that all documents share."""
    return DocumentAnswer(
        document_id=record.document_id,
        title=record.metadata.title,
        file=record.file,
        status="answered" if answer.records else "no answer",
        entities=answer.entities,
        records=tuple(
            StatedRecord(one.attributes, one.citation.page, one.citation.quote, one.citation.child_id)
            for one in answer.records
        ),
        generator=answer.generator,
        warnings=tuple(warning for warning in answer.warnings if warning not in known),
    )


def _failed(record: DocumentRecord, error: BackendError) -> DocumentAnswer:
    return DocumentAnswer(
        record.document_id, record.metadata.title, record.file, status="failed", warnings=(str(error),)
    )


def _read(path: Path, question: str, schema: AnswerSchema) -> dict[str, DocumentAnswer]:
    """Return what a workbook holds by document, without those that failed; InputError where it is of another run."""
    if path.suffix.lower() != ".xlsx":
        raise InputError(f"{path.name} is no name of a workbook.", help="End it in .xlsx.")
    if not path.exists():
        return {}
    pieces: dict[str, str] = {}
    for row in read_rows(path):
        if row.sheet == _KEPT and row.number > 1 and len(row.cells) >= 2:
            pieces[row.cells[0]] = pieces.get(row.cells[0], "") + row.cells[1][1:-1]
    if any(pieces.pop(name, "") != text for name, text in _head(question, schema).items()):
        raise InputError(
            f"{path} holds something else than this question with this schema.", help="Give the name of another file."
        )
    try:
        return {id: _ANSWER.validate_json(text) for id, text in pieces.items()}
    except ValidationError as error:
        raise InputError(
            f"The sheet {_KEPT} of {path} was changed and cannot be read.", help="Give the name of another file."
        ) from error


def _write(path: Path, question: str, schema: AnswerSchema, answers: Sequence[DocumentAnswer]) -> None:
    """Write the workbook; InputError where its folder or the file itself does not allow it."""
    sheets = [_documents(schema, answers), _records(schema, answers), _kept(question, schema, answers)]
    try:
        write_atomic(path, to_workbook(sheets), durable=True)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", help="Close it where it is open, or give another place."
        ) from error


def _documents(schema: AnswerSchema, answers: Sequence[DocumentAnswer]) -> Sheet:
    """One row a document: what it answers beside the list, and each record on a line."""
    names = [one.name for one in schema.entities]
    columns = (
        ("Document", 44), ("File", 28), ("Result", 12), ("Records", 9), *((name, 30) for name in names),
        (schema.list_name, 80), ("Warnings", 60), ("Model", 22),
    )  # fmt: skip
    sheet = Sheet("Documents", columns)
    for one in answers:
        entities = {entity.name: entity.value for entity in one.entities}
        lines = [f"{number}. {_line(record)}" for number, record in enumerate(one.records, start=1)]
        values = (
            one.title, one.file, one.status, len(one.records), *(entities.get(name) for name in names),
            "\n".join(lines), "\n".join(one.warnings), one.generator,
        )  # fmt: skip
        sheet.rows.append([_cell(value) for value in values])
    return sheet


def _records(schema: AnswerSchema, answers: Sequence[DocumentAnswer]) -> Sheet:
    """One row a record, with its page and the sentence that states it."""
    names = [one.name for one in schema.attributes]
    columns = (
        ("Document", 44), ("File", 28), *((name, 36) for name in names), ("Page", 8), ("Quote", 80), ("Passage", 26),
    )  # fmt: skip
    sheet = Sheet("Records", columns)
    for one in answers:
        for record in one.records:
            held = {attribute.name: attribute.value for attribute in record.attributes}
            values = (one.title, one.file, *map(held.get, names), record.page, record.quote, record.child_id)
            sheet.rows.append([_cell(value) for value in values])
    return sheet


def _kept(question: str, schema: AnswerSchema, answers: Sequence[DocumentAnswer]) -> Sheet:
    """Return what a later run needs, out of sight: the question, the schema and every document that was answered."""
    sheet = Sheet(_KEPT, (("Document", 20), ("Answer", 80)), hidden=True)
    known = {
        one.document_id: json.dumps(_ANSWER.dump_python(one, mode="json")) for one in answers if one.status != "failed"
    }
    for name, text in (_head(question, schema) | known).items():
        # Between marks, since a spreadsheet may strip the spaces at the ends of a cell.
        sheet.rows.extend([Cell(name), Cell(f"<{piece}>")] for piece in _pieces(text))
    return sheet


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def _line(record: StatedRecord) -> str:
    values = (_text(attribute.value) for attribute in record.attributes)
    return f"{'; '.join(filter(None, values))} (page {record.page})"


def _cell(value: AttributeContent) -> Cell:
    """Return a cell: numbers as numbers, everything else as the text that fits in one."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Cell(value)
    return Cell(storable(_text(value)))


def _text(value: AttributeContent) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(value)
    return "" if value is None else str(value)


def _head(question: str, schema: AnswerSchema) -> dict[str, str]:
    """Return what tells one run from another: its question, and the hash of all that the schema asks for."""
    digest = hashlib.sha256(repr(schema).encode()).hexdigest()[:16]
    return {"question": json.dumps(question), "schema": digest}
