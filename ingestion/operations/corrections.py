"""Corrections of documents' fields: a person's value, agreement or undoing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.dataset.allowed_values import CONTROLLED
from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.operations.acts import act, enter, name_act, signed
from ingestion.operations.decisions import decide
from ingestion.operations.desk import Desk, queue_action
from ingestion.phases.indexing import described_anew
from ingestion.records.document_corrections import SAID, Correction, undoing
from ingestion.records.source_record import FROM_LIST, SourceRecord, described_metadata, document_code
from ingestion.records.source_store import now
from ingestion.status.document_fields import changed_fields, shown_values, unchecked_fields
from ingestion.types.description import FieldName
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.catalog import describe_document, set_state
from rag_engine.storage.log import log_documents, read_lines
from rag_engine.storage.stores import note_due
from rag_engine.types.document import DocumentRecord

# The values of fields by document: code of a source, or id, file, title or source of a document of the collection.
NamedValues = Mapping[str, Mapping[FieldName, Sequence[str]]]

# Passages that are described anew in both indexes at once, in about two seconds; more are left to the worker.
_AT_ONCE = 2_000


@act("curator", "Correcting a document", on="")
def correct(desk: Desk, values: NamedValues, author: str, note: str = "") -> tuple[Correction, ...]:
    """Record a person's values for fields of documents, all or none of them; return the changes.

    They win over every extractor, and filters, references and searches use them from then on.
    """
    author = signed(desk, author)
    labels = vocabulary()
    changed = [
        correction
        for record, given in zip(_find_all(desk, values), values.values(), strict=True)
        for correction in changed_fields(record, given, author, labels, note.strip())
    ]
    return _enter(desk, changed, note)


@act("curator", "Confirming values", on="")
def agree(desk: Desk, names: Sequence[str], author: str, fields: Sequence[FieldName] = ()) -> tuple[Correction, ...]:
    """Record that the extracted values of these fields are right.

    Where none is named, those of all fields that nobody has confirmed.

    An agreed value is a correction with the same value: what an extractor reads later does not change it.
    """
    author = signed(desk, author)
    agreed: list[Correction] = []
    for record in _find_all(desk, names):
        shown = shown_values(record)
        agreed += [
            Correction(record.code, field, shown[field], author, act="agree")
            for field in unchecked_fields(record)
            if field in fields or not fields
        ]
    return _enter(desk, agreed)


@act("curator", "Undoing a correction", on="")
def undo(
    desk: Desk, names: Sequence[str], author: str, field: FieldName | None = None, *, batch: str = ""
) -> tuple[Correction, ...]:
    """Undo the last correction of each document, or of one field; return the undone corrections.

    Corrections made together, as with a form of several fields, are undone together. With the `batch` of an act only
    that one is undone, and not what anybody has done to a field since.
    """
    author = signed(desk, author)
    codes = [record.code for record in _find_all(desk, names)]
    undone = [one for code in codes for one in undoing(desk.store.entered_corrections(code), field or "", batch)]
    if not undone:
        raise InputError(
            "Nothing was corrected of {names} that could be undone.",
            help="`sextant correct DOCUMENT --history` lists what was done.",
            names=", ".join(names[:5]),
        )
    return _enter(desk, [replace(one, author=author) for one in undone])


@act("reader")
def correction_history(desk: Desk, name: str) -> list[Correction]:
    """Return everything that people did to the fields of a document, oldest first."""
    return desk.store.entered_corrections(find_described(desk, name).code)


@act("reader")
def read_edited(desk: Desk, file: Path, author: str) -> CorrectionReport:
    """Return what a person changed in an exported workbook; nothing is recorded."""
    return read_corrections(file, list(desk.store.records().values()), author.strip(), now(), vocabulary())


@act("curator", "Importing corrections", on_first=True)
def import_corrections(desk: Desk, file: Path, author: str) -> CorrectionReport:
    """Record a person's changes and decisions in an exported workbook; return the report."""
    author = signed(desk, author)
    report = read_edited(desk, file, author)
    _enter(desk, report.corrections)
    alike: dict[tuple[str, str], list[str]] = {}
    for one in report.decisions:
        alike.setdefault((one.choice, one.note), []).append(one.code)
    for (choice, note), codes in alike.items():
        decide(desk, codes, choice, author, note)
    return report


def vocabulary() -> dict[FieldName, tuple[str, ...]]:
    """Return the labels of every field that has a controlled vocabulary."""
    taxonomy = load_taxonomy()
    return {field: taxonomy.labels(field) for field in CONTROLLED}


# --- documents as they are described


@act("reader")
def find_described(desk: Desk, name: str) -> SourceRecord:
    """Return a document by the code of its source, or by id, file, title or source; InputError for none."""
    return _find_all(desk, [name])[0]


def _find_all(desk: Desk, names: Iterable[str]) -> list[SourceRecord]:
    """Return the documents of these names, in their order."""
    listed, by_source = desk.store.records(), {one.source: one for one in desk.engine.collection.documents()}
    found: list[SourceRecord | DocumentRecord] = [
        listed.get(name) or by_source.get(name) or desk.engine.catalog.find_document(name) for name in names
    ]
    described = iter(desk.store.describe([one for one in found if isinstance(one, DocumentRecord)]))
    return [next(described) if isinstance(one, DocumentRecord) else one for one in found]


@act("reader")
def describe_records(desk: Desk, records: Sequence[DocumentRecord]) -> list[SourceRecord]:
    """Return the fields of documents of the collection with their correctors, in their order."""
    return desk.store.describe(records)


@act("curator", "Updating titles in the index")
def relabel(desk: Desk, sources: Iterable[str]) -> int:
    """Have searches find documents as they are described now; return the number of documents."""
    wanted = set(sources)
    count = sum(record.source in wanted for record in desk.engine.collection.documents())
    if count:
        desk.engine.collection.relabel()
    return count


@act("curator", "Restoring corrections")
def restore_corrections(desk: Desk, sources: Iterable[str] = ()) -> None:
    """Apply the corrections of people to documents that lack them, such as those just indexed.

    A process that was killed after it had entered a correction leaves a document without it.
    """
    _apply(desk, {one.code for one in desk.store.corrections()} & set(sources))


def _enter(desk: Desk, given: Sequence[Correction], note: str = "") -> tuple[Correction, ...]:
    """Enter corrections in the log and apply them to the collection."""
    batch, when = secrets.token_hex(8), now()
    stamped = [replace(one, batch=batch, when=one.when or when) for one in given]
    if stamped:
        name_act(desk, ", ".join(_by_code(stamped)), by=stamped[0].author)
        desk.store.enter(stamped)
        _apply(desk, {one.code for one in stamped})
    fields = _by_code(stamped)
    for code, entered in fields.items():
        # The fields alone: their values are the document's, and go with it.
        enter(desk, f"{code}: {', '.join(one.field for one in entered)}", note, by=entered[0].author)
    return tuple(stamped)


def _apply(desk: Desk, codes: set[str]) -> None:
    """Describe these documents, and all that lack their corrections, as the log has it."""
    catalog = desk.engine.catalog
    said = int(catalog.state(SAID, "0"))
    unsaid = read_lines(desk.workspace, "correction", after=said)
    codes = codes | {line.on for line in unsaid}
    if not codes:
        return
    present = [(record, print_) for record, print_ in catalog.fingerprints() if document_code(record) in codes]
    described = desk.store.describe([record for record, _ in present])
    for (record, _), source in zip(present, described, strict=True):
        if record.is_former or not record.source.startswith(FROM_LIST):
            # Corrected, it no longer says what was extracted.
            desk.store.put_description(source)
    changed: list[DocumentRecord] = []
    with catalog.begin() as connection:
        # The first change of this transaction keeps everybody else from changing them before the log is read.
        set_state(connection, SAID, str(max((said, *(line.id for line in unsaid)))))
        counting = _by_code(desk.store.corrections())
        for (record, print_), source in zip(present, described, strict=True):
            given_now = replace(source, corrections=tuple(counting.get(source.code, ())))
            metadata = described_metadata(given_now, record.metadata)
            if metadata != record.metadata:
                describe_document(connection, record.key, metadata, described_anew(print_, metadata))
                changed.append(record)
        note_due(connection, [record.key for record in changed])
    log_documents(catalog)
    _update_indexes(desk, changed)


def _by_code(given: Iterable[Correction]) -> dict[str, list[Correction]]:
    grouped: dict[str, list[Correction]] = {}
    for one in given:
        grouped.setdefault(one.code, []).append(one)
    return grouped


def _update_indexes(desk: Desk, records: Sequence[DocumentRecord]) -> None:
    """Have the indexes follow at once, or by the worker where it is long or somebody else is writing."""
    if not records:
        return
    sources = [record.source for record in records]
    if sum(record.children for record in records) <= _AT_ONCE:
        try:
            relabel(desk, sources)
            return
        except WorkspaceError as error:
            if not error.retryable:
                raise
    queue_action(desk, "relabel", {"documents": sources})
