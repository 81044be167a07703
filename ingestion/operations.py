"""What a person is told of the sources, and what a person says of them, for page and terminal alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.extraction.text_cache import forget_reading
from ingestion.file_names import file_hash, safe_code
from ingestion.indexing.phase import FROM_LIST
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.records.source_record import Decision, SourceRecord, metadata_of
from ingestion.records.source_store import SourceStore, now
from ingestion.status.source_status import funnel, is_document, source_status
from ingestion.types import FIELDS, PHASES, FieldName, Phase, RunRequest, SeedSource
from rag_engine import workspace as paths
from rag_engine.errors import InputError
from rag_engine.types import DocumentRecord

_CONTROLLED: tuple[FieldName, ...] = ("hazards", "document_type", "geographical_level", "key_criteria", "tags")
_LIGHTS = {"GREEN", "RED"}
# Rejected there, a source has no file that could pass.
_WITHOUT_FILE: tuple[Phase, ...] = ("acquisition", "portals")
_PARTS = ("score", "length", "chunks", "sections", "cleaning")
_LISTED = "`sextant seeds list` lists the codes."


def status_json(store: SourceStore) -> dict[str, Any]:
    """The funnel, the documents by the light of their licence, and every source that was stopped with where and why."""
    source_records = list(store.records().values())
    stopped = [
        {
            "code": one.source.code,
            "title": one.source.title,
            "url": one.source.url,
            "phase": at[0],
            "status": at[1].status,
            "reason": at[1].reason,
            "message": at[1].message,
        }
        for one in source_records
        if (at := one.stopped) is not None and at[1].reason != "directory"
    ]
    lights = Counter(one.verdict.light if one.verdict else "unknown" for one in source_records if is_document(one))
    return {
        "funnel": [asdict(station) for station in funnel(source_records)],
        "lights": dict(lights),
        "stopped": stopped,
    }


def list_json(store: SourceStore) -> dict[str, Any]:
    """Every source of the list in its order, with where it stands."""
    sources = []
    for one in store.records().values():
        at, title = source_status(one), metadata_of(one).title
        sources.append(
            {
                "code": one.source.code,
                "phase": at.phase,
                "status": at.status,
                "reason": at.reason,
                "title": "" if title == one.source.code else title,
                "address": one.source.url or one.source.path,
                "parent": one.source.parent,
            }
        )
    return {"sources": sources}


def source_json(store: SourceStore, code: str) -> dict[str, Any]:
    """What is known of a source at present, and what happened to it, oldest first.

    A source that was taken off the list has a history alone.
    """
    events, source_record = store.history(code), store.records().get(code)
    if not events:
        raise InputError(f"No source has the code {code!r}.", help=_LISTED)
    history = [asdict(event) for event in events]
    return {"code": code, "present": _present(source_record) if source_record else None, "history": history}


def review_json(store: SourceStore) -> dict[str, Any]:
    """The sources whose licence a person must decide, with the evidence; files at hand that pass whatever theirs is;
    and the decisions made.
    """
    source_records = list(store.records().values())
    waiting = []
    for one in (one for one in source_records if one.awaits_decision):
        at, verdict = one.stopped, one.verdict
        assert at is not None, "what waits was stopped"
        waiting.append(
            {
                "code": one.source.code,
                "title": one.source.title,
                "url": one.source.url,
                "light": verdict.light if verdict else "YELLOW",
                "reason": at[1].reason,
                "message": at[1].message,
                "marks": [asdict(mark) for mark in verdict.marks] if verdict else [],
            }
        )
    decisions = [asdict(decision) for decision in store.decisions()]
    return {"waiting": waiting, "at_hand": _at_hand(source_records), "decisions": decisions}


def add_sources(store: SourceStore, new: Sequence[SeedSource]) -> None:
    """Nothing; the sources are on the list. InputError where somebody else has just given their codes to others."""
    lost = len(new) - store.add(new)
    if lost:
        raise InputError(
            f"{lost} of {len(new)} sources were not added: their codes were given to others at the same moment.",
            help="Add the list again; these rows get other codes.",
        )


def check_codes(store: SourceStore, codes: Sequence[str]) -> tuple[str, ...]:
    """The codes, once each; InputError that names those of no source."""
    known = {source.code for source in store.sources()}
    unknown = list(dict.fromkeys(code for code in codes if code not in known))
    if unknown:
        raise InputError(f"No source has the code {', '.join(unknown)}.", help=_LISTED)
    return tuple(dict.fromkeys(codes))


def decide(store: SourceStore, code: str, choice: str, author: str, note: str) -> bool:
    """Whether a document must leave the index now (`index_request`); takes a person's word on a source.

    The word is GREEN or RED on a licence, "restore" for what was rejected or withdrawn, "undo" for all earlier words.
    """
    source_record = store.records().get(code)
    if source_record is None:
        raise InputError(f"No source has the code {code!r}.", help=_LISTED)
    word = choice.strip().upper() if choice.strip().upper() in _LIGHTS else choice.strip().lower()
    if word in _LIGHTS:
        store.decide(Decision(code, "licence", word, author, note, now()))
    elif word == "restore":
        _restore(store, source_record, author, note)
    elif word == "undo":
        for decision in source_record.decisions:
            _take_back(store, decision, author, note)
    else:
        raise InputError(f"{choice!r} is no decision.", help="Say GREEN, RED, restore or undo.")
    after = store.records()[code].stopped
    return is_indexed(store, code) and after is not None and after[1].status != "failed"


def is_indexed(store: SourceStore, code: str) -> bool:
    """Whether the source's document is in the index, as far as indexing has said; after a failure it may be."""
    entry = store.entries().get((code, "indexing"))
    return entry is not None and entry.outcome.status in ("done", "failed")


def index_request(code: str) -> RunRequest:
    """The run that brings the index up to date with a decision on this source."""
    return RunRequest(phases=("indexing",), codes=(code,))


def take_corrections(path: Path, store: SourceStore, author: str) -> CorrectionReport:
    """What a person changed in an exported workbook, taken over; people's values win over every extractor."""
    source_records = list(store.records().values())
    report = read_corrections(path, source_records, author, now(), vocabulary())
    store.correct(report.corrections)
    return report


def vocabulary() -> dict[FieldName, tuple[str, ...]]:
    """The labels of every field that has a controlled vocabulary."""
    taxonomy = load_taxonomy()
    return {field: taxonomy.labels(field) for field in _CONTROLLED}


def _at_hand(source_records: Iterable[SourceRecord]) -> list[dict[str, Any]]:
    """The analyst's own files that go on although their licence is not GREEN."""
    return [
        {
            "code": one.source.code,
            "title": metadata_of(one).title,
            "path": one.source.path,
            "light": one.verdict.light,
            "reason": one.outcomes["licence"].reason,
            "message": one.outcomes["licence"].message,
        }
        for one in source_records
        if one.source.path and one.verdict and one.verdict.light != "GREEN" and one.outcomes["licence"].passes
    ]


def _restore(store: SourceStore, source_record: SourceRecord, author: str, note: str) -> None:
    """Nothing; lets a source pass where a phase rejected it, or takes its withdrawal back."""
    code, at = source_record.source.code, source_record.stopped
    withdrawn = next((word for word in source_record.decisions if word.choice == "withdraw"), None)
    if withdrawn is not None:
        _take_back(store, withdrawn, author, note)
        return
    if at is None or at[1].status != "rejected":
        raise InputError(f"{code} is not rejected.", help=f"`sextant status {code}` says where it stands.")
    if at[0] == "licence":
        raise InputError(f"{code} was stopped for its licence.", help="Decide GREEN or RED instead.")
    if at[0] in _WITHOUT_FILE:
        raise InputError(f"{code} was rejected at {at[0]}: there is no file to restore.", help="Run `sextant retry`.")
    store.decide(Decision(code, at[0], "restore", author, note, now()))


def _take_back(store: SourceStore, decision: Decision, author: str, note: str) -> None:
    """Nothing; the word was never said. What was withdrawn is fetched again, since its file is gone."""
    store.decide(Decision(decision.code, decision.phase, "", author, note, now()))
    if decision.choice == "withdraw":
        store.forget(decision.code, ("acquisition",))


def _present(source_record: SourceRecord) -> dict[str, Any]:
    """What is known of a source at present."""
    source, at, verdict = source_record.source, source_status(source_record), source_record.verdict
    quality, relation, download = source_record.quality, source_record.relation, source_record.download
    metadata = metadata_of(source_record)
    return {
        "title": "" if metadata.title == source.code else metadata.title,
        "language": metadata.language,
        "address": source.url or source.path,
        "parent": source.parent,
        "phase": at.phase,
        "status": at.status,
        "reason": at.reason,
        "message": at.message,
        "light": verdict.light if verdict else "",
        "licence": verdict.licence if verdict else source.licence,
        "quality": {part: getattr(quality, part) for part in _PARTS} if quality else None,
        "relation": asdict(relation) if relation else None,
        "file": download.path if download else source.path,
        "values": [asdict(one) for field in FIELDS for one in source_record.values if one.field == field],
    }


_PERSON = "a person"


def withdraw(record: DocumentRecord, store: SourceStore, workspace: Path, *, author: str = "") -> bool:
    """Whether the document came from the list; all files of it, of former versions too, what was read from them and
    what the phases learnt of it are removed, and no run brings it back.
    """
    code = record.source.removeprefix(FROM_LIST)
    source_record = store.records().get(code) if record.source.startswith(FROM_LIST) else None
    if source_record is None:
        return False
    note = "Erased; restore it to fetch and read it again."
    store.decide(Decision(code, "indexing", "withdraw", author or _PERSON, note, now()))
    for path in _files(workspace, code):
        forget_reading(paths.readings(workspace), file_hash(path))
        path.unlink()
    store.erase(code, PHASES[PHASES.index("acquisition") :])
    return True


def _files(workspace: Path, code: str) -> Iterator[Path]:
    """Every file that was ever fetched for the source and is still there."""
    for folder in (paths.downloads(workspace), paths.quarantine(workspace)):
        if folder.is_dir():
            yield from (path for path in folder.iterdir() if path.name.startswith(f"{safe_code(code)}_"))
