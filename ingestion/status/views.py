"""Rows, groups and figures that an administrator looks at, made from source records and events; pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from ingestion.records.source_record import Correction, SourceRecord, metadata_of
from ingestion.records.source_store import Event
from ingestion.status.source_status import is_document, source_status
from ingestion.types import (
    FIELDS,
    LIST_FIELDS,
    PHASES,
    FieldName,
    FieldValue,
    LicenceMark,
    OutcomeReason,
    Phase,
    RunRequest,
)
from rag_engine.errors import InputError
from rag_engine.text.folding import fold

State = Literal[
    "new", "waiting", "review", "indexed", "translation", "superseded", "portal", "rejected", "failed", "withdrawn"
]
# In the order in which a person works through them.
STATES: Mapping[State, str] = {
    "review": "Licence to decide",
    "failed": "Failed",
    "rejected": "Rejected",
    "new": "New",
    "waiting": "Waiting",
    "indexed": "Indexed",
    "translation": "Indexed, translation",
    "superseded": "Indexed, superseded",
    "portal": "Portal",
    "withdrawn": "Withdrawn",
}
# What acquisition or the portals rejected has no file to go on with, and a licence is decided elsewhere.
_RESTORABLE: frozenset[Phase] = frozenset(PHASES) - {"licence", "acquisition", "portals"}
# The rate of the last minute says more of the next one than that of the whole run.
_WINDOW = timedelta(seconds=60)
_NAMED = 3


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source as a line of the list: `phase` is the one it stands at, `address` its URL or file."""

    code: str
    title: str
    address: str
    state: State
    phase: str
    reason: OutcomeReason
    message: str
    origin: str
    parent: str


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """Sources of one host that the same evidence leaves open, so that one word decides them all."""

    host: str
    members: tuple[SourceRecord, ...]


# --- sources


def source_rows(source_records: Iterable[SourceRecord]) -> list[SourceRow]:
    """The sources in their order, each with its state."""
    return [_source_row(record) for record in source_records]


def find_rows(rows: Iterable[SourceRow], words: str, states: Collection[State]) -> list[SourceRow]:
    """The rows in one of the states (any for none) that hold every word, in any case and with or without accents."""
    wanted = fold(words).split()
    return [
        row
        for row in rows
        if (not states or row.state in states)
        and all(word in fold(f"{row.code} {row.title} {row.address} {row.reason} {row.origin}") for word in wanted)
    ]


def state_of(record: SourceRecord) -> State:
    """Where a source stands, in one word."""
    if record.stopped is None:
        return _going_on(record)
    phase, outcome = record.stopped
    if outcome.reason == "directory":
        return "portal"
    if record.awaits_decision:
        return "review"
    if outcome.status == "skipped":
        # What is decided waits for the next run, and for nobody.
        return "waiting"
    if phase == "indexing" and outcome.reason == "decided":
        return "withdrawn"
    return "failed" if outcome.status == "failed" else "rejected"


def title_beside_code(record: SourceRecord) -> str:
    """The title as it stands after the code; "" where there is none but the code itself."""
    title = metadata_of(record).title
    return "" if title == record.source.code else title


def spoken_reason(reason: str) -> str:
    """A reason of the fixed list as words."""
    return reason.replace("_", " ")


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def under(path: str, folder: Path) -> str:
    """Name of the folder inside `folder` that holds the path, "" where it lies elsewhere."""
    inside = Path(path)
    return inside.relative_to(folder.absolute()).parts[0] if inside.is_relative_to(folder.absolute()) else ""


def _going_on(record: SourceRecord) -> State:
    if source_status(record).status == "waiting":
        return "waiting" if record.outcomes else "new"
    relation = record.relation
    if relation is not None and relation.superseded:
        return "superseded"
    return "translation" if relation is not None and relation.translation_of else "indexed"


def _source_row(record: SourceRecord) -> SourceRow:
    source, where = record.source, source_status(record)
    reason = record.stopped[1].reason if record.stopped else ""
    return SourceRow(
        source.code,
        title_beside_code(record),
        source.url or source.path,
        state_of(record),
        where.phase,
        reason,
        where.message,
        source.origin,
        source.parent,
    )


# --- runs


def said(request: RunRequest) -> str:
    """The request in a sentence that stays short however many sources it names."""
    if len(request.codes) <= _NAMED:
        return request.describe()
    return replace(request, codes=(f"{len(request.codes):,} sources",)).describe()


def request_of(arguments: Mapping[str, Any]) -> RunRequest:
    """The request that a run was queued with."""
    return RunRequest(
        tuple(arguments.get("phases") or PHASES),
        tuple(arguments.get("codes") or ()),
        arguments.get("which", "due"),
        bool(arguments.get("refresh", False)),
    )


def rate_per_minute(latest: Sequence[Event], phase: str, now: datetime) -> float | None:
    """Sources that the phase ended in a minute, from the events of the last one; None while too few are known.

    `latest` comes newest first and need not reach back a minute.
    """
    ended = [
        when for one in latest if one.event == phase and (when := datetime.fromisoformat(one.when)) > now - _WINDOW
    ]
    if len(ended) < 2:
        return None
    # Times are whole seconds.
    return len(ended) / max((now - ended[-1]).total_seconds(), 1.0) * 60


def seconds_left(done: int, total: int, per_minute: float | None) -> float | None:
    """Seconds until the phase has done all, at this rate."""
    return max(total - done, 0) / per_minute * 60 if per_minute else None


# --- review and quarantine


def review_groups(waiting: Iterable[SourceRecord]) -> list[ReviewGroup]:
    """What waits for a word on its licence, put together by host and evidence, in the order of the list."""
    groups: dict[tuple[str, object], list[SourceRecord]] = {}
    for record in waiting:
        host = urlsplit(record.source.url).hostname or ""
        groups.setdefault((host or record.source.code, _evidence(record)), []).append(record)
    return [ReviewGroup(host, tuple(members)) for (host, _), members in groups.items()]


def marks_of(record: SourceRecord) -> tuple[LicenceMark, ...]:
    """The evidence on a source's licence."""
    return record.verdict.marks if record.verdict else ()


def in_quarantine(source_records: Iterable[SourceRecord]) -> list[SourceRecord]:
    """What a person may restore: rejected or withdrawn after its file had come."""
    return [
        one
        for one in source_records
        if one.stopped
        and one.stopped[1].status == "rejected"
        and one.stopped[0] in _RESTORABLE
        and one.download is not None
        and one.download.path
    ]


def next_due(source_records: Iterable[SourceRecord]) -> int:
    """Number of sources that the next run would take up."""
    return sum(1 for one in source_records if one.stopped is None and source_status(one).status == "waiting")


def _evidence(record: SourceRecord) -> object:
    verdict = record.verdict
    marks = tuple((one.light, one.licence, one.quote, one.place) for one in marks_of(record))
    return (verdict.light, verdict.licence, marks) if verdict else ()


# --- metadata


def documents(source_records: Iterable[SourceRecord]) -> list[SourceRecord]:
    """The sources that became documents and are described."""
    return [one for one in source_records if is_document(one) and (one.description is not None or one.corrections)]


def shown_values(record: SourceRecord) -> dict[FieldName, tuple[str, ...]]:
    """What a document has in each field, as the index takes it."""
    metadata = metadata_of(record)
    single: dict[FieldName, str] = {
        "title": metadata.title, "authority": metadata.authority, "document_type": metadata.document_type,
        "target": metadata.target, "description": metadata.description, "language": metadata.language,
        "date": metadata.date, "geographical_level": metadata.geographical_level, "notes": metadata.notes,
    }  # fmt: skip
    several: dict[FieldName, tuple[str, ...]] = {
        "hazards": metadata.hazards, "key_criteria": metadata.key_criteria, "tags": metadata.tags,
        "countries": metadata.countries,
    }  # fmt: skip
    kept: dict[FieldName, tuple[str, ...]] = {field: (value,) if value else () for field, value in single.items()}
    return {field: (kept | several)[field] for field in FIELDS}


def field_values(record: SourceRecord, field: FieldName) -> list[FieldValue]:
    """The values of a field with where each comes from, the surest first."""
    return sorted((one for one in record.values if one.field == field), key=lambda one: -one.confidence)


def missing_fields(record: SourceRecord) -> list[FieldName]:
    """The fields that nobody and nothing has filled; remarks need none."""
    filled = {value.field for value in record.values if value.value}
    corrected = {one.field for one in record.corrections}
    return [field for field in FIELDS if field not in filled | corrected | {"notes"}]


def unsure_fields(record: SourceRecord, below: float) -> list[FieldName]:
    """The fields with a value of which no extractor was as sure as that; people are always sure."""
    return [
        field
        for field in FIELDS
        if any(one.confidence < below and one.source != "person" for one in field_values(record, field))
    ]


def edits(
    record: SourceRecord,
    after: Mapping[FieldName, Sequence[str]],
    author: str,
    vocabulary: Mapping[FieldName, Sequence[str]],
    note: str = "",
) -> list[Correction]:
    """What a person changed of a document's fields; InputError for a value that the field cannot have."""
    before = shown_values(record)
    changed: list[Correction] = []
    for field, values in after.items():
        said_now = tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
        if set(said_now) != set(before[field]):
            _check(record.source.code, field, said_now, vocabulary.get(field, ()))
            changed.append(Correction(record.source.code, field, said_now, author, note))
    return changed


def _check(code: str, field: FieldName, values: Sequence[str], allowed: Sequence[str]) -> None:
    foreign = [value for value in values if allowed and value not in allowed]
    if foreign:
        raise InputError(
            f"{code}: {field} cannot be {', '.join(foreign)!r}.", help=f"Choose from {'; '.join(allowed[:40])}."
        )
    if len(values) > 1 and field not in LIST_FIELDS:
        raise InputError(f"{code}: {field} has one value only.", help="Keep one of them.")
    for value in values:
        if field == "date" and not _is_date(value):
            raise InputError(f"{code}: {value!r} is no date.", help="Write 2020-12-31, 2020-12 or 2020.")
        if field == "language" and not (len(value) == 2 and value.isascii() and value.islower()):
            raise InputError(f"{code}: {value!r} is no language.", help="Write its two letters, such as en or pt.")


def _is_date(text: str) -> bool:
    parts = text.split("-")
    if [len(part) for part in parts] not in ([4], [4, 2], [4, 2, 2]) or not all(part.isdecimal() for part in parts):
        return False
    numbers = [int(part) for part in parts]
    try:
        date(*numbers, *[1] * (3 - len(numbers)))
    except ValueError:
        return False
    return 1500 <= numbers[0] <= 2200
