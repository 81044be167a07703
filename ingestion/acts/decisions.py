"""Decisions of a person on sources: on their licence, and on the rejection by a phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.acts.context import ActContext, queue_run
from ingestion.acts.register import act, enter, signed
from ingestion.acts.sources import check_codes, is_indexed
from ingestion.jobs.queue import Job
from ingestion.records.source_record import EXCLUDED, Decision, SourceRecord
from ingestion.records.source_store import SourceStore, now
from ingestion.types.run import Phase, RunRequest
from rag_engine.errors import InputError

_LICENCE_STATUSES = ("GREEN", "RED")

# Refused there, a source has no file that could pass.
_WITHOUT_FILE: tuple[Phase, ...] = ("acquisition", "portals")


@dataclass(frozen=True, slots=True)
class Decided:
    """Sources with a person's decision; `run` takes documents that may no longer answer out of the index."""

    codes: tuple[str, ...]
    choice: str
    job: Job | None


@act("curator", "Deciding on a source", on_first=True)
def decide(context: ActContext, codes: Sequence[str], choice: str, author: str, note: str = "") -> Decided:
    """Record a decision on sources: GREEN or RED on the licence, "restore" or "undo".

    "restore" brings back refused and erased sources. All but "undo" need a note. Documents that may no longer answer
    leave the index at once.
    """
    chosen = choice.strip().upper() if choice.strip().upper() in _LICENCE_STATUSES else choice.strip().lower()
    if chosen not in (*_LICENCE_STATUSES, "restore", "undo"):
        raise InputError("{choice!r} is no decision.", help="Decide GREEN, RED, restore or undo.", choice=choice)
    if chosen != "undo" and not note.strip():
        raise InputError(
            "{chosen} on {codes} needs a reason.",
            help="Give a note; it is kept.",
            chosen=chosen,
            codes=", ".join(codes[:5]),
        )
    author = signed(context, author)
    records = context.store.records()
    decided = check_codes(context.store, codes)
    # All before the first is recorded: all are decided or none.
    made = [one for code in decided for one in _decisions(records[code], chosen, author, note.strip())]
    for decision in made:
        _record_decision(context.store, decision, records[decision.code])
    enter(context, ", ".join(decided), f"{chosen}: {note}", by=author)
    after = context.store.records()
    leaving = tuple(code for code in decided if _must_leave(context.store, after[code]))
    return Decided(decided, chosen, queue_run(context, RunRequest(("indexing",), leaving)) if leaving else None)


def _decisions(record: SourceRecord, choice: str, author: str, note: str) -> list[Decision]:
    """Return the decisions of a choice; an empty choice undoes the decision of its phase."""
    code = record.source.code
    if choice == "undo":
        return [Decision(code, decision.phase, "", author, note, now()) for decision in record.decisions]
    if choice == "restore":
        return [Decision(code, *_restored(record), author, note, now())]
    return [Decision(code, "licence", choice, author, note, now())]


def _restored(record: SourceRecord) -> tuple[Phase, str]:
    """Return the phase and choice of a restoration; InputError if nothing can be restored."""
    code, at = record.source.code, record.stopped
    if record.is_excluded:
        return "indexing", ""
    if at is None or at[1].status != "refused":
        raise InputError("{code} is not refused.", help="`sextant status {code}` shows its status.", code=code)
    if at[0] == "licence":
        raise InputError("{code} was stopped for its licence.", help="Decide GREEN or RED instead.", code=code)
    if at[0] in _WITHOUT_FILE:
        raise InputError(
            "{code} was refused at {phase}: there is no file to restore.",
            help="Run `sextant retry`.",
            code=code,
            phase=at[0],
        )
    return at[0], "restore"


def _record_decision(store: SourceStore, decision: Decision, before: SourceRecord) -> None:
    store.decide(decision)
    if not decision.choice and any(one.choice == EXCLUDED and one.phase == decision.phase for one in before.decisions):
        # Its file is gone and is fetched again, and so are the words of its licence.
        store.forget(decision.code, ("licence", "acquisition"))


def _must_leave(store: SourceStore, record: SourceRecord) -> bool:
    return is_indexed(store, record.source.code) and record.stopped is not None and record.stopped[1].status != "failed"
