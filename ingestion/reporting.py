"""What a person is told of the sources, and what a person says of them, for page and terminal alike."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingestion.corrections import CorrectionReport, read_corrections
from ingestion.dossier import Decision, Dossier
from ingestion.funnel import funnel
from ingestion.outcomes import FieldName, Phase
from ingestion.register import Register, now
from ingestion.taxonomy import load_taxonomy
from rag_engine.errors import InputError

_CONTROLLED: tuple[FieldName, ...] = ("hazards", "document_type", "geographical_level", "key_criteria", "tags")
_LIGHTS = {"GREEN", "RED"}
_OPEN = ("licence_unclear", "licence_conflict")


def status_json(register: Register) -> dict[str, Any]:
    """The funnel, and every source that was stopped with where and why."""
    dossiers = list(register.dossiers().values())
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
        for one in dossiers
        if (at := one.stopped) is not None and at[1].reason != "directory"
    ]
    return {"funnel": [asdict(station) for station in funnel(dossiers)], "stopped": stopped}


def history_json(register: Register, code: str) -> dict[str, Any]:
    """What happened to a source, oldest first."""
    events = register.history(code)
    if not events:
        raise InputError(f"No source has the code {code!r}.", help="`sextant status` lists the codes.")
    return {"code": code, "history": [asdict(event) for event in events]}


def waiting_for_review(register: Register) -> list[Dossier]:
    """The sources whose licence a person must decide."""
    return [one for one in register.dossiers().values() if (at := one.stopped) is not None and at[1].reason in _OPEN]


def review_json(register: Register) -> dict[str, Any]:
    """The sources whose licence a person must decide, with the evidence, and the decisions made."""
    waiting = []
    for one in waiting_for_review(register):
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
    return {"waiting": waiting, "decisions": [asdict(decision) for decision in register.decisions()]}


def decide(register: Register, code: str, choice: str, author: str, note: str) -> None:
    """Nothing; a person's word: GREEN or RED on a licence, "restore" what was rejected, "undo" an earlier word."""
    dossier = register.dossiers().get(code)
    if dossier is None:
        raise InputError(f"No source has the code {code!r}.", help="`sextant status` lists the codes.")
    word = choice.strip().upper() if choice.strip().upper() in _LIGHTS else choice.strip().lower()
    phase: Phase
    if word in _LIGHTS:
        register.decide(Decision(code, "licence", word, author, note, now()))
    elif word == "restore":
        at = dossier.stopped
        if at is None or at[1].status != "rejected":
            raise InputError(f"{code} is not rejected.", help="`sextant status` says where each source stands.")
        phase, reason = at[0], at[1].reason
        if phase == "licence":
            raise InputError(f"{code} was stopped for its licence.", help="Decide GREEN or RED instead.")
        # A withdrawn document is brought back by taking the withdrawal back.
        withdrawn = phase == "indexing" and reason == "decided"
        register.decide(Decision(code, phase, "" if withdrawn else "restore", author, note, now()))
        if withdrawn:
            register.forget(code, ("acquisition",))
    elif word == "undo":
        for decision in dossier.decisions:
            register.decide(Decision(code, decision.phase, "", author, note, now()))
    else:
        raise InputError(f"{choice!r} is no decision.", help="Say GREEN, RED, restore or undo.")


def take_corrections(path: Path, register: Register, author: str) -> CorrectionReport:
    """What a person changed in an exported workbook, taken over; people's values win over every extractor."""
    dossiers = list(register.dossiers().values())
    report = read_corrections(path, dossiers, author, now(), vocabulary())
    register.correct(report.corrections)
    return report


def vocabulary() -> dict[FieldName, tuple[str, ...]]:
    """The labels of every field that has a controlled vocabulary."""
    taxonomy = load_taxonomy()
    return {field: taxonomy.labels(field) for field in _CONTROLLED}
