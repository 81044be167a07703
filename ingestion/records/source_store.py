"""The sources and what became of each in every phase, with what people said; in the same database as the catalog.

Only the latest outcome of a phase counts; every one that ever was stays in the history.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sql
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from ingestion.records.source_record import Correction, Decision, SourceRecord, decided
from ingestion.types import (
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

_tables = sql.MetaData()
sources = sql.Table(
    "sources",
    _tables,
    sql.Column("position", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("code", sql.String, nullable=False, unique=True),
    *(sql.Column(field.name, sql.String, nullable=False) for field in fields(SeedSource) if field.name != "code"),
    sql.Column("added", sql.String, nullable=False),
    sqlite_autoincrement=True,
)
outcomes = sql.Table(
    "outcomes",
    _tables,
    sql.Column("code", sql.String, primary_key=True),
    sql.Column("phase", sql.String, primary_key=True),
    sql.Column("fingerprint", sql.String, nullable=False),
    sql.Column("model", sql.String, nullable=False),
    sql.Column("status", sql.String, nullable=False),
    sql.Column("reason", sql.String, nullable=False),
    sql.Column("message", sql.String, nullable=False),
    sql.Column("evidence", sql.String, nullable=False),
    sql.Column("retryable", sql.Boolean, nullable=False),
    sql.Column("attempts", sql.Integer, nullable=False),
    sql.Column("when", sql.String, nullable=False),
)
history = sql.Table(
    "history",
    _tables,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("code", sql.String, nullable=False, index=True),
    sql.Column("when", sql.String, nullable=False),
    sql.Column("event", sql.String, nullable=False),
    sql.Column("status", sql.String, nullable=False),
    sql.Column("reason", sql.String, nullable=False),
    sql.Column("message", sql.String, nullable=False),
    sql.Column("author", sql.String, nullable=False),
    sql.Column("seconds", sql.Float, nullable=False),
)
decisions = sql.Table(
    "decisions",
    _tables,
    sql.Column("code", sql.String, primary_key=True),
    sql.Column("phase", sql.String, primary_key=True),
    *(sql.Column(name, sql.String, nullable=False) for name in ("choice", "author", "note", "when")),
)
corrections = sql.Table(
    "corrections",
    _tables,
    sql.Column("code", sql.String, primary_key=True),
    sql.Column("field", sql.String, primary_key=True),
    *(sql.Column(name, sql.String, nullable=False) for name in ("values", "author", "note", "when")),
)
# Every file that was ever fetched for a source, former versions too.
source_files = sql.Table(
    "source_files",
    _tables,
    sql.Column("code", sql.String, primary_key=True),
    sql.Column("path", sql.String, primary_key=True),
    sql.Column("sha256", sql.String, nullable=False),
)
kept = sql.Table(
    "kept",
    _tables,
    sql.Column("name", sql.String, primary_key=True),
    sql.Column("code", sql.String, primary_key=True),
    sql.Column("fingerprint", sql.String, nullable=False),
    sql.Column("value", sql.String, nullable=False),
)


@dataclass(frozen=True, slots=True)
class PhaseEntry:
    """A stored outcome: made from what (`fingerprint`), by which model if any, at which attempt in a row, when."""

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


class SourceStore:
    """The sources of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            files_known = sql.inspect(connection).has_table(source_files.name)
            _tables.create_all(connection)
        if not files_known:
            self._note_present_files()

    # --- sources

    def add(self, new: Iterable[SeedSource]) -> int:
        """Return number of sources added; those whose code is known already are left as they are."""
        count = 0
        with self._catalog.begin() as connection:
            known = {str(row[0]) for row in connection.execute(sql.select(sources.c.code))}
            for source in new:
                if source.code not in known:
                    connection.execute(sql.insert(sources).values(_scrubbed(asdict(source)) | {"added": now()}))
                    _note(connection, Event(source.code, now(), "added", "", "", source.origin, "", 0.0))
                    known.add(source.code)
                    count += 1
        return count

    def sources(self) -> list[SeedSource]:
        """All sources in the order in which they came, children behind their portal."""
        columns = [sources.c[field.name] for field in fields(SeedSource)]
        listed = [SeedSource(*row) for row in self._catalog.read(sql.select(*columns).order_by(sources.c.position))]
        place = {source.code: position for position, source in enumerate(listed)}
        # Two portals are explored side by side: what came when says nothing.
        return sorted(listed, key=lambda one: (place.get(one.parent, place[one.code]), bool(one.parent), _number(one)))

    def last_child(self, code: str) -> int:
        """Return the highest number that a document under this portal ever had.

        A decision on it must fall on no other.
        """
        under = sql.select(history.c.code).where(history.c.code.startswith(f"{code}.", autoescape=True)).distinct()
        numbers = (str(row[0]).removeprefix(f"{code}.") for row in self._catalog.read(under))
        return max((int(number) for number in numbers if number.isdigit()), default=0)

    def remove(self, codes: Sequence[str], author: str) -> int:
        """Return number of sources taken off the list, with their outcomes; what people said and the history stay."""
        with self._catalog.begin() as connection:
            for code in codes:
                for table in (outcomes, kept):
                    connection.execute(sql.delete(table).where(table.c.code == code))
                connection.execute(sql.delete(sources).where(sources.c.code == code))
                _note(connection, Event(code, now(), "removed", "", "", "", author, 0.0))
        return len(codes)

    # --- outcomes

    def entries(self) -> dict[tuple[str, Phase], PhaseEntry]:
        """Return the latest outcome of every source and phase, as the phases left it."""
        names = [column.name for column in outcomes.c]
        rows = (dict(zip(names, row, strict=True)) for row in self._catalog.read(sql.select(outcomes)))
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
                values = {
                    "code": code,
                    "phase": phase,
                    "fingerprint": fingerprints[code],
                    "model": model,
                    "status": outcome.status,
                    "reason": outcome.reason,
                    "message": _scrubbed(outcome.message),
                    "evidence": _evidence_json(phase, outcome),
                    "retryable": outcome.retryable,
                    "attempts": attempts,
                    "when": now(),
                }
                if before is None:
                    connection.execute(sql.insert(outcomes).values(values))
                else:
                    connection.execute(sql.update(outcomes).where(where).values(values))
                message = _scrubbed(outcome.message)
                event = Event(code, now(), phase, outcome.status, outcome.reason, message, "", seconds)
                _note(connection, event)
                _note_file(connection, code, outcome.evidence)

    def files(self) -> list[SourceFile]:
        """Return every file that was ever fetched for a source and not erased."""
        return [SourceFile(*row) for row in self._catalog.read(sql.select(source_files))]

    def _note_present_files(self) -> None:
        """Note the files of a workspace that was made before files were noted."""
        downloads = [(code, entry.outcome.evidence) for (code, _), entry in self.entries().items()]
        with self._catalog.begin() as connection:
            for code, download in downloads:
                _note_file(connection, code, download)

    def erase(self, code: str, phases: Sequence[Phase]) -> None:
        """Remove what these phases learnt of the document, from the history too; that they ran stays."""
        with self._catalog.begin() as connection:
            for table in (kept, source_files):
                connection.execute(sql.delete(table).where(table.c.code == code))
            where = sql.and_(outcomes.c.code == code, outcomes.c.phase.in_(phases))
            connection.execute(sql.delete(outcomes).where(where))
            told = sql.and_(history.c.code == code, history.c.event.in_((*phases, "correction")))
            connection.execute(sql.update(history).where(told).values(message=""))

    def forget(self, code: str, phases: Sequence[Phase]) -> None:
        """Forget that these phases of the source ran."""
        with self._catalog.begin() as connection:
            where = sql.and_(outcomes.c.code == code, outcomes.c.phase.in_(phases))
            connection.execute(sql.delete(outcomes).where(where))

    # --- what people say

    def decide(self, decision: Decision) -> None:
        """Record a decision on a phase of a source, which survives every re-run. An empty choice undoes it."""
        self._require([decision.code])
        where = sql.and_(decisions.c.code == decision.code, decisions.c.phase == decision.phase)
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(decisions).where(where))
            if decision.choice:
                connection.execute(sql.insert(decisions).values(asdict(decision)))
            choice = decision.choice or "undone"
            message = f"{choice}: {decision.note}" if decision.note else choice
            _note(connection, Event(decision.code, now(), "decision", decision.phase, "", message, decision.author, 0))

    def correct(self, said: Sequence[Correction]) -> None:
        """Record a person's values for fields, which no re-run overwrites."""
        self._require([one.code for one in said])
        with self._catalog.begin() as connection:
            for one in said:
                where = sql.and_(corrections.c.code == one.code, corrections.c.field == one.field)
                connection.execute(sql.delete(corrections).where(where))
                values = asdict(one) | {"values": json.dumps(one.values, ensure_ascii=False), "when": one.when or now()}
                connection.execute(sql.insert(corrections).values(values))
                told = f"{one.field}: {'; '.join(one.values) or 'nothing'}"
                _note(connection, Event(one.code, now(), "correction", "", "", told, one.author, 0.0))

    def undo_correction(self, code: str, field: str, author: str) -> None:
        """Give the field the extractor's value again."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(corrections).where(corrections.c.code == code, corrections.c.field == field))
            _note(connection, Event(code, now(), "correction", "", "", f"{field}: undone", author, 0.0))

    def decisions(self) -> list[Decision]:
        """Return what people decided."""
        return [Decision(*row) for row in self._catalog.read(sql.select(decisions).order_by(decisions.c.code))]

    def corrections(self) -> list[Correction]:
        """Return what people corrected."""
        rows = self._catalog.read(sql.select(corrections).order_by(corrections.c.code, corrections.c.field))
        return [Correction(row[0], row[1], tuple(json.loads(row[2])), *row[3:]) for row in rows]

    # --- all of it

    def records(self) -> dict[str, SourceRecord]:
        """Everything known of every source by code, in order; outcomes are those that people's decisions leave."""
        by_code: dict[str, dict[Phase, Outcome]] = {}
        for (code, phase), entry in self.entries().items():
            by_code.setdefault(code, {})[phase] = entry.outcome
        said: dict[str, list[Correction]] = {}
        for correction in self.corrections():
            said.setdefault(correction.code, []).append(correction)
        words: dict[str, list[Decision]] = {}
        for decision in self.decisions():
            words.setdefault(decision.code, []).append(decision)
        return {
            source.code: decided(
                SourceRecord(
                    source,
                    by_code.get(source.code, {}),
                    tuple(said.get(source.code, ())),
                    tuple(words.get(source.code, ())),
                )
            )
            for source in self.sources()
        }

    def history(self, code: str) -> list[Event]:
        """Return what happened to a source, oldest first."""
        columns = [history.c[field.name] for field in fields(Event)]
        rows = self._catalog.read(sql.select(*columns).where(history.c.code == code).order_by(history.c.id))
        return [Event(*row) for row in rows]

    def latest(self, limit: int = 50) -> list[Event]:
        """Return the latest events of all sources, newest first."""
        columns = [history.c[field.name] for field in fields(Event)]
        return [
            Event(*row) for row in self._catalog.read(sql.select(*columns).order_by(history.c.id.desc()).limit(limit))
        ]

    # --- what is costly to compute again

    def keep(self, name: str, code: str, fingerprint: str, value: str) -> None:
        """Keep a computed value of a source until what it was made from changes."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(kept).where(kept.c.name == name, kept.c.code == code))
            connection.execute(sql.insert(kept).values(name=name, code=code, fingerprint=fingerprint, value=value))

    def kept(self, name: str) -> dict[str, tuple[str, str]]:
        """Fingerprint and value of each kept value of this name, by code."""
        rows = self._catalog.read(sql.select(kept.c.code, kept.c.fingerprint, kept.c.value).where(kept.c.name == name))
        return {str(code): (str(fingerprint), str(value)) for code, fingerprint, value in rows}

    def _require(self, codes: Sequence[str]) -> None:
        known = {source.code for source in self.sources()}
        missing = sorted(set(codes) - known)
        if missing:
            raise InputError(
                f"No source has the code {', '.join(missing)}.", help="`sextant seeds list` lists the codes."
            )


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


def _scrubbed(value: Any) -> Any:
    """Return the value with a question mark for every half of a character pair."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _scrubbed(one) for name, one in value.items()}
    return [_scrubbed(one) for one in value] if isinstance(value, list | tuple) else value


def _entry(row: Mapping[str, Any]) -> PhaseEntry:
    evidence = _EVIDENCE[row["phase"]].validate_json(row["evidence"]) if row["evidence"] else None
    outcome = Outcome(row["status"], row["reason"], row["message"], evidence, row["retryable"])
    return PhaseEntry(outcome, row["fingerprint"], row["model"], row["attempts"], row["when"])


def _note_file(connection: sql.Connection, code: str, evidence: object) -> None:
    if isinstance(evidence, Download) and evidence.path:
        f = source_files.c
        same = sql.and_(f.code == code, f.path == evidence.path)
        connection.execute(sql.delete(source_files).where(same))
        connection.execute(sql.insert(source_files).values(code=code, path=evidence.path, sha256=evidence.sha256))


def _note(connection: sql.Connection, event: Event) -> None:
    connection.execute(sql.insert(history).values(asdict(event)))
