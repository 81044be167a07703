"""Acts of an admin upon people: who has which role, and who changed what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from datetime import datetime

from ingestion.acts.register import ActingPlace, act, enter
from ingestion.records.audit import AuditEntry, read_entries
from ingestion.records.people import give_role, known_people
from ingestion.spreadsheets.workbook_writer import to_csv
from rag_engine.conversations.person import Person
from rag_engine.errors import InputError
from rag_engine.messages import Message


@act("admin", "Seeing who has which role")
def list_people(context: ActingPlace) -> list[Person]:
    """Return the people who have a role, by name."""
    return sorted(known_people(context.workspace), key=lambda person: (person.name.casefold(), person.key))


@act("admin", "Giving a role", on_first=True)
def set_role(context: ActingPlace, address: str, role: str) -> Person:
    """Give a person a role, also before the first login; InputError if no admin would be left."""
    before, person = give_role(context.workspace, address, role)
    if before != person.role:
        change = Message(
            "role before: {before}, now: {role}" if before else "new, with the role {role}",
            before=Message(before or ""),
            role=Message(person.role),
        )
        enter(context, person.key, change)
    return person


@act("admin", "Reading the audit log")
def audit_entries(context: ActingPlace, *, person: str = "", since: str = "", of: str = "") -> list[AuditEntry]:
    """Return the entries of the audit log, newest first: of a person, since a day or time, of one act."""
    try:
        start = datetime.fromisoformat(since).isoformat() if since else ""
    except ValueError as error:
        raise InputError("{since!r} is no date.", help="Give one like 2026-11-25.", since=since) from error
    wanted = person.strip().casefold()
    return [
        entry
        for entry in reversed(read_entries(context.workspace))
        if (not wanted or wanted in f"{entry.by} {entry.person}".casefold())
        and entry.when >= start
        and of in ("", entry.act)
    ]


@act("admin", "Exporting the audit log")
def exported_audit(context: ActingPlace, entries: Sequence[AuditEntry]) -> bytes:  # noqa: ARG001 - its person is checked
    """Return entries of the audit log as CSV."""
    return to_csv(("when", "by", "person", "act", "on", "note", "outcome"), (astuple(entry) for entry in entries))
