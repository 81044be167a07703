"""Journal of what people corrected and confirmed of documents, kept beside what was extracted; entries never change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingestion.records.journal import enter_in_journal, forget_corrections
from ingestion.types import FieldName, FieldValue
from rag_engine.storage.catalog import Catalog

# "agree" confirms the value that is there, "undo" takes back the latest of the other two that was not undone.
CorrectionAct = Literal["correct", "agree", "undo"]

TABLES = sql.MetaData()
journal = sql.Table(
    "document_corrections",
    TABLES,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("code", sql.String, nullable=False, index=True),
    *(
        sql.Column(name, sql.String, nullable=False)
        for name in ("field", "values", "author", "note", "when", "act", "batch")
    ),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A person's value of a field; wins over every other, whatever is run again.

    `code` is that of a source, or where a file came from that was added by itself. `values` has one element, or any
    number for a list field; none means that the field is empty. `when` is an ISO time; entries of one `batch` were
    made together.
    """

    code: str
    field: FieldName
    values: tuple[str, ...]
    author: str = ""
    note: str = ""
    when: str = ""
    act: CorrectionAct = "correct"
    batch: str = ""


class CorrectionJournal:
    """The corrections of a workspace, oldest first."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            known = sql.inspect(connection)
            fresh = not known.has_table(journal.name) and known.has_table("corrections")
            TABLES.create_all(connection)
            if fresh:
                _take_over(connection)

    def append(self, connection: Connection, given: Sequence[Correction]) -> None:
        """Add entries within a transaction, and to the journal beside the catalog."""
        if given:
            self.take_over(connection, given)
            enter_in_journal(self._catalog.workspace, "correction", map(asdict, given))

    def take_over(self, connection: Connection, given: Sequence[Correction]) -> None:
        """Add entries within a transaction that the journal beside the catalog has already."""
        rows = [
            {"code": one.code, "field": one.field, "values": json.dumps(one.values, ensure_ascii=False)}
            | {"author": one.author, "note": one.note, "when": one.when, "act": one.act, "batch": one.batch}
            for one in given
        ]
        if rows:
            connection.execute(sql.insert(journal), rows)

    def entries(self, code: str = "", connection: Connection | None = None) -> list[Correction]:
        """Return what was ever entered, oldest first: of one document, of all without a code.

        With a connection, what its transaction has added is among them.
        """
        names = ("code", "field", "values", "author", "note", "when", "act", "batch")
        statement = sql.select(*(journal.c[name] for name in names)).order_by(journal.c.id)
        if code:
            statement = statement.where(journal.c.code == code)
        rows = connection.execute(statement).all() if connection else self._catalog.read(statement)
        return [Correction(row[0], row[1], tuple(json.loads(row[2])), *row[3:]) for row in rows]

    def forget(self, code: str) -> None:
        """Remove the entries of a document that was erased: they repeat what it says."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(journal).where(journal.c.code == code))
        forget_corrections(self._catalog.workspace, code)


def standing(entries: Iterable[Correction]) -> list[Correction]:
    """Return the entry that counts for each field of each document, in the order of code and field."""
    latest = (stack[-1] for stack in _stacks(entries).values() if stack)
    return sorted(latest, key=lambda one: (one.code, one.field))


def undoing(entries: Iterable[Correction], field: str = "", batch: str = "") -> list[Correction]:
    """Return the entries that undo what was last done to a document and still counts; of one field where it is named.

    What was done together is undone together. Of a `batch` that is named, only what nobody has corrected since.
    """
    listed = list(entries)
    order = {id(one): place for place, one in enumerate(listed)}
    tops = [stack[-1] for (_, name), stack in _stacks(listed).items() if stack and name == (field or name)]
    tops = [one for one in tops if one.batch == (batch or one.batch)]
    if not tops:
        return []
    last = max(tops, key=lambda one: order[id(one)])
    together = [one for one in tops if one is last or (last.batch and one.batch == last.batch)]
    return [replace(one, values=(), note="", when="", act="undo", batch="") for one in together]


def corrected(found: Iterable[FieldValue], given: Iterable[Correction]) -> list[FieldValue]:
    """Return extracted values with people's in the place of those of the same field."""
    listed, by_field = list(found), {one.field: one for one in given}
    values = [one for one in listed if one.field not in by_field]
    # What a person agreed with is still justified by the sentence that it was extracted from.
    known = {(one.field, one.value): one for one in listed}
    for field, one in by_field.items():
        for value in one.values:
            before = known.get((field, value)) if one.act == "agree" else None
            sentence, page = (before.sentence, before.page) if before else (one.note, None)
            values.append(FieldValue(field, value, "person", sentence, page, 1.0))
    return values


def _stacks(entries: Iterable[Correction]) -> dict[tuple[str, str], list[Correction]]:
    """Return for each document and field the entries that were not undone, oldest first."""
    stacks: defaultdict[tuple[str, str], list[Correction]] = defaultdict(list)
    for one in entries:
        stack = stacks[one.code, one.field]
        if one.act != "undo":
            stack.append(one)
        elif stack:
            stack.pop()
    return stacks


def _take_over(connection: Connection) -> None:
    """Enter the corrections of a workspace that kept the latest of each field alone."""
    columns = 'code, field, "values", author, note, "when"'
    selected = f"SELECT {columns}, 'correct', '' FROM corrections"  # noqa: S608 - of fixed names
    connection.exec_driver_sql(f"INSERT INTO document_corrections ({columns}, act, batch) {selected}")
    connection.exec_driver_sql("DROP TABLE corrections")
