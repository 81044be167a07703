"""Answers of single documents in the catalog database: a row for each form (question and schema) and document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import sqlalchemy as sql
from pydantic import TypeAdapter

from ingestion.records.source_store import now
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.storage.catalog import Catalog, all_active
from rag_engine.types import Attribute

TABLES = sql.MetaData()
forms = sql.Table(
    "answer_forms",
    TABLES,
    sql.Column("id", sql.String, primary_key=True),
    sql.Column("question", sql.String, nullable=False),
    sql.Column("schema", sql.String, nullable=False),
    sql.Column("begun", sql.String, nullable=False),
)
answers = sql.Table(
    "document_answers",
    TABLES,
    sql.Column("form", sql.String, primary_key=True),
    sql.Column("document_id", sql.String, primary_key=True),
    sql.Column("answer", sql.String, nullable=False),
)


@dataclass(frozen=True, slots=True)
class StatedRecord:
    """A record that a document states, with the page, the sentence and the passage that state it.

    Authority, year and licence are the document's, as the catalog had them.
    """

    attributes: tuple[Attribute, ...]
    page: int
    quote: str
    child_id: str
    authority: str = ""
    year: int | None = None
    licence: str = ""


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document's reply to a question, as its row shows it."""

    document_id: str
    title: str
    file: str
    status: Literal["answered", "no answer", "failed"]
    entities: tuple[Attribute, ...] = ()
    records: tuple[StatedRecord, ...] = ()
    generator: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredForm:
    """A question asked of each document, its schema, and the replies by document."""

    id: str
    question: str
    schema: AnswerSchema
    answers: Mapping[str, DocumentAnswer]


_ANSWER = TypeAdapter(DocumentAnswer)
_SCHEMA = TypeAdapter(AnswerSchema)


def form_id(question: str, schema: AnswerSchema) -> str:
    """Return what tells one form from another: the hash of its question and of all that its schema asks for."""
    text = json.dumps([question, asdict(schema)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class AnswerStore:
    """The forms of a workspace with the replies of its documents."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    def open(self, question: str, schema: AnswerSchema) -> AnsweredForm:
        """Return a form with what documents have replied so far; it is kept from now on."""
        id = form_id(question, schema)
        with self._catalog.begin() as connection:
            if connection.execute(sql.select(forms.c.id).where(forms.c.id == id)).first() is None:
                text = json.dumps(asdict(schema), ensure_ascii=False)
                values = {"id": id, "question": question, "schema": text, "begun": now()}
                connection.execute(sql.insert(forms).values(values))
        return AnsweredForm(id, question, schema, self._answers(id))

    def put(self, form: str, answer: DocumentAnswer) -> None:
        """Keep a document's reply to a form in place of its former one; nothing where it was erased meanwhile."""
        c = answers.c
        row = {"form": form, "document_id": answer.document_id, "answer": _ANSWER.dump_json(answer).decode()}
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(answers).where(sql.and_(c.form == form, c.document_id == answer.document_id)))
            if all_active(connection, [answer.document_id]):
                connection.execute(sql.insert(answers).values(row))

    def forms(self) -> list[AnsweredForm]:
        """Return every form that has replies, in the order in which they were first asked."""
        rows = self._catalog.read(sql.select(forms).order_by(forms.c.begun, forms.c.id))
        found = [
            AnsweredForm(id, question, _SCHEMA.validate_json(schema), self._answers(id))
            for id, question, schema, _ in rows
        ]
        return [form for form in found if form.answers]

    def forget_documents(self, document_ids: Collection[str]) -> None:
        """Remove what these documents replied."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(answers).where(answers.c.document_id.in_(document_ids)))

    def remove(self, form: str) -> None:
        """Remove a form with every reply."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(answers).where(answers.c.form == form))
            connection.execute(sql.delete(forms).where(forms.c.id == form))

    def _answers(self, form: str) -> dict[str, DocumentAnswer]:
        c = answers.c
        rows = self._catalog.read(sql.select(c.document_id, c.answer).where(c.form == form).order_by(c.document_id))
        return {id: _ANSWER.validate_json(answer) for id, answer in rows}
