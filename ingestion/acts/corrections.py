"""Corrections of documents' fields: a person's value, agreement or undoing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.acts.context import ActContext, queue_job
from ingestion.acts.decisions import decide
from ingestion.acts.register import act, enter, name_act, signed
from ingestion.dataset.allowed_values import CONTROLLED
from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.metadata.taxonomy import load_taxonomy
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
def correct(context: ActContext, values: NamedValues, author: str, note: str = "") -> tuple[Correction, ...]:
    """Record a person's values for fields of documents, all or none of them; return the changes.

    They win over every extractor, and filters, references and searches use them from then on.
    """
    author = signed(context, author)
    labels = vocabulary()
    changed = [
        correction
        for record, given in zip(_find_all(context, values), values.values(), strict=True)
        for correction in changed_fields(record, given, author, labels, note.strip())
    ]
    return _enter(context, changed, note)


@act("curator", "Confirming values", on="")
def agree(
    context: ActContext, names: Sequence[str], author: str, fields: Sequence[FieldName] = ()
) -> tuple[Correction, ...]:
    """Record that the extracted values of these fields are right.

    Where none is named, those of all fields that nobody has confirmed.

    An agreed value is a correction with the same value: what an extractor reads later does not change it.
    """
    author = signed(context, author)
    agreed: list[Correction] = []
    for record in _find_all(context, names):
        shown = shown_values(record)
        agreed += [
            Correction(record.code, field, shown[field], author, act="agree")
            for field in unchecked_fields(record)
            if field in fields or not fields
        ]
    return _enter(context, agreed)


@act("curator", "Undoing a correction", on="")
def undo(
    context: ActContext, names: Sequence[str], author: str, field: FieldName | None = None, *, batch: str = ""
) -> tuple[Correction, ...]:
    """Undo the last correction of each document, or of one field; return the undone corrections.

    Corrections made together, as with a form of several fields, are undone together. With the `batch` of an act only
    that one is undone, and not what anybody has done to a field since.
    """
    author = signed(context, author)
    codes = [record.code for record in _find_all(context, names)]
    undone = [
        correction
        for code in codes
        for correction in undoing(context.store.entered_corrections(code), field or "", batch)
    ]
    if not undone:
        raise InputError(
            "Nothing was corrected of {names} that could be undone.",
            help="`sextant correct DOCUMENT --history` lists what was done.",
            names=", ".join(names[:5]),
        )
    return _enter(context, [replace(correction, author=author) for correction in undone])


@act("reader")
def correction_history(context: ActContext, name: str) -> list[Correction]:
    """Return everything that people did to the fields of a document, oldest first."""
    return context.store.entered_corrections(find_described(context, name).code)


@act("reader")
def read_edited(context: ActContext, file: Path, author: str) -> CorrectionReport:
    """Return what a person changed in an exported workbook; nothing is recorded."""
    return read_corrections(file, list(context.store.records().values()), author.strip(), now(), vocabulary())


@act("curator", "Importing corrections", on_first=True)
def import_corrections(context: ActContext, file: Path, author: str) -> CorrectionReport:
    """Record a person's changes and decisions in an exported workbook; return the report."""
    author = signed(context, author)
    report = read_edited(context, file, author)
    _enter(context, report.corrections)
    alike: dict[tuple[str, str], list[str]] = {}
    for decision in report.decisions:
        alike.setdefault((decision.choice, decision.note), []).append(decision.code)
    for (choice, note), codes in alike.items():
        decide(context, codes, choice, author, note)
    return report


def vocabulary() -> dict[FieldName, tuple[str, ...]]:
    """Return the labels of every field that has a controlled vocabulary."""
    taxonomy = load_taxonomy()
    return {field: taxonomy.labels(field) for field in CONTROLLED}


# --- documents as they are described


@act("reader")
def find_described(context: ActContext, name: str) -> SourceRecord:
    """Return a document by the code of its source, or by id, file, title or source; InputError for none."""
    return _find_all(context, [name])[0]


def _find_all(context: ActContext, names: Iterable[str]) -> list[SourceRecord]:
    """Return the documents of these names, in their order."""
    listed, by_source = (
        context.store.records(),
        {document.source: document for document in context.engine.collection.documents()},
    )
    found: list[SourceRecord | DocumentRecord] = [
        listed.get(name) or by_source.get(name) or context.engine.catalog.find_document(name) for name in names
    ]
    described = iter(context.store.describe([one for one in found if isinstance(one, DocumentRecord)]))
    return [next(described) if isinstance(one, DocumentRecord) else one for one in found]


@act("reader")
def describe_records(context: ActContext, records: Sequence[DocumentRecord]) -> list[SourceRecord]:
    """Return the fields of documents of the collection with their correctors, in their order."""
    return context.store.describe(records)


@act("curator", "Updating titles in the index")
def relabel(context: ActContext, sources: Iterable[str]) -> int:
    """Have searches find documents as they are described now; return the number of documents."""
    wanted = set(sources)
    count = sum(record.source in wanted for record in context.engine.collection.documents())
    if count:
        context.engine.writer.relabel()
    return count


@act("curator", "Restoring corrections")
def restore_corrections(context: ActContext, sources: Iterable[str] = ()) -> None:
    """Apply the corrections of people to documents that lack them, such as those just indexed.

    A process that was killed after it had entered a correction leaves a document without it.
    """
    _apply(context, {correction.code for correction in context.store.corrections()} & set(sources))


def _enter(context: ActContext, given: Sequence[Correction], note: str = "") -> tuple[Correction, ...]:
    """Enter corrections in the log and apply them to the collection."""
    batch, when = secrets.token_hex(8), now()
    stamped = [replace(correction, batch=batch, when=correction.when or when) for correction in given]
    if stamped:
        name_act(context, ", ".join(_by_code(stamped)), by=stamped[0].author)
        context.store.enter(stamped)
        _apply(context, {correction.code for correction in stamped})
    fields = _by_code(stamped)
    for code, entered in fields.items():
        # The fields alone: their values are the document's, and go with it.
        enter(context, f"{code}: {', '.join(correction.field for correction in entered)}", note, by=entered[0].author)
    return tuple(stamped)


def _apply(context: ActContext, codes: set[str]) -> None:
    """Describe these documents, and all that lack their corrections, as the log has it."""
    catalog = context.engine.catalog
    said = int(catalog.state(SAID, "0"))
    unsaid = read_lines(context.workspace, "correction", after=said)
    codes = codes | {line.on for line in unsaid}
    if not codes:
        return
    present = [(record, print_) for record, print_ in catalog.fingerprints() if document_code(record) in codes]
    described = context.store.describe([record for record, _ in present])
    for (record, _), source in zip(present, described, strict=True):
        if record.is_former or not record.source.startswith(FROM_LIST):
            # Corrected, it no longer says what was extracted.
            context.store.put_description(source)
    changed: list[DocumentRecord] = []
    with catalog.begin() as connection:
        # The first change of this transaction keeps everybody else from changing them before the log is read.
        set_state(connection, SAID, str(max((said, *(line.id for line in unsaid)))))
        counting = _by_code(context.store.corrections())
        for (record, print_), source in zip(present, described, strict=True):
            given_now = replace(source, corrections=tuple(counting.get(source.code, ())))
            metadata = described_metadata(given_now, record.metadata)
            if metadata != record.metadata:
                describe_document(connection, record.key, metadata, described_anew(print_, metadata))
                changed.append(record)
        note_due(connection, [record.key for record in changed])
    log_documents(catalog)
    _update_indexes(context, changed)


def _by_code(given: Iterable[Correction]) -> dict[str, list[Correction]]:
    grouped: dict[str, list[Correction]] = {}
    for correction in given:
        grouped.setdefault(correction.code, []).append(correction)
    return grouped


def _update_indexes(context: ActContext, records: Sequence[DocumentRecord]) -> None:
    """Have the indexes follow at once, or by the worker where it is long or somebody else is writing."""
    if not records:
        return
    sources = [record.source for record in records]
    if sum(record.children for record in records) <= _AT_ONCE:
        try:
            relabel(context, sources)
            return
        except WorkspaceError as error:
            if not error.retryable:
                raise
    queue_job(context, "relabel", {"documents": sources})
