"""The tables of the catalog: what is kept of documents, and under which names."""

from __future__ import annotations

import sqlalchemy as sql

TABLES = sql.MetaData()
state = sql.Table("state", TABLES, sql.Column("name", sql.String, primary_key=True), sql.Column("value", sql.String))
documents = sql.Table(
    "documents",
    TABLES,
    sql.Column("key", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("document_id", sql.String, nullable=False, index=True),
    sql.Column("sha256", sql.String, nullable=False),
    sql.Column("source", sql.String, nullable=False, index=True),
    sql.Column("file", sql.String, nullable=False),
    sql.Column("fingerprint", sql.String, nullable=False),
    sql.Column("model", sql.String, nullable=False),
    sql.Column("status", sql.String, nullable=False, index=True),
    sql.Column("media_type", sql.String, nullable=False),
    sql.Column("pages", sql.Integer, nullable=False),
    sql.Column("ocr_pages", sql.Integer, nullable=False),
    sql.Column("parents", sql.Integer, nullable=False),
    sql.Column("children", sql.Integer, nullable=False),
    sql.Column("characters", sql.Integer, nullable=False),
    sql.Column("added", sql.String, nullable=False),
    sql.Column("metadata", sql.String, nullable=False),
    sql.Column("strategy", sql.String, nullable=False),
    sql.Column("why", sql.String, nullable=False),
    sqlite_autoincrement=True,
)
texts = sql.Table(
    "texts",
    TABLES,
    sql.Column("document_key", sql.Integer, primary_key=True),
    sql.Column("text", sql.LargeBinary, nullable=False),
    sql.Column("lines", sql.LargeBinary, nullable=False),
    sql.Column("blocks", sql.LargeBinary, nullable=False),
)
parents = sql.Table(
    "parents",
    TABLES,
    sql.Column("key", sql.Integer, primary_key=True),
    sql.Column("document_key", sql.Integer, nullable=False, index=True),
    sql.Column("index", sql.Integer, nullable=False),
    sql.Column("start", sql.Integer, nullable=False),
    sql.Column("end", sql.Integer, nullable=False),
    sql.Column("page", sql.Integer, nullable=False),
    sql.Column("last_page", sql.Integer, nullable=False),
    sql.Column("text", sql.String, nullable=False),
    sql.Column("act", sql.String, nullable=False),
    sql.Column("section", sql.String, nullable=False),
    sql.Column("headings", sql.String, nullable=False),
    sql.Column("depth", sql.Integer, nullable=False),
    sqlite_autoincrement=True,
)
children = sql.Table(
    "children",
    TABLES,
    sql.Column("key", sql.Integer, primary_key=True),
    sql.Column("document_key", sql.Integer, nullable=False, index=True),
    sql.Column("parent_key", sql.Integer, nullable=False),
    sql.Column("index", sql.Integer, nullable=False),
    sql.Column("start", sql.Integer, nullable=False),
    sql.Column("end", sql.Integer, nullable=False),
    sql.Column("page", sql.Integer, nullable=False),
    sql.Column("last_page", sql.Integer, nullable=False),
    sql.Column("vector_row", sql.Integer, nullable=False, index=True),
    sql.Column("clause", sql.String, nullable=False),
    sqlite_autoincrement=True,
)
# From a parent that refers to another one of its document; start and end are the reference's place in the text.
references = sql.Table(
    "references",
    TABLES,
    sql.Column("key", sql.Integer, primary_key=True),
    sql.Column("document_key", sql.Integer, nullable=False, index=True),
    sql.Column("from_parent", sql.Integer, nullable=False, index=True),
    sql.Column("to_parent", sql.Integer, nullable=False),
    sql.Column("start", sql.Integer, nullable=False),
    sql.Column("end", sql.Integer, nullable=False),
    sql.Column("label", sql.String, nullable=False),
)
# An entry of an index, with the place in the document's text that it leads to; one that only refers to other entries
# has page 0 and no child.
anchors = sql.Table(
    "anchors",
    TABLES,
    sql.Column("key", sql.Integer, primary_key=True),
    sql.Column("document_key", sql.Integer, nullable=False, index=True),
    sql.Column("child_key", sql.Integer, nullable=True, index=True),
    sql.Column("term", sql.String, nullable=False),
    sql.Column("subterm", sql.String, nullable=False),
    sql.Column("source", sql.String, nullable=False),
    sql.Column("page", sql.Integer, nullable=False),
    sql.Column("start", sql.Integer, nullable=False),
    sql.Column("end", sql.Integer, nullable=False),
    sql.Column("see", sql.String, nullable=False),
)
vectors = sql.Table(
    "vectors",
    TABLES,
    sql.Column("model", sql.String, primary_key=True),
    sql.Column("text_hash", sql.String, primary_key=True),
    sql.Column("row", sql.Integer, nullable=False),
    # Vectors of the sentences of the passage (rag_engine/storage/sentence_vectors.py).
    sql.Column("sentences", sql.LargeBinary, nullable=False),
    # Whoever looks through the rows shall not read the sentences.
    sql.Index("vectors_by_row", "model", "row"),
)

# All that belongs to one document, beside its own row.
OF_DOCUMENT = (anchors, references, children, parents, texts)
