"""The tables of the catalog and their columns."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from rag_engine.messages import Message, dump_json, load_json

TABLES = sql.MetaData()
# How a message that is stored as JSON begins.
_JSON = ("{", '"')


class MessageText(sql.TypeDecorator[Message]):
    """A message in a column: as JSON if it has values, or could be taken for JSON."""

    impl = sql.String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: object) -> str:  # noqa: ARG002 - of SQLAlchemy
        """Return a message or a text as it is stored."""
        message = Message(value or "")
        return dump_json(message) if message.values or message.startswith(_JSON) else str(message)

    def process_result_value(self, value: str | None, dialect: object) -> Message:  # noqa: ARG002 - of SQLAlchemy
        """Return what is stored as a message."""
        return Message(load_json(value) if value and value.startswith(_JSON) else value or "")


def _columns(kind: type[Any], names: str, *, index: bool = False) -> list[sql.Column[Any]]:
    """Return columns of one kind, which may not be empty."""
    return [sql.Column(name, kind, nullable=False, index=index) for name in names.split()]


def _table(name: str, *columns: sql.Column[Any], reused: bool = False) -> sql.Table:
    """Return a table whose rows are numbered; unless `reused`, no number is given a second time."""
    key = sql.Column("key", sql.Integer, primary_key=True)
    return sql.Table(name, TABLES, key, *columns, sqlite_autoincrement=not reused)


state = sql.Table("state", TABLES, sql.Column("name", sql.String, primary_key=True), sql.Column("value", sql.String))
documents = _table(
    "documents",
    *_columns(sql.String, "document_id", index=True),
    *_columns(sql.String, "sha256"),
    *_columns(sql.String, "source", index=True),
    *_columns(sql.String, "file fingerprint model"),
    *_columns(sql.String, "status", index=True),
    *_columns(sql.String, "media_type"),
    *_columns(sql.Integer, "pages ocr_pages parents children characters"),
    *_columns(sql.String, "added metadata strategy why"),
)
texts = sql.Table(
    "texts",
    TABLES,
    sql.Column("document_key", sql.Integer, primary_key=True),
    *_columns(sql.LargeBinary, "text lines blocks"),
)
# The labels of the pages of a document, a line each.
page_labels = sql.Table(
    "page_labels",
    TABLES,
    sql.Column("document_key", sql.Integer, primary_key=True),
    *_columns(sql.String, "labels"),
)
parents = _table(
    "parents",
    *_columns(sql.Integer, "document_key", index=True),
    *_columns(sql.Integer, "index start end page last_page"),
    *_columns(sql.String, "text act section headings"),
    *_columns(sql.Integer, "depth"),
)
children = _table(
    "children",
    *_columns(sql.Integer, "document_key", index=True),
    *_columns(sql.Integer, "parent_key index start end page last_page"),
    *_columns(sql.Integer, "vector_row", index=True),
    *_columns(sql.String, "clause"),
)
# From a parent that refers to another one of its document; start and end are the reference's place in the text.
references = _table(
    "references",
    *_columns(sql.Integer, "document_key from_parent", index=True),
    *_columns(sql.Integer, "to_parent start end"),
    *_columns(sql.String, "label"),
    reused=True,
)
# An entry of an index, with the place in the document's text that it leads to; one that only refers to other entries
# has page 0 and no child.
anchors = _table(
    "anchors",
    *_columns(sql.Integer, "document_key", index=True),
    sql.Column("child_key", sql.Integer, nullable=True, index=True),
    *_columns(sql.String, "term subterm source"),
    *_columns(sql.Integer, "page start end"),
    *_columns(sql.String, "see"),
    reused=True,
)
# A grounded entry of an index with its sources and text (JSON), and the documents that it quotes.
groundings = sql.Table(
    "groundings",
    TABLES,
    sql.Column("id", sql.String, primary_key=True),
    *_columns(sql.String, "basis fingerprint content"),
)
grounded_documents = _table(
    "grounded_documents", *_columns(sql.String, "document_id grounding", index=True), reused=True
)
vectors = sql.Table(
    "vectors",
    TABLES,
    sql.Column("model", sql.String, primary_key=True),
    sql.Column("text_hash", sql.String, primary_key=True),
    *_columns(sql.Integer, "row"),
    # Vectors of the sentences of the passage (rag_engine/storage/sentence_vectors.py).
    *_columns(sql.LargeBinary, "sentences"),
    # Whoever looks through the rows shall not read the sentences.
    sql.Index("vectors_by_row", "model", "row"),
)

# Words that a document shows struck out; start is the offset of its text at which they stood.
struck = _table(
    "struck",
    *_columns(sql.Integer, "document_key", index=True),
    *_columns(sql.Integer, "start page"),
    *_columns(sql.String, "text"),
    reused=True,
)

# The tables of everything that belongs to one document, without its own row.
OF_DOCUMENT = (anchors, references, children, parents, page_labels, struck, texts)
