"""Rows, groups and reports of the sources that a page or the terminal shows.

Pure functions of source records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from ingestion.records.source_record import Decision, SourceRecord
from ingestion.records.source_store import Event, SourceStore
from ingestion.status.source_status import FunnelStage, State, funnel, is_document, source_status, state_of
from ingestion.types.description import FIELDS, FieldValue
from ingestion.types.licence import LicenceMark
from ingestion.types.outcome import OutcomeReason
from ingestion.types.run import PHASES, Phase, Progress
from ingestion.types.source import Relation
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.text.folding import fold

# What acquisition or the portals refused has no file to go on with, and a licence is decided elsewhere.
_RESTORABLE: frozenset[Phase] = frozenset(PHASES) - {"licence", "acquisition", "portals"}
# The rate of the last minute says more of the next one than that of the whole run.
_WINDOW = timedelta(seconds=60)
_QUALITY_PARTS = ("score", "length", "chunks", "sections", "cleaning")


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source as a line of the list: `phase` is the one it has come to, `address` its URL or file."""

    code: str
    title: str
    address: str
    state: State
    status: str
    phase: str
    reason: OutcomeReason
    message: Message
    origin: Message
    parent: str


@dataclass(frozen=True, slots=True)
class StoppedSource:
    """A source that a phase stopped, and why."""

    code: str
    title: str
    url: str
    phase: Phase
    status: str
    reason: OutcomeReason
    message: Message


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The funnel, the documents by the status of their licence, and every source that was stopped."""

    funnel: list[FunnelStage]
    lights: dict[str, int]
    stopped: list[StoppedSource]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """A source as it is at present."""

    title: str
    language: str
    address: str
    parent: str
    phase: str
    status: str
    reason: str
    message: Message
    light: str
    licence: str
    quality: dict[str, float] | None
    relation: Relation | None
    file: str
    values: list[FieldValue]
    # What a portal offers and was not taken, in sentences.
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceReport:
    """A source at present, None if it was taken off the list, and its history, oldest first."""

    code: str
    present: SourceFacts | None
    history: list[Event]


@dataclass(frozen=True, slots=True)
class UndecidedSource:
    """A source whose licence a person must decide, with the evidence."""

    code: str
    title: str
    url: str
    light: str
    reason: OutcomeReason
    message: Message
    marks: tuple[LicenceMark, ...]


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of the analyst's own that passes although its licence is not GREEN."""

    code: str
    title: str
    path: str
    light: str
    reason: OutcomeReason
    message: Message


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """Licences to decide, local files that pass under any, and the decisions made."""

    waiting: list[UndecidedSource]
    local_files: list[LocalFile]
    decisions: list[Decision]


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """Sources of one host with the same evidence, so that one decision holds for them all."""

    host: str
    members: tuple[SourceRecord, ...]


# --- sources


def source_rows(source_records: Iterable[SourceRecord]) -> list[SourceRow]:
    """Return a row for each source, in their order."""
    return [_source_row(record) for record in source_records]


def find_rows(rows: Iterable[SourceRow], words: str, states: Collection[State]) -> list[SourceRow]:
    """Return the rows in one of the states (any for none) that hold every word, folded.

    >>> from ingestion.types.source import ListedSource
    >>> rows = source_rows([SourceRecord(ListedSource("EEA001", "https://example.org", title="Città sicure"), {})])
    >>> [row.code for row in find_rows(rows, "citta eea", ())]
    ['EEA001']
    """
    wanted = fold(words).split()
    return [
        row
        for row in rows
        if (not states or row.state in states)
        and all(word in fold(f"{row.code} {row.title} {row.address} {row.reason} {row.origin}") for word in wanted)
    ]


def status_report(source_records: Collection[SourceRecord]) -> StatusReport:
    """Return how many sources came how far, and what stopped the others."""
    stopped = [
        StoppedSource(source.code, source.title, source.url, phase, outcome.status, outcome.reason, outcome.message)
        for source, (phase, outcome) in ((record.source, record.stopped) for record in source_records if record.stopped)
        if outcome.reason != "directory"
    ]
    lights = Counter(
        record.verdict.light if record.verdict else "unknown" for record in source_records if is_document(record)
    )
    return StatusReport(funnel(source_records), dict(lights), stopped)


def source_report(store: SourceStore, code: str) -> SourceReport:
    """Return what is known of a source and what happened to it.

    InputError for a code that never was on the list.
    """
    history, record = store.history(code), store.records().get(code)
    if not history:
        raise InputError("No source has the code {code!r}.", help="`sextant sources list` lists the codes.", code=code)
    return SourceReport(code, _facts(record) if record else None, history)


def title_beside_code(record: SourceRecord) -> str:
    """Return the title to show behind the code; "" if there is none but the code itself."""
    title = record.metadata.title
    return "" if title == record.source.code else title


def display_reason(reason: str) -> str:
    """Return a reason of the fixed list as words."""
    return reason.replace("_", " ")


def pluralised(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _source_row(record: SourceRecord) -> SourceRow:
    source, status = record.source, source_status(record)
    return SourceRow(
        code=source.code,
        title=title_beside_code(record),
        address=source.url or source.path,
        state=state_of(record),
        status=status.status,
        phase=status.phase,
        reason=status.reason,
        message=status.message,
        origin=source.origin,
        parent=source.parent,
    )


def _facts(record: SourceRecord) -> SourceFacts:
    source, status, verdict, quality = record.source, source_status(record), record.verdict, record.quality
    return SourceFacts(
        title=title_beside_code(record),
        language=record.metadata.language,
        address=source.url or source.path,
        parent=source.parent,
        phase=status.phase,
        status=status.status,
        reason=status.reason,
        message=status.message,
        light=verdict.light if verdict else "",
        licence=verdict.licence if verdict else source.licence,
        quality={part: getattr(quality, part) for part in _QUALITY_PARTS} if quality else None,
        relation=record.relation,
        file=record.download.path if record.download else source.path,
        values=[value for field in FIELDS for value in record.values if value.field == field],
        left_out=record.findings.left_out if record.findings else (),
    )


# --- runs


def rate_per_minute(latest: Sequence[Event], phase: str, now: datetime) -> float | None:
    """Return the sources that the phase ended in a minute, from the last one's events.

    None while too few are known.

    `latest` comes newest first and need not reach back a minute.
    """
    ended = [
        when
        for event in latest
        if event.event == phase and (when := datetime.fromisoformat(event.when)) > now - _WINDOW
    ]
    if len(ended) < 2:
        return None
    # Times are whole seconds.
    return len(ended) / max((now - ended[-1]).total_seconds(), 1.0) * 60


def seconds_left(done: int, total: int, per_minute: float | None) -> float | None:
    """Return the seconds until the phase has done all, at this rate.

    >>> seconds_left(40, 100, per_minute=30)
    120.0
    """
    return max(total - done, 0) / per_minute * 60 if per_minute else None


def next_due(source_records: Iterable[SourceRecord]) -> int:
    """Return the number of sources that the next run would take up."""
    return sum(1 for record in source_records if record.stopped is None and source_status(record).status == "waiting")


# --- review and quarantine


def review_report(source_records: Collection[SourceRecord], decisions: Sequence[Decision]) -> ReviewReport:
    """Return the pending decisions of a person, with the evidence, and the decided ones."""
    waiting = [
        UndecidedSource(
            code=record.source.code,
            title=record.source.title,
            url=record.source.url,
            light=record.verdict.light if record.verdict else "YELLOW",
            reason=record.stopped[1].reason,
            message=record.stopped[1].message,
            marks=marks_of(record),
        )
        for record in source_records
        if record.stopped and record.awaits_decision
    ]
    return ReviewReport(waiting, _local_files(source_records), list(decisions))


def review_groups(waiting: Iterable[SourceRecord]) -> list[ReviewGroup]:
    """Return the sources that wait for a decision, grouped by host and evidence, in the order of the list."""
    groups: dict[tuple[str, object], list[SourceRecord]] = {}
    for record in waiting:
        host, verdict = urlsplit(record.source.url).hostname or "", record.verdict
        marks = tuple((mark.light, mark.licence, mark.quote, mark.place) for mark in marks_of(record))
        evidence = (verdict.light, verdict.licence, marks) if verdict else ()
        groups.setdefault((host or record.source.code, evidence), []).append(record)
    return [ReviewGroup(host, tuple(members)) for (host, _), members in groups.items()]


def marks_of(record: SourceRecord) -> tuple[LicenceMark, ...]:
    """Return the evidence on a source's licence."""
    return record.verdict.marks if record.verdict else ()


def in_quarantine(source_records: Iterable[SourceRecord]) -> list[SourceRecord]:
    """Return the sources that a person may restore: erased, or refused after their file had come."""
    return [
        record
        for record in source_records
        if record.stopped
        and record.stopped[1].status == "refused"
        and record.stopped[0] in _RESTORABLE
        and (record.is_excluded or (record.download is not None and record.download.path))
    ]


def _local_files(source_records: Iterable[SourceRecord]) -> list[LocalFile]:
    return [
        LocalFile(
            code=record.source.code,
            title=record.metadata.title,
            path=record.source.path,
            light=record.verdict.light,
            reason=record.outcomes["licence"].reason,
            message=record.outcomes["licence"].message,
        )
        for record in source_records
        if record.source.path
        and record.verdict
        and record.verdict.light != "GREEN"
        and record.outcomes["licence"].passes
    ]


@dataclass(frozen=True, slots=True)
class RunningSource:
    """A source of the phase that a run is at; `state` is "now", "waiting", or how the phase ended for it."""

    code: str
    title: str
    state: str


def running_sources(
    progress: Progress, latest: Sequence[Event], titles: Mapping[str, str], started: str
) -> list[RunningSource]:
    """Return the sources at work in the phase, the next ones, and the ended ones.

    `latest` are events, the newest first; so far back as they reach.
    """
    shown: dict[str, str] = dict.fromkeys(progress.now, "now")
    for code in progress.waiting:
        shown.setdefault(code, "waiting")
    # The journal may lag by one source behind the progress, which is noted each half second.
    for event in latest:
        if event.event == progress.phase and event.when >= started and event.code not in shown:
            reason = f" ({display_reason(event.reason)})" if event.reason else ""
            shown[event.code] = f"{event.status}{reason}"
    return [RunningSource(code, titles.get(code, ""), state) for code, state in shown.items()]
