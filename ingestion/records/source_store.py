"""The sources, what became of each in every phase, and all decisions; in the catalog's database.

Only the latest outcome of a phase counts; every one that ever was stays in the history.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sql
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from ingestion.records.document_corrections import Correction, CorrectionJournal, standing
from ingestion.records.journal import enter_in_journal, read_journal
from ingestion.records.source_record import (
    ADDED,
    FROM_LIST,
    Decision,
    SourceRecord,
    as_extracted,
    decided,
    document_code,
)
from ingestion.types import (
    PHASES,
    Description,
    Download,
    Extraction,
    Indexed,
    LicenceVerdict,
    Outcome,
    Phase,
    PortalFindings,
    Quality,
    Relation,
    SeedSource,
)
from rag_engine.errors import InputError
from rag_engine.storage.catalog import Catalog
from rag_engine.text.control_characters import without_direction_marks
from rag_engine.types import DocumentRecord

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


def _texts(*names: str, key: bool = False) -> list[sql.Column[str]]:
    return [sql.Column(name, sql.String, primary_key=key, nullable=False) for name in names]


TABLES = sql.MetaData()
sources = sql.Table(
    "sources",
    TABLES,
    sql.Column("position", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("code", sql.String, nullable=False, unique=True),
    *_texts(*(field.name for field in fields(SeedSource) if field.name != "code"), "added"),
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
decisions = sql.Table(
    "decisions", TABLES, *_texts("code", "phase", key=True), *_texts("choice", "author", "note", "when")
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
    """One line of a source's history; `event` is a phase or what a person did."""

    code: str
    when: str
    event: str
    status: str
    reason: str
    message: str
    author: str
    seconds: float


_ACTS = {"correct": "", "agree": "agreed", "undo": "undone"}
_EVENT = [history.c[field.name] for field in fields(Event)]
_Said = TypeVar("_Said", Correction, Decision)


class SourceStore:
    """The sources of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.journal = CorrectionJournal(catalog)
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    # --- sources

    def add(self, new: Iterable[SeedSource]) -> int:
        """Add sources and return their number; those whose code is known already are left as they are."""
        given = list(new)
        return len(given) - len(self.add_new(given))

    def add_new(self, new: Iterable[SeedSource]) -> list[SeedSource]:
        """Add sources and return those that were not, since their code is known already."""
        left: list[SeedSource] = []
        with self._catalog.begin() as connection:
            known = {str(row[0]) for row in connection.execute(sql.select(sources.c.code))}
            for source in new:
                if source.code in known:
                    left.append(source)
                else:
                    connection.execute(sql.insert(sources).values(_scrubbed(asdict(source)) | {"added": now()}))
                    _note(connection, source.code, "added", message=source.origin)
                    known.add(source.code)
        return left

    def correct_addresses(self, corrected: Sequence[SeedSource], author: str = "") -> None:
        """Give known sources other addresses; the next run takes them from there.

        A decision on the licence was made on what stood at the former address, and goes with it.
        """
        codes = [one.code for one in corrected]
        self._require(codes)
        with self._catalog.begin() as connection:
            undone = [one for one in self.decisions() if one.phase == "licence" and one.code in codes]
            enter_in_journal(
                self._catalog.workspace,
                "decision",
                (asdict(replace(one, choice="", author=author, note="", when=now())) for one in undone),
            )
            for one in corrected:
                connection.execute(sql.update(sources).where(sources.c.code == one.code).values(url=one.url))
                connection.execute(
                    sql.delete(decisions).where(decisions.c.code == one.code, decisions.c.phase == "licence")
                )
                _note(connection, one.code, "address", message=one.url, author=author)

    def changed_since(self, when: str) -> bool:
        """Return whether a person changed the list, a decision or a value at that time or later."""
        listed = sql.select(sources.c.code).where(sources.c.parent != "")
        person = sql.or_(history.c.event != "added", history.c.code.not_in(listed))
        changed = sql.and_(history.c.when >= when, history.c.event.not_in(PHASES), person)
        return bool(self._catalog.read(sql.select(history.c.id).where(changed).limit(1)))

    def sources(self) -> list[SeedSource]:
        """All sources in the order in which they came, children behind their portal."""
        columns = [sources.c[field.name] for field in fields(SeedSource)]
        listed = [SeedSource(*row) for row in self._catalog.read(sql.select(*columns).order_by(sources.c.position))]
        place = {source.code: position for position, source in enumerate(listed)}
        # Two portals are explored side by side: what came when says nothing.
        return sorted(listed, key=lambda one: (place.get(one.parent, place[one.code]), bool(one.parent), _number(one)))

    def last_child(self, code: str) -> int:
        """Return the highest number that a document under this portal ever had."""
        under = sql.select(history.c.code).where(history.c.code.startswith(f"{code}.", autoescape=True)).distinct()
        numbers = (str(row[0]).removeprefix(f"{code}.") for row in self._catalog.read(under))
        return max((int(number) for number in numbers if number.isdigit()), default=0)

    def remove(self, codes: Sequence[str], author: str) -> int:
        """Take sources off the list with their outcomes, and return their number.

        Decisions and the history stay.
        """
        with self._catalog.begin() as connection:
            for code in codes:
                for table in (outcomes, kept, source_files, sources):
                    connection.execute(sql.delete(table).where(table.c.code == code))
                _note(connection, code, "removed", author=author)
        return len(codes)

    # --- outcomes

    def entries(self) -> dict[tuple[str, Phase], PhaseEntry]:
        """Return the latest outcome of every source of the list and phase, as the phases left it."""
        names = [column.name for column in outcomes.c]
        listed = sql.select(outcomes).where(outcomes.c.code.in_(sql.select(sources.c.code)))
        rows = (dict(zip(names, row, strict=True)) for row in self._catalog.read(listed))
        return {(row["code"], row["phase"]): _entry(row) for row in rows}

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
        with self._catalog.begin() as connection:
            for code, outcome in ended:
                where = sql.and_(outcomes.c.code == code, outcomes.c.phase == phase)
                before = connection.execute(sql.select(outcomes.c.status, outcomes.c.attempts).where(where)).first()
                attempts = before[1] + 1 if before and before[0] == outcome.status == "failed" else 1
                ending = {"status": outcome.status, "reason": outcome.reason, "message": _scrubbed(outcome.message)}
                _put_outcome(connection, code, phase, outcome, fingerprints[code], model, attempts)
                _note(connection, code, phase, **ending, seconds=seconds)
                _note_file(connection, code, outcome.evidence)

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

    def forget(self, code: str, phases: Sequence[Phase]) -> None:
        """Forget that these phases of the source ran."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(outcomes).where(outcomes.c.code == code, outcomes.c.phase.in_(phases)))

    # --- what people say

    def decide(self, decision: Decision) -> None:
        """Record a decision on a phase of a source, which survives every re-run. An empty choice undoes it."""
        self._require([decision.code])
        with self._catalog.begin() as connection:
            if decision.choice:
                _put(connection, decisions, asdict(decision))
            else:
                connection.execute(sql.delete(decisions).where(_same_key(decisions, asdict(decision))))
            message = ": ".join(filter(None, (decision.choice or "undone", decision.note)))
            enter_in_journal(self._catalog.workspace, "decision", [asdict(decision)])
            _note(connection, decision.code, "decision", status=decision.phase, message=message, author=decision.author)

    def correct(self, given: Sequence[Correction]) -> None:
        """Enter a person's values for fields, which no re-run overwrites."""
        self._require([one.code for one in given])
        with self._catalog.begin() as connection:
            self.enter(connection, given)

    def enter(self, connection: sql.Connection, given: Sequence[Correction]) -> None:
        """Enter corrections of documents of any kind in the journal; those of a source are in its history too."""
        stamped = [replace(one, when=one.when or now()) for one in given]
        self.journal.append(connection, stamped)
        codes = {one.code for one in stamped}
        listed = {str(row[0]) for row in connection.execute(sql.select(sources.c.code))} & codes
        for one in stamped:
            if one.code in listed:
                message = f"{one.field}: {_ACTS[one.act] or '; '.join(one.values) or 'nothing'}"
                _note(connection, one.code, "correction", message=message, author=one.author)

    def decisions(self) -> list[Decision]:
        """Return what people decided."""
        return [Decision(*row) for row in self._catalog.read(sql.select(decisions).order_by(decisions.c.code))]

    def corrections(self) -> list[Correction]:
        """Return the corrections that count, of documents of any kind."""
        return standing(self.journal.entries())

    def missing_in_journal(self) -> tuple[list[Decision], list[Correction], list[int]]:
        """Return what people said that the journal lacks, and the numbers of its lines that cannot be read."""
        lines = read_journal(self._catalog.workspace)
        written = {_as_line(one.said) for one in lines}
        decided = [one for one in self.decisions() if _as_line(asdict(one)) not in written]
        corrected = [one for one in self.journal.entries() if _as_line(asdict(one)) not in written]
        return decided, corrected, [one.number for one in lines if one.kind is None]

    def complete_journal(self) -> int:
        """Enter in the journal what it lacks of what people said, and return how much that was."""
        decided, corrected, _ = self.missing_in_journal()
        enter_in_journal(self._catalog.workspace, "decision", map(asdict, decided))
        enter_in_journal(self._catalog.workspace, "correction", map(asdict, corrected))
        return len(decided) + len(corrected)

    def take_from_journal(self) -> int:
        """Take over what the journal says and the catalog lacks, and return how much that was."""
        lines = read_journal(self._catalog.workspace)
        latest = {(one.said["code"], one.said["phase"]): one.said for one in lines if one.kind == "decision"}
        decided = [Decision(**said) for said in latest.values()]
        before = {(one.code, one.phase): one for one in self.decisions()}
        changed = [one for one in decided if before.get((one.code, one.phase)) != (one if one.choice else None)]
        known = {_as_line(asdict(one)) for one in self.journal.entries()}
        given = (one.said for one in lines if one.kind == "correction" and _as_line(one.said) not in known)
        corrected = [Correction(**{**said, "values": tuple(said["values"])}) for said in given]
        with self._catalog.begin() as connection:
            for one in changed:
                connection.execute(sql.delete(decisions).where(_same_key(decisions, asdict(one))))
                if one.choice:
                    connection.execute(sql.insert(decisions).values(asdict(one)))
            self.journal.take_over(connection, corrected)
        return len(changed) + len(corrected)

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

        Of a document that nothing is recorded of, what the catalog has counts as extracted.
        """
        listed = self.records() if any(one.source.startswith(FROM_LIST) for one in documents) else {}
        statement = sql.select(outcomes.c.code, outcomes.c.evidence).where(outcomes.c.phase == "metadata")
        rows = self._catalog.read_in(statement, outcomes.c.code, map(document_code, documents))
        described = {code: _EVIDENCE["metadata"].validate_json(evidence) for code, evidence in rows if evidence}
        given = _by_code(self.corrections())
        found: list[SourceRecord] = []
        for one in documents:
            code = document_code(one)
            origin = "" if one.source.startswith(FROM_LIST) else ADDED
            known = Outcome("done", "", evidence=described.get(code) or as_extracted(one.metadata))
            alone = SourceRecord(SeedSource(code, title=one.file, origin=origin), {"metadata": known})
            found.append(listed.get(code) or replace(alone, corrections=tuple(given[code])))
        return found

    def put_description(self, record: SourceRecord) -> None:
        """Record how a file was described that was added by itself, or a former version."""
        with self._catalog.begin() as connection:
            _put_outcome(connection, record.code, "metadata", record.outcomes["metadata"])

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
        """Keep a computed value of a source until what it was made from changes."""
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
                help="`sextant seeds list` lists the codes.",
                codes=", ".join(missing),
            )


def _as_line(said: Mapping[str, Any]) -> str:
    """Return what was said in the form in which a line of the journal is compared."""
    return json.dumps(said, sort_keys=True)


def _by_code(given: Iterable[_Said]) -> defaultdict[str, list[_Said]]:
    grouped: defaultdict[str, list[_Said]] = defaultdict(list)
    for one in given:
        grouped[one.code].append(one)
    return grouped


def _number(source: SeedSource) -> int:
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
    """Return the evidence on a licence without what was read on a page or in a file."""
    if not isinstance(evidence, LicenceVerdict):
        return evidence
    marks = (one if one.layer in ("domain", "person") else replace(one, quote="") for one in evidence.marks)
    return replace(evidence, marks=tuple(marks))


def _scrubbed(value: Any) -> Any:
    """Return the value without marks of direction, with a question mark for half a character pair."""
    if isinstance(value, str):
        return without_direction_marks(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {name: _scrubbed(one) for name, one in value.items()}
    return [_scrubbed(one) for one in value] if isinstance(value, list | tuple) else value


def _entry(row: Mapping[str, Any]) -> PhaseEntry:
    evidence = _EVIDENCE[row["phase"]].validate_json(row["evidence"]) if row["evidence"] else None
    outcome = Outcome(row["status"], row["reason"], row["message"], evidence, row["retryable"])
    return PhaseEntry(outcome, row["fingerprint"], row["model"], row["attempts"], row["when"])


def _put_outcome(
    connection: sql.Connection,
    code: str,
    phase: Phase,
    outcome: Outcome,
    fingerprint: str = "",
    model: str = "",
    attempts: int = 1,
) -> None:
    ended = {"status": outcome.status, "reason": outcome.reason, "message": _scrubbed(outcome.message)}
    evidence = {"evidence": _evidence_json(phase, outcome), "retryable": outcome.retryable, "when": now()}
    made_of = {"code": code, "phase": phase, "fingerprint": fingerprint, "model": model, "attempts": attempts}
    _put(connection, outcomes, ended | evidence | made_of)


def _note_file(connection: sql.Connection, code: str, evidence: object) -> None:
    if isinstance(evidence, Download) and evidence.path:
        _put(connection, source_files, {"code": code, "path": evidence.path, "sha256": evidence.sha256})


def _note(connection: sql.Connection, code: str, event: str, **given: str | float) -> None:
    """Add a line to the history of a source."""
    empty = {"status": "", "reason": "", "message": "", "author": "", "seconds": 0.0}
    connection.execute(sql.insert(history).values(empty | given | {"code": code, "event": event, "when": now()}))


def _put(connection: sql.Connection, table: sql.Table, values: Mapping[str, Any]) -> None:
    """Store a row in place of the one with the same key."""
    if not connection.execute(sql.update(table).where(_same_key(table, values)).values(values)).rowcount:
        connection.execute(sql.insert(table).values(values))


def _same_key(table: sql.Table, values: Mapping[str, Any]) -> sql.ColumnElement[bool]:
    return sql.and_(*(column == values[column.name] for column in table.primary_key))
