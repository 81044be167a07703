"""Everything that is known of one source, and its description as the index takes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ingestion.records.document_corrections import Correction, corrected
from ingestion.types.description import ALL_FIELDS, FIELDS, LIST_FIELDS, Description, FieldName, FieldValue
from ingestion.types.licence import LicenceMark, LicenceVerdict, Light
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, Phase
from ingestion.types.source import Download, Extraction, Indexed, ListedSource, PortalFindings, Quality, Relation
from rag_engine.messages import Message, join_messages
from rag_engine.storage.log import LogLine
from rag_engine.types.document import DocumentRecord, Metadata

_Kind = TypeVar("_Kind")

# Prefix of a source's code where the index names where a document came from.
FROM_LIST = "list:"
# Origin of a file that was added by itself: its code is where it came from.
ADDED = Message("added")
# The choice of a decision that keeps a source out of every phase: its document was erased.
EXCLUDED = "withdraw"
# What a verdict is called by that found no licence.
_NO_LICENCE = frozenset((
    "", "All rights reserved", "Copyright notice", "Reproduction reserved", "Text and data mining reserved",
    "Third-party material excepted", "Unclear permission",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's word on a licence ("GREEN", "RED") or a rejection ("restore"); survives every re-run."""

    code: str
    phase: Phase
    choice: str
    author: str
    note: str
    when: str


def decision_line(decision: Decision) -> LogLine:
    """Return the line of the log for a decision."""
    said = json.dumps({"phase": decision.phase, "choice": decision.choice})
    return LogLine(
        kind="decision", on=decision.code, when=decision.when, by=decision.author, note=decision.note, said=said
    )


def decision_of(line: LogLine) -> Decision:
    """Return the decision that a line of the log keeps."""
    said = json.loads(line.said)
    return Decision(line.on, said["phase"], said["choice"], line.by, line.note, line.when)


def decisions_that_count(made: Iterable[Decision]) -> list[Decision]:
    """Return the last decision on each phase of each source that was not undone, by code.

    >>> made = [Decision("EEA001", "licence", choice, "Ada", "", "2026-03-01") for choice in ("RED", "GREEN")]
    >>> [decision.choice for decision in decisions_that_count(made)]
    ['GREEN']
    """
    latest = {(decision.code, decision.phase): decision for decision in made}
    return [latest[place] for place in sorted(latest) if latest[place].choice]


class _Evidence(Generic[_Kind]):
    """Evidence of a phase's latest outcome; None if the phase has not run or gave none of this kind."""

    def __init__(self, phase: Phase, kind: type[_Kind]) -> None:
        self._phase, self._kind = phase, kind

    def __get__(self, record: SourceRecord, _: type[SourceRecord]) -> _Kind | None:
        outcome = record.outcomes.get(self._phase)
        return outcome.evidence if outcome and isinstance(outcome.evidence, self._kind) else None


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source with the latest outcome of each phase and the decisions of people."""

    source: ListedSource
    outcomes: Mapping[Phase, Outcome]
    corrections: tuple[Correction, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def code(self) -> str:
        """Code of the source."""
        return self.source.code

    def having(self, phase: Phase, outcome: Outcome) -> SourceRecord:
        """Return the record with this outcome of a phase."""
        return replace(self, outcomes={**self.outcomes, phase: outcome})

    @property
    def fields(self) -> tuple[FieldName, ...]:
        """The fields that a person may correct: licence and address of a source of the list are the list's."""
        return ALL_FIELDS if self.source.origin == ADDED else FIELDS

    page_verdict = _Evidence("licence", LicenceVerdict)
    download = _Evidence("acquisition", Download)
    findings = _Evidence("portals", PortalFindings)
    extraction = _Evidence("extraction", Extraction)
    quality = _Evidence("quality", Quality)
    relation = _Evidence("deduplication", Relation)
    description = _Evidence("metadata", Description)
    indexed = _Evidence("indexing", Indexed)

    @property
    def verdict(self) -> LicenceVerdict | None:
        """Return the licence verdict.

        A reservation in the document wins over its page; other evidence against it is a conflict.
        """
        verdict, extraction = self.page_verdict, self.extraction
        if verdict is None or self.licence_decided or extraction is None or not extraction.licence_marks:
            return verdict
        marks = (*verdict.marks, *extraction.licence_marks)
        if self.outcomes["extraction"].reason == "licence_reserved":
            reserved = max(
                (mark for mark in extraction.licence_marks if mark.light == "RED"), key=lambda one: one.score
            )
            return LicenceVerdict("RED", reserved.licence, marks, language=verdict.language)
        return replace(verdict, light="YELLOW", marks=marks, conflict=True)

    @property
    def stopped(self) -> tuple[Phase, Outcome] | None:
        """The phase that the source did not pass, with its outcome; None while it passes or is indexed.

        A directory ends at the portals: with the documents found, or with their message.
        """
        ended: tuple[Phase, Outcome] | None = None
        for phase in PHASES:
            outcome = self.outcomes.get(phase)
            if outcome is not None and not outcome.passes:
                ended = phase, outcome
                if outcome.reason != "directory":
                    return ended
            elif ended is not None:
                return ended if outcome is not None else None
        return ended

    @property
    def licence_decided(self) -> bool:
        """Whether a person has decided on the licence of this very source."""
        return any(decision.phase == "licence" for decision in self.decisions)

    @property
    def is_excluded(self) -> bool:
        """Whether a person has erased the document and not restored it."""
        return any(decision.choice == EXCLUDED for decision in self.decisions)

    @property
    def awaits_decision(self) -> bool:
        """Whether a person's word on the licence is missing; a decided source waits only for the next run."""
        at = self.stopped
        return at is not None and at[1].reason in ("licence_unclear", "licence_conflict") and not self.licence_decided

    @property
    def values(self) -> tuple[FieldValue, ...]:
        """The description with people's corrections in place of extracted values, in the order of the fields."""
        described = self.description.values if self.description else ()
        return tuple(sorted(corrected(described, self.corrections), key=lambda value: ALL_FIELDS.index(value.field)))

    @property
    def is_redated(self) -> bool:
        """Whether a person has corrected the date."""
        return any(correction.field == "date" for correction in self.corrections)

    @property
    def metadata(self) -> Metadata:
        """The description as the index takes it; title and language fall back to extraction's and the list's."""
        values, extraction, source = self.values, self.extraction, self.source
        listed = {"licence": self.verdict.licence if self.verdict else source.licence, "source_url": source.url}
        stated = {value.field for value in values} | {correction.field for correction in self.corrections}
        fields = (field for field in self.fields if field in stated or field not in listed)
        described: dict[str, Any] = listed | {field: _described(values, field) for field in fields}
        title, language = (extraction.title, extraction.language) if extraction else ("", "")
        described["title"] = described["title"] or source.title or title or source.code
        described["language"] = described["language"] or language
        described["authority"] = described["authority"] or source.authority
        date, year = described["date"], self.description.year if self.description else None
        effect = extraction.in_force if extraction and not self.is_redated and extraction.in_force > date else ""
        return Metadata(
            **described,
            year=year_of(date) or year or year_of(effect),
            quality_score=self.quality.score if self.quality else None,
            other_languages=extraction.other_languages if extraction else (),
            identifiers=extraction.identifiers if extraction else (),
            in_force=effect,
        )


def described_metadata(record: SourceRecord, before: Metadata) -> Metadata:
    """Return the metadata of a document as the source record describes it.

    Its place among the versions of its work, which the collection alone knows, stays as in `before`.
    """
    described = record.metadata
    score = before.quality_score if described.quality_score is None else described.quality_score
    fields = {field: getattr(described, field) for field in record.fields}
    effect = "" if record.is_redated else before.in_force
    return replace(before, year=described.year, quality_score=score, in_force=effect, **fields)


def year_of(date: str) -> int | None:
    """Return the year of an ISO date or its prefix; None without one."""
    return int(date[:4]) if date[:4].isdecimal() else None


def as_extracted(metadata: Metadata) -> Description:
    """Return metadata of which only the values are known, as extracted ones."""
    values = (FieldValue(field, value, "rule") for field in ALL_FIELDS for value in field_texts(metadata, field))
    return Description(tuple(values), year=None if metadata.date else metadata.year)


def field_texts(metadata: Metadata, field: FieldName) -> tuple[str, ...]:
    """Return the values of a field; none if it is empty."""
    value: str | tuple[str, ...] = getattr(metadata, field)
    return value if isinstance(value, tuple) else (value,) if value else ()


def document_code(document: DocumentRecord) -> str:
    """Return the code of the source that a document is a version of; a former version has its own."""
    return document.source.removeprefix(FROM_LIST)


def decided(record: SourceRecord) -> SourceRecord:
    """Return the source record with its outcomes as people's decisions leave them.

    A decision on the licence sets its status. "restore" lets a source pass where a phase refused it. An exclusion
    keeps it out of the index.

    >>> word = Decision("EEA001", "licence", "GREEN", "Ada", "Letter of the ministry", "2026-03-01")
    >>> str(decided(SourceRecord(ListedSource("EEA001"), {}, decisions=(word,))).outcomes["licence"].message)
    'Ada decided: GREEN. Letter of the ministry'
    """
    outcomes = dict(record.outcomes)
    for decision in record.decisions:
        before = outcomes.get(decision.phase)
        if decision.phase == "licence":
            outcomes["licence"] = _licence_by(decision, record.verdict)
        elif decision.choice == "restore" and before is not None and before.status == "refused":
            message = Message(
                "Restored by {author}: {why} (was: {before})",
                author=decision.author,
                why=decision.note or Message("no reason given"),
                before=before.message,
            )
            outcomes[decision.phase] = Outcome("done", "decided", message, before.evidence)
        elif decision.choice == EXCLUDED:
            message = join_messages([Message("Erased by {author}.", author=decision.author), decision.note])
            outcomes[decision.phase] = Outcome("refused", "decided", message, before.evidence if before else None)
    return replace(record, outcomes=outcomes)


def _licence_by(decision: Decision, verdict: LicenceVerdict | None) -> Outcome:
    light: Light = "GREEN" if decision.choice == "GREEN" else "RED"
    quote = decision.note or "no reason given"
    licence = verdict.licence if verdict else ""
    if light == "GREEN" and licence in _NO_LICENCE:
        # An export names by what a document may be used, and that is the person's reason.
        licence = f"Approved in review: {quote}"
    mark = LicenceMark("person", light, licence, 100.0, quote, f"{decision.author}, {decision.when}")
    marks = (mark, *(verdict.marks if verdict else ()))
    restrictions = verdict.restrictions if verdict else ()
    judged = LicenceVerdict(light, licence, marks, restrictions, verdict.language if verdict else "")
    said = Message("{author} decided: {light}.", author=decision.author, light=light)
    message = join_messages([said, decision.note])
    return Outcome("done" if light == "GREEN" else "refused", "decided", message, judged)


def best(values: Sequence[FieldValue], field: FieldName) -> FieldValue | None:
    """Return the surest value of a single-valued field; a person's before any other.

    >>> values = [FieldValue("title", "plan_v3", "rule", confidence=0.9), FieldValue("title", "Flood plan", "person")]
    >>> best(values, "title").value
    'Flood plan'
    """
    assert field not in LIST_FIELDS, f"{field} has several values"
    found = [value for value in values if value.field == field]
    return max(found, key=lambda value: (value.source == "person", value.confidence), default=None)


def _described(values: Sequence[FieldValue], field: FieldName) -> str | tuple[str, ...]:
    if field in LIST_FIELDS:
        return tuple(dict.fromkeys(value.value for value in values if value.field == field))
    found = best(values, field)
    return found.value if found else ""
