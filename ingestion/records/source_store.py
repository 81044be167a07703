"""The sources and what became of each in every phase, in the same database as the catalog.

Only the latest outcome of a phase counts; earlier ones stay in the history. The words of people, the sources and the
files are lines of the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sql
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from ingestion.records.audit import add_said
from ingestion.records.document_corrections import Correction, correction_line, entered_corrections, standing
from ingestion.records.source_record import (
    ADDED,
    FROM_LIST,
    Decision,
    SourceRecord,
    as_extracted,
    decided,
    decision_line,
    decision_of,
    decisions_that_count,
    document_code,
)
from ingestion.types.description import Description
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, Phase
from ingestion.types.source import Download, Extraction, Indexed, ListedSource, PortalFindings, Quality, Relation
from rag_engine.errors import InputError
from rag_engine.messages import NO_MESSAGE, Message, change_texts, dump_json, load_json
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.log import LogLine, add_lines, forget_lines, latest_lines, read_lines
from rag_engine.storage.records import bodies, body_of, delete_record, reading, write_record, writing
from rag_engine.storage.schema import MessageText, documents
from rag_engine.text.control_characters import without_direction_marks
from rag_engine.types.document import DocumentRecord

_EVIDENCE: Mapping[Phase, TypeAdapter[Any]] = {
    "licence": TypeAdapter(LicenceVerdict),
    "acquisition": TypeAdapter(Download),
    "portals": TypeAdapter(PortalFindings),
    "extraction": TypeAdapter(Extraction),
    "quality": TypeAdapter(Quality),
    "deduplication": TypeAdapter(Relation),
    "metadata": TypeAdapter(Description),
    "indexing": TypeAdapter(Indexed),
}
TABLES = sql.MetaData()
# The event of a decision, and how one that was taken back begins there.
_DECIDED, _UNDONE = "decision", "undone"
_ACTS = {"correct": "", "agree": "agreed", "undo": "undone"}
# Records of documents that are no sources of the list; the catalog has the description of a source.
_DESCRIPTION = "description"


def _texts(*names: str, key: bool = False) -> list[sql.Column[str]]:
    kinds = ((name, MessageText if name in ("message", "origin") else sql.String) for name in names)
    return [sql.Column(name, kind, primary_key=key, nullable=False) for name, kind in kinds]


sources = sql.Table(
    "sources",
    TABLES,
    sql.Column("position", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("code", sql.String, nullable=False, unique=True),
    *_texts(*(field.name for field in fields(ListedSource) if field.name != "code"), "added"),
    sqlite_autoincrement=True,
)
outcomes = sql.Table(
    "outcomes",
    TABLES,
    *_texts("code", "phase", key=True),
    *_texts("fingerprint", "model", "status", "reason", "message", "evidence"),
    sql.Column("retryable", sql.Boolean, nullable=False),
    sql.Column("attempts", sql.Integer, nullable=False),
    *_texts("when"),
)
history = sql.Table(
    "history",
    TABLES,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("code", sql.String, nullable=False, index=True),
    *_texts("when", "event", "status", "reason", "message", "author"),
    sql.Column("seconds", sql.Float, nullable=False),
)
# Every file that was ever fetched for a source, former versions too.
source_files = sql.Table("source_files", TABLES, *_texts("code", "path", key=True), *_texts("sha256"))
kept = sql.Table("kept", TABLES, *_texts("name", "code", key=True), *_texts("fingerprint", "value"))


@dataclass(frozen=True, slots=True)
class PhaseEntry:
    """A stored outcome: made from what (`fingerprint`), by which model, at which attempt in a row, when."""

    outcome: Outcome
    fingerprint: str
    model: str
    attempts: int
    when: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was fetched for a source; `path` is relative to the workspace, as of `Download`."""

    code: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a source's history; `event` is a phase or an act of a person."""

    code: str
    when: str
    event: str
    status: str
    reason: str
    message: Message
    author: str
    seconds: float


_SOURCE = [sources.c.code, *(column for column in sources.c if column.name not in ("position", "code"))]
_EVENT = [history.c[field.name] for field in fields(Event)]
_Said = TypeVar("_Said", Correction, Decision)


class SourceStore:
    """The sources of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    # --- sources

    def add(self, new: Iterable[ListedSource]) -> list[ListedSource]:
        """Add sources and return the others, whose code is known already."""
        left: list[ListedSource] = []
        added: list[str] = []
        with self._catalog.begin() as connection:
            known = {str(row[0]) for row in connection.execute(sql.select(sources.c.code))}
            for source in new:
                if source.code in known:
                    left.append(source)
                else:
                    connection.execute(sql.insert(sources).values(_scrubbed(asdict(source)) | {"added": now()}))
                    _note(connection, source.code, "added", message=source.origin)
                    known.add(source.code)
                    added.append(source.code)
        self._log_sources(added)
        return left

    def correct_addresses(self, corrected: Sequence[ListedSource], author: str = "") -> None:
        """Give known sources other addresses; the next run takes them from there.

        A decision on the licence was made on what stood at the former address, and goes with it.
        """
        codes = [one.code for one in corrected]
        self._require(codes)
        for decision in self.decisions():
            if decision.phase == "licence" and decision.code in codes:
                self.decide(replace(decision, choice="", author=author, note="", when=now()))
        with self._catalog.begin() as connection:
            for source in corrected:
                connection.execute(sql.update(sources).where(sources.c.code == source.code).values(url=source.url))
                _note(connection, source.code, "address", message=source.url, author=author)
        self._log_sources(codes, author)

    def changed_since(self, when: str) -> bool:
        """Return whether a person changed the list, a decision or a value at that time or later."""
        listed = sql.select(sources.c.code).where(sources.c.parent != "")
        person = sql.or_(history.c.event != "added", history.c.code.not_in(listed))
        changed = sql.and_(history.c.when >= when, history.c.event.not_in(PHASES), person)
        return bool(self._catalog.read(sql.select(history.c.id).where(changed).limit(1)))

    def sources(self) -> list[ListedSource]:
        """All sources in the order in which they came, children behind their portal."""
        columns = [sources.c[field.name] for field in fields(ListedSource)]
        listed = [ListedSource(*row) for row in self._catalog.read(sql.select(*columns).order_by(sources.c.position))]
        place = {source.code: position for position, source in enumerate(listed)}
        # Two portals are explored side by side: what came when says nothing.
        return sorted(listed, key=lambda one: (place.get(one.parent, place[one.code]), bool(one.parent), _number(one)))

    def last_child(self, code: str) -> int:
        """Return the highest number of a document under this portal, so no decision falls on another."""
        under = sql.select(history.c.code).where(history.c.code.startswith(f"{code}.", autoescape=True)).distinct()
        numbers = (str(row[0]).removeprefix(f"{code}.") for row in self._catalog.read(under))
        return max((int(number) for number in numbers if number.isdigit()), default=0)

    def remove(self, codes: Sequence[str], author: str) -> None:
        """Take sources off the list with their outcomes; decisions and the history stay."""
        with self._catalog.begin() as connection:
            for code in codes:
                for table in (outcomes, kept, source_files, sources):
                    connection.execute(sql.delete(table).where(table.c.code == code))
                _note(connection, code, "removed", author=author)
        forget_lines(self._catalog.workspace, ["file"], *codes)
        self._log_sources(codes, author)

    def _log_sources(self, codes: Sequence[str], author: str = "") -> None:
        """Enter the present rows of these sources in the log; none of a removed source."""
        rows = self._catalog.read_in(sql.select(*_SOURCE), sources.c.code, codes)
        held = {str(row[0]): dump_json(tuple(row)) for row in rows}
        lines = (LogLine(kind="source", on=code, when=now(), by=author, said=held.get(code, "")) for code in codes)
        add_said(self._catalog.workspace, lines)

    # --- outcomes

    def entries(self) -> dict[tuple[str, Phase], PhaseEntry]:
        """Return the latest outcome of every source and phase, as the phases left it."""
        names = [column.name for column in outcomes.c]
        rows = (dict(zip(names, row, strict=True)) for row in self._catalog.read(sql.select(outcomes)))
        return {
            (row["code"], row["phase"]): PhaseEntry(
                _outcome(row), row["fingerprint"], row["model"], row["attempts"], row["when"]
            )
            for row in rows
        }

    def record(
        self, code: str, phase: Phase, outcome: Outcome, *, fingerprint: str, model: str = "", seconds: float = 0.0
    ) -> None:
        """Record the phase's outcome."""
        self.record_all([(code, outcome)], phase, {code: fingerprint}, model=model, seconds=seconds)

    def record_all(
        self,
        ended: Sequence[tuple[str, Outcome]],
        phase: Phase,
        fingerprints: Mapping[str, str],
        *,
        model: str = "",
        seconds: float = 0.0,
    ) -> None:
        """Record many outcomes of a phase at once."""
        files: list[SourceFile] = []
        with self._catalog.begin() as connection:
            for code, outcome in ended:
                where = sql.and_(outcomes.c.code == code, outcomes.c.phase == phase)
                before = connection.execute(sql.select(outcomes.c.status, outcomes.c.attempts).where(where)).first()
                attempts = before[1] + 1 if before and before[0] == outcome.status == "failed" else 1
                row = _row(phase, outcome)
                made_of = {"fingerprint": fingerprints[code], "model": model, "attempts": attempts, "when": now()}
                _put(connection, outcomes, row | made_of | {"code": code})
                told = {name: row[name] for name in ("status", "reason", "message")}
                _note(connection, code, phase, **told, seconds=seconds)
                if isinstance(found := outcome.evidence, Download) and found.path:
                    files.append(SourceFile(code, found.path, found.sha256))
                    _put(connection, source_files, asdict(files[-1]))
        self._log_files(files)

    def _log_files(self, files: Iterable[SourceFile]) -> None:
        lines = (LogLine(kind="file", on=file.code, when=now(), file=file.path, sha256=file.sha256) for file in files)
        add_lines(self._catalog.workspace, lines)

    def files(self) -> list[SourceFile]:
        """Return every file that was ever fetched for a source and not erased."""
        return [SourceFile(*row) for row in self._catalog.read(sql.select(source_files))]

    def erase(self, code: str) -> None:
        """Remove what the phases learnt of the document, from the history too.

        That they ran stays, and the licence.
        Of the evidence on the licence, which may quote the document, the words go.
        """
        phases = [phase for phase in PHASES if phase != "licence"]
        licence = self.entries().get((code, "licence"))
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(outcomes).where(outcomes.c.code == code, outcomes.c.phase.in_(phases)))
            if licence is not None:
                judged = replace(licence.outcome, evidence=_unquoted(licence.outcome.evidence))
                of_licence = sql.and_(outcomes.c.code == code, outcomes.c.phase == "licence")
                kept_of_it = {"message": "", "evidence": _evidence_json("licence", judged)}
                connection.execute(sql.update(outcomes).where(of_licence).values(kept_of_it))
            for table in (kept, source_files):
                connection.execute(sql.delete(table).where(table.c.code == code))
            told = sql.and_(history.c.code == code, history.c.event.in_((*PHASES, "correction")))
            connection.execute(sql.update(history).where(told).values(message=""))
        forget_lines(self._catalog.workspace, ["file"], code)

    def forget(self, code: str, phases: Sequence[Phase]) -> None:
        """Forget that these phases of the source ran."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(outcomes).where(outcomes.c.code == code, outcomes.c.phase.in_(phases)))

    # --- what people say

    def decide(self, decision: Decision) -> None:
        """Record a decision on a phase of a source, which survives every re-run. An empty choice undoes it."""
        self._require([decision.code])
        self._log_said([decision_line(decision)])
        with self._catalog.begin() as connection:
            _note_decision(connection, decision)

    def _log_said(self, lines: Sequence[LogLine]) -> None:
        """Enter lines on codes in the log, with the documents that the collection has of these."""
        known = self._documents([line.on for line in lines])
        add_said(self._catalog.workspace, (replace(line, **known.get(line.on, {})) for line in lines))

    def enter(self, given: Sequence[Correction]) -> None:
        """Enter corrections of documents in the log; those of a source are in its history too."""
        stamped = [replace(correction, when=correction.when or now()) for correction in given]
        self._log_said([correction_line(correction) for correction in stamped])
        with self._catalog.begin() as connection:
            listed = {str(row[0]) for row in connection.execute(sql.select(sources.c.code))}
            for correction in (correction for correction in stamped if correction.code in listed):
                _note_correction(connection, correction)

    def _documents(self, codes: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return by which id, content, source and file the collection has the documents of these codes."""
        d = documents.c
        of_code = {FROM_LIST + code: code for code in codes} | {code: code for code in codes}
        active = sql.select(d.source, d.document_id, d.sha256, d.file).where(d.status == "active")
        names = ("source", "document_id", "sha256", "file")
        rows = self._catalog.read_in(active, d.source, of_code)
        return {of_code[row[0]]: dict(zip(names, row, strict=True)) for row in rows}

    def decisions(self) -> list[Decision]:
        """Return what people decided, by code."""
        return decisions_that_count(map(decision_of, read_lines(self._catalog.workspace, "decision")))

    def entered_corrections(self, code: str = "") -> list[Correction]:
        """Return all corrections, oldest first: of one document, of all without a code."""
        return entered_corrections(self._catalog.workspace, code)

    def corrections(self) -> list[Correction]:
        """Return the corrections that count, of documents of any kind."""
        return standing(self.entered_corrections())

    # --- one database from the other

    def take_from_log(self) -> None:
        """Put the sources in the log, their files and their history into a new catalog."""
        held = latest_lines(self._catalog.workspace, "source").values()
        names = [column.name for column in _SOURCE]
        rows = [dict(zip(names, load_json(one.said), strict=True)) for one in held if one.said]
        codes = {one.on for one in held}
        files = [SourceFile(one.on, one.file, one.sha256) for one in read_lines(self._catalog.workspace, "file")]
        with self._catalog.begin() as connection:
            for table, values in ((sources, rows), (source_files, [asdict(file) for file in dict.fromkeys(files)])):
                if values:
                    connection.execute(sql.insert(table), values)
            for line in read_lines(self._catalog.workspace, "source"):
                _note(connection, line.on, "added" if line.said else "removed", author=line.by, when=line.when)
            for decision in map(decision_of, read_lines(self._catalog.workspace, "decision")):
                _note_decision(connection, decision)
            for correction in self.entered_corrections():
                if correction.code in codes:
                    _note_correction(connection, correction)

    def write_log(self) -> int:
        """Enter sources, files and decisions of the catalog in a new log; return how many decisions."""
        self._log_sources([source.code for source in self.sources()])
        self._log_files(self.files())
        told = sql.select(*_EVENT).where(history.c.event == _DECIDED).order_by(history.c.id)
        self._log_said([decision_line(_told(Event(*row))) for row in self._catalog.read(told)])
        return len(self.decisions())

    # --- all of it

    def records(self) -> dict[str, SourceRecord]:
        """Return every source by code, in order, with the outcomes that people's decisions leave."""
        by_code: defaultdict[str, dict[Phase, Outcome]] = defaultdict(dict)
        for (code, phase), entry in self.entries().items():
            by_code[code][phase] = entry.outcome
        corrected, given = _by_code(self.corrections()), _by_code(self.decisions())
        return {
            source.code: decided(
                SourceRecord(source, by_code[source.code], tuple(corrected[source.code]), tuple(given[source.code]))
            )
            for source in self.sources()
        }

    def describe(self, documents: Sequence[DocumentRecord]) -> list[SourceRecord]:
        """Return the source records of documents, in their order.

        For a document without records, the values in the catalog count as extracted.
        """
        listed = self.records() if any(document.source.startswith(FROM_LIST) for document in documents) else {}
        with reading(self._catalog.workspace) as connection:
            kept = {code: body_of(connection, _DESCRIPTION, code) for code in map(document_code, documents)}
        rows = {code: load_json(body) for code, body in kept.items() if body}
        described = {code: {row["phase"]: _outcome(row) for row in some} for code, some in rows.items()}
        given = _by_code(self.corrections())
        found: list[SourceRecord] = []
        for document in documents:
            code = document_code(document)
            origin = NO_MESSAGE if document.source.startswith(FROM_LIST) else ADDED
            known = described.get(code) or {"metadata": Outcome("done", "", evidence=as_extracted(document.metadata))}
            alone = SourceRecord(ListedSource(code, title=document.file, origin=origin), known)
            found.append(listed.get(code) or replace(alone, corrections=tuple(given[code])))
        return found

    def put_description(self, record: SourceRecord) -> None:
        """Record what was found in a file that was added by itself, or a former version."""
        body = dump_json([_row(phase, outcome) for phase, outcome in record.outcomes.items()])
        with writing(self._catalog.workspace) as connection:
            write_record(connection, _DESCRIPTION, record.code, body)

    def forget_description(self, code: str) -> None:
        """Remove the description of a document that was erased, and from others that they copy it."""
        with writing(self._catalog.workspace) as connection:
            delete_record(connection, _DESCRIPTION, code)
            for other, body in bodies(connection, _DESCRIPTION).items():
                rows = load_json(body)
                left = [row for row in rows if getattr(_outcome(row).evidence, "duplicate_of", "") != code]
                if len(left) < len(rows):
                    write_record(connection, _DESCRIPTION, other, dump_json(left))
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(kept).where(kept.c.code == code))

    def history(self, code: str) -> list[Event]:
        """Return what happened to a source, oldest first."""
        rows = self._catalog.read(sql.select(*_EVENT).where(history.c.code == code).order_by(history.c.id))
        return [Event(*row) for row in rows]

    def latest(self, limit: int = 50) -> list[Event]:
        """Return the latest events of all sources, newest first."""
        rows = self._catalog.read(sql.select(*_EVENT).order_by(history.c.id.desc()).limit(limit))
        return [Event(*row) for row in rows]

    # --- what is costly to compute again

    def keep(self, name: str, code: str, fingerprint: str, value: str) -> None:
        """Keep a computed value of a source until its inputs change."""
        with self._catalog.begin() as connection:
            _put(connection, kept, {"name": name, "code": code, "fingerprint": fingerprint, "value": value})

    def kept(self, name: str) -> dict[str, tuple[str, str]]:
        """Fingerprint and value of each kept value of this name, by code."""
        rows = self._catalog.read(sql.select(kept.c.code, kept.c.fingerprint, kept.c.value).where(kept.c.name == name))
        return {str(code): (str(fingerprint), str(value)) for code, fingerprint, value in rows}

    def _require(self, codes: Sequence[str]) -> None:
        if missing := sorted(set(codes) - {source.code for source in self.sources()}):
            raise InputError(
                "No source has the code {codes}.",
                help="`sextant sources list` lists the codes.",
                codes=", ".join(missing),
            )


def _told(event: Event) -> Decision:
    """Return the decision that a line of the history tells of."""
    choice, _, note = event.message.partition(": ")
    return Decision(event.code, event.status, choice.removeprefix(_UNDONE), event.author, note, event.when)


def _by_code(given: Iterable[_Said]) -> defaultdict[str, list[_Said]]:
    grouped: defaultdict[str, list[_Said]] = defaultdict(list)
    for one in given:
        grouped[one.code].append(one)
    return grouped


def _number(source: ListedSource) -> int:
    """Which of its portal's documents a source is; 0 for a row of the list itself."""
    last = source.code.rpartition(".")[2]
    return int(last) if source.parent and last.isdigit() else 0


def now() -> str:
    """Return this moment as ISO time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _evidence_json(phase: Phase, outcome: Outcome) -> str:
    if outcome.evidence is None:
        return ""
    adapter = _EVIDENCE[phase]
    try:
        return adapter.dump_json(outcome.evidence).decode()
    except PydanticSerializationError:
        # Half a character pair, from a model or a file's own metadata, has no form in UTF-8.
        values = _scrubbed(asdict(outcome.evidence))  # type: ignore[call-overload]
        return adapter.dump_json(adapter.validate_python(values)).decode()


def _unquoted(evidence: object) -> object:
    """Return the evidence on a licence without the words of a page or a file."""
    if not isinstance(evidence, LicenceVerdict):
        return evidence
    marks = (mark if mark.layer in ("domain", "person") else replace(mark, quote="") for mark in evidence.marks)
    return replace(evidence, marks=tuple(marks))


def _scrubbed(value: Any) -> Any:
    """Return the value without marks of direction; half of a character pair is a question mark."""
    if isinstance(value, str):
        return change_texts(value, lambda text: without_direction_marks(text.encode("utf-8", "replace").decode()))
    if isinstance(value, dict):
        return {name: _scrubbed(one) for name, one in value.items()}
    return [_scrubbed(one) for one in value] if isinstance(value, list | tuple) else value


def _row(phase: Phase, outcome: Outcome) -> dict[str, Any]:
    ended = {"phase": phase, "status": outcome.status, "reason": outcome.reason, "retryable": outcome.retryable}
    return ended | {"message": _scrubbed(outcome.message), "evidence": _evidence_json(phase, outcome)}


def _outcome(row: Mapping[str, Any]) -> Outcome:
    evidence = _EVIDENCE[row["phase"]].validate_json(row["evidence"]) if row["evidence"] else None
    return Outcome(row["status"], row["reason"], row["message"], evidence, row["retryable"])


def _note(connection: sql.Connection, code: str, event: str, **given: str | float) -> None:
    """Add a line to the history of a source."""
    empty = {"status": "", "reason": "", "message": "", "author": "", "seconds": 0.0}
    connection.execute(sql.insert(history).values(empty | {"when": now()} | given | {"code": code, "event": event}))


def _note_decision(connection: sql.Connection, decision: Decision) -> None:
    message = ": ".join(filter(None, (decision.choice or _UNDONE, decision.note)))
    when = decision.when or now()
    _note(
        connection, decision.code, _DECIDED, status=decision.phase, message=message, author=decision.author, when=when
    )


def _note_correction(connection: sql.Connection, correction: Correction) -> None:
    message = f"{correction.field}: {_ACTS[correction.act] or '; '.join(correction.values) or 'nothing'}"
    _note(connection, correction.code, "correction", message=message, author=correction.author, when=correction.when)


def _put(connection: sql.Connection, table: sql.Table, values: Mapping[str, Any]) -> None:
    """Store a row in place of the one with the same key."""
    same_key = sql.and_(*(column == values[column.name] for column in table.primary_key))
    if not connection.execute(sql.update(table).where(same_key).values(values)).rowcount:
        connection.execute(sql.insert(table).values(values))
