"""Log of a workspace: acts, decisions and corrections of people, and its sources and documents.

Lines are only added; an erasure removes lines that repeat the erased document. A destroyed catalog is rebuilt from the
log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sql

from rag_engine.messages import Message, change_texts
from rag_engine.storage.catalog import Catalog, portions
from rag_engine.storage.records import body_of, log, reading, write_record, writing
from rag_engine.storage.schema import documents

# "source", "file" and "document" lines repeat the catalog's rows of a source, a download and a document.
LogKind = Literal["act", "decision", "cell decision", "correction", "source", "file", "document"]
# The record that says which documents were entered last.
_ENTERED = "entered"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line: who did which act when, on which object, and with which outcome.

    `said` is the decision, correction or record as JSON. `of` names the act that the line belongs to. `process` and
    `started` name the process that began it.
    """

    kind: LogKind
    on: Message | str
    when: str = ""
    by: str = ""
    person: str = ""
    act: str = ""
    note: Message | str = ""
    outcome: str = ""
    of: str = ""
    process: int = 0
    started: float = 0.0
    document_id: str = ""
    sha256: str = ""
    source: str = ""
    file: str = ""
    said: str = ""
    id: int = field(default=0, compare=False)


_COLUMNS = [log.c[one.name] for one in fields(LogLine)]
_KEPT = [column for column in documents.c if column.name != "status"]


def add_lines(workspace: Path, lines: Iterable[LogLine]) -> None:
    """Add lines at the end of the log; they are on the disk when this returns."""
    # What stands for bytes of a file's name that are not UTF-8 is written as an escape.
    rows = [{name: _written(value) for name, value in asdict(line).items() if name != "id"} for line in lines]
    if rows:
        with writing(workspace) as connection:
            connection.execute(sql.insert(log), rows)


def read_lines(workspace: Path, kind: LogKind, on: str = "", after: int = 0) -> list[LogLine]:
    """Return the lines of a kind, oldest first: on one object if it is named, after a line."""
    wanted = sql.select(*_COLUMNS).where(log.c.kind == kind, log.c.id > after).order_by(log.c.id)
    with reading(workspace) as connection:
        rows = connection.execute(wanted.where(log.c.on == on) if on else wanted).mappings()
        return [LogLine(**row) for row in rows]


def latest_lines(workspace: Path, kind: LogKind) -> dict[str, LogLine]:
    """Return the last line of a kind upon each thing."""
    return {line.on: line for line in read_lines(workspace, kind)}


def forget_lines(workspace: Path, kinds: Iterable[LogKind], *on: str) -> None:
    """Remove the lines of these kinds on erased objects."""
    with writing(workspace) as connection:
        connection.execute(sql.delete(log).where(log.c.kind.in_(kinds), log.c.on.in_(on)))


def forget_lines_of(workspace: Path, ids: Sequence[int]) -> None:
    """Remove the lines of these ids."""
    with writing(workspace) as connection:
        for some in portions(ids):
            connection.execute(sql.delete(log).where(log.c.id.in_(some)))


def log_documents(catalog: Catalog) -> None:
    """Enter documents that are new or changed since the last time, and forget removed ones."""
    change = json.dumps([catalog.state("encoder"), catalog.state("workspace"), catalog.change()])
    with writing(catalog.workspace) as connection:
        if body_of(connection, _ENTERED, "") == change:
            return
        rows = catalog.read(sql.select(*_KEPT).where(documents.c.status == "active").order_by(documents.c.key))
        held = {line.on: line for line in map(_document_line, rows)}
        before = read_lines(catalog.workspace, "document")
        latest, contents = {line.on: line for line in before}, {line.document_id for line in held.values()}
        add_lines(catalog.workspace, (line for on, line in held.items() if latest.get(on) != line))
        # Of a former version too, whose lines have the name that it had before.
        gone = [line.id for line in before if line.on not in held or line.document_id not in contents]
        forget_lines_of(catalog.workspace, gone)
        write_record(connection, _ENTERED, "", change)


def logged_encoder(workspace: Path) -> str:
    """Return which encoder the documents that the log knows were indexed with, as the catalog had it."""
    with reading(workspace) as connection:
        return str(json.loads(body_of(connection, _ENTERED, "") or '[""]')[0])


def _document_line(row: tuple[Any, ...]) -> LogLine:
    values = dict(zip((column.name for column in _KEPT), row, strict=True))
    named = {name: values[name] for name in ("document_id", "sha256", "source", "file")}
    return LogLine(kind="document", on=values["source"], when=values["added"], said=json.dumps(values), **named)


def _written(value: object) -> object:
    return change_texts(value, _escaped) if isinstance(value, str) else value


def _escaped(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
