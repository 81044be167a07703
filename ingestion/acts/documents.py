"""Acts of a person upon documents: adding, erasing, and the indexes and glossaries that list them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from ingestion import workspace as folders
from ingestion.acts.context import LATEST_JOBS, ActContext, queue_job
from ingestion.acts.corrections import restore_corrections
from ingestion.acts.register import act, enter, entered_as_begun, signed
from ingestion.acts.sources import remove_kept_files
from ingestion.add_files import FileOutcome, add_paths
from ingestion.backup.repair import originals_aside
from ingestion.book_index import apply as book_index
from ingestion.book_index.index_records import index_of_file
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.dataset.knowledge_base import knowledge_base, write_knowledge_base
from ingestion.jobs.queue import Job
from ingestion.jobs.uploads import keep_upload, remove_erased, remove_previews
from ingestion.phases.indexing import code_of
from ingestion.records.erasures import BegunErasure, begin_erasure, begun_erasures, end_erasure, erasing, find_erasure
from ingestion.records.quarantine import remove_files
from ingestion.records.source_record import EXCLUDED, FROM_LIST, Decision, SourceRecord
from ingestion.records.source_store import now
from ingestion.tools import open_reader
from ingestion.types.run import Progress
from ingestion.web.cache import empty_cache
from rag_engine.atomic_write import remove_abandoned, remove_abandoned_staging
from rag_engine.book_index.anchors import IndexTable
from rag_engine.conversations.store import forget_in_conversations
from rag_engine.damaged_files import kept_aside
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.evaluation.answers.forgetting import forget_in_evaluation
from rag_engine.messages import Message
from rag_engine.notebook.notebook import without_document
from rag_engine.notebook.store import NOTEBOOKS
from rag_engine.passage_search.example_questions import forget_examples
from rag_engine.storage.erase_document import Erasure
from rag_engine.storage.index_entries import OWN_SOURCES, index_sources
from rag_engine.storage.log import forget_lines
from rag_engine.types.document import DocumentRecord
from rag_engine.workspace import catalog_file, records_file

# How long a deletion on a page waits for whoever thinks better of it.
UNDO_SECONDS = 10.0
# By kinds of records: what takes the document of an id and a file out of them. The tables of the catalog that hold
# documents are those of rag_engine/storage/erase_document.py.
FORGETTING: Mapping[tuple[str, ...], Callable[[ActContext, str, str, bool], None]] = {
    ("erased", "conversation"): lambda context, document, file, redact: forget_in_conversations(
        context.workspace, document, file, redact=redact
    ),
    ("comparison", "comparison cell"): lambda context, document, *_: ComparisonStore(
        context.engine.catalog
    ).forget_document(document),
    ("notebook",): lambda context, document, _, redact: (
        NOTEBOOKS.change_all(context.workspace, document, lambda notebook: without_document(notebook, document))
        if redact
        else None
    ),
    ("test question", "run"): lambda context, document, file, redact: (
        forget_in_evaluation(context.engine.collection, document, file) if redact else None
    ),
}


@act("curator", "Adding documents", on_first=True)
def add_files(
    context: ActContext,
    files: Sequence[Path],
    *,
    replaces: str = "",
    again: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[FileOutcome]:
    """Index files and folders now; return what became of each file.

    A file that `replaces` a document becomes its new version. Another file is a new document, unless one was added from
    the same path before. If the content differs, the former document stays as a former version. With `again` files are
    tried that broke their reader before and have not changed.
    """
    finish_erasures(context)
    former = _replaced(context, replaces)
    added = add_paths(files, context.engine, replaces=former, again=again, progress=progress, cancelled=cancelled)
    indexed = {outcome.document_id for outcome in added if outcome.status == "indexed"}
    restore_corrections(
        context,
        [document.source for document in context.engine.collection.documents() if document.document_id in indexed],
    )
    if indexed:
        enter(context, ", ".join(Path(outcome.path).name for outcome in added if outcome.status == "indexed"))
    return added


@act("curator", "Adding documents")
def queue_files(context: ActContext, files: Sequence[Path], *, replaces: str = "", again: bool = False) -> Job:
    """Have the worker index files and folders, as `add_files` does."""
    former = _replaced(context, replaces)
    arguments: dict[str, object] = {"paths": [str(path) for path in files]} | ({"again": True} if again else {})
    return queue_job(context, "add", arguments | ({"replaces": former.source} if former else {}))


@act("curator", "Adding documents")
def queue_uploads(
    context: ActContext, files: Sequence[tuple[str, IO[bytes]]], *, replaces: str = "", again: bool = False
) -> Job:
    """Keep named files in the workspace and have the worker index them."""
    kept = [keep_upload(context.workspace, name, data) for name, data in files]
    return queue_files(context, kept, replaces=replaces, again=again)


@act("curator", "Uploading a file")
def preview_upload(context: ActContext, name: str, data: IO[bytes]) -> Path:
    """Keep a file in the workspace while a person looks at its content; `discard_upload` removes it."""
    return keep_upload(context.workspace, name, data, to_add=False)


def discard_upload(file: Path) -> None:
    """Remove a file that `preview_upload` kept."""
    shutil.rmtree(file.parent, ignore_errors=True)


@act("curator", "Adding the invented samples")
def add_sample(context: ActContext, folder: Path) -> bool:
    """Have the invented samples indexed; return False for a workspace that has documents or had them."""
    arguments = {"paths": [str(folder)]}
    status = next((job.status for job in context.jobs.latest() if job.arguments == arguments), None)
    if status == "done" or context.engine.collection.documents():
        return False
    if status not in ("queued", "running"):
        context.jobs.queue("add", arguments, context.person)
    context.start_worker(context.workspace)
    return True


@act("curator", "Deleting a document")
def erase(context: ActContext, document: str, author: str = "", note: str = "", *, redact: bool = False) -> Erasure:
    """Remove a document, named by id, file, title or source, everywhere and for good.

    A document of the list is excluded first, so that no run brings it back. Its downloads, its former versions and the
    results of the phases are removed with it, and so are its copies (`sources_erased_with`). Of other documents, the
    version before is in force again. A former version goes without the present one. One whose erasure was broken off is
    named in the same way, and its erasure is finished. Conversations and notebooks keep the sentences that they have
    quoted, unless it is to `redact` those.
    """
    _remove_half_written(context.workspace)
    unfinished = find_erasure(context.workspace, document)
    present = context.engine.collection.documents()
    # It comes before a document whose title its name is.
    if unfinished is not None and not any(document in (one.source, one.document_id, one.file) for one in present):
        with erasing(context.workspace):
            return _carry_out(context, unfinished)
    record = context.engine.catalog.find_document(document)
    by = _who_erases(context, record, author, note)
    who = {"author": by, "note": note.strip()}
    names = {"document_id": record.document_id, "source": record.source, "sha256": record.sha256, "file": record.file}
    with erasing(context.workspace):
        asked = BegunErasure(record.key, code=code_of(record), former=record.is_former, redact=redact, **names, **who)
        begin_erasure(context.workspace, asked)
        return _carry_out(context, asked)


@act("reader")
def unfinished_erasures(context: ActContext) -> list[str]:
    """Return the files of the documents whose erasure was broken off and not yet finished."""
    return [erasure.file for erasure in begun_erasures(context.workspace)]


@act("reader")
def finish_erasures(context: ActContext) -> int:
    """Finish the erasures of a killed process, and return the number of documents.

    The files and backups that it left half written, which may hold words of a document, are removed. 0 while another
    process erases or writes: that one has it in hand, or the next one will.
    """
    _remove_half_written(context.workspace)
    unfinished = begun_erasures(context.workspace)
    try:
        if unfinished:
            with erasing(context.workspace):
                for erasure in unfinished:
                    _carry_out(context, erasure)
    except WorkspaceError as error:
        if not error.retryable:
            raise
        return 0
    return len(unfinished)


@act("reader")
def resume_erasures(context: ActContext) -> None:
    """Have the worker finish erasures that a killed process has begun, or that are left to it."""
    if unfinished_erasures(context) or context.engine.collection.left_by_erasures():
        context.start_worker(context.workspace)


@act("curator", "Deleting a document")
def queue_erasure(
    context: ActContext,
    documents: Sequence[str],
    author: str = "",
    note: str = "",
    *,
    redact: bool = False,
    undo_seconds: float = 0,
) -> Job:
    """Have the worker remove documents everywhere and for good, in one job.

    The job can be cancelled first for `undo_seconds`, and all documents are then kept.
    """
    records = [context.engine.catalog.find_document(document) for document in documents]
    for record in records:
        _who_erases(context, record, author, note)
    who: dict[str, object] = {
        "documents": [record.source for record in records],
        "author": author.strip(),
        "note": note.strip(),
        "redact": redact,
    }
    return queue_job(context, "erase", who | ({"undo_seconds": undo_seconds} if undo_seconds else {}))


@act("reader")
def is_listed(context: ActContext, record: DocumentRecord) -> bool:
    """Return whether the document came from the list of sources, so that a run replaces it."""
    return not record.is_former and code_of(record) in context.store.records()


@act("reader")
def sources_erased_with(context: ActContext, documents: Sequence[DocumentRecord]) -> tuple[str, ...]:
    """Return the codes that erasing the documents excludes by a decision: their own and of copies.

    A copy has the same bytes or nearly the same words, and is no document of the collection itself. A run would index
    it in the place of the erased document.
    """
    found: dict[str, None] = {}
    for document in documents:
        if is_listed(context, document):
            found[code_of(document)] = None
        found |= dict.fromkeys(_copies(context, code_of(document), document.sha256, former=document.is_former))
    return tuple(found)


@act("curator", "Applying an index")
def preview_index_table(context: ActContext, file: Path) -> IndexTable:
    """Return the reading of an index table, a glossary or a book with an index; apply nothing."""
    with open_reader(context.engine.config.ocr) as reader:
        return index_of_file(file, reader)


@act("reader")
def applied_index_tables(context: ActContext) -> dict[str, int]:
    """Return the index tables that are applied, each with how many documents it lists."""
    return {name: count for name, count in index_sources(context.engine.catalog).items() if name not in OWN_SOURCES}


@act("curator", "Applying an index", on_first=True)
def apply_index_table(context: ActContext, file: Path, document: str = "") -> book_index.Applied:
    """Have an index in a file lead to the passages of the documents that it names."""
    with open_reader(context.engine.config.ocr) as reader:
        applied = book_index.apply_index(file, context.engine, reader, document=document)
    enter(context, file.name)
    return applied


@act("curator", "Removing an index", on_first=True)
def remove_index_table(context: ActContext, name: str) -> int:
    """Undo `apply_index_table` for a file of this name; return the number of documents concerned."""
    removed = book_index.remove_index(name, context.engine)
    enter(context, name)
    return removed


@act("curator", "Building the knowledge base", on="knowledge base")
def ground(context: ActContext, *, again: bool = False) -> Job:
    """Have the worker ground the entries of all indexes that are new or changed, all with `again`.

    A job of it that is under way serves as well. InputError if no document has an index.
    """
    if not index_sources(context.engine.catalog):
        raise InputError(
            "No document of the collection has an index or glossary.",
            help="Apply a table of terms with `sextant index-table FILE --apply`.",
        )
    active = next((job for job in context.jobs.latest(LATEST_JOBS) if job.kind == "ground" and job.active), None)
    enter(context, Message("knowledge base"))
    return active or queue_job(context, "ground", {"again": again})


@act("reader")
def export_knowledge_base(context: ActContext, file: Path) -> int:
    """Write the grounded entries to a .json or .xlsx file; return their number."""
    return write_knowledge_base(file, knowledge_base(context.engine))


def _remove_half_written(workspace: Path) -> None:
    """Remove half-written files of killed processes: in the workspace, its backups, and next to it."""
    remove_abandoned(workspace)
    for folder in (folders.backups(workspace), workspace.resolve().parent):
        remove_abandoned_staging(folder)


def _replaced(context: ActContext, document: str) -> DocumentRecord | None:
    """Return the document that a new version replaces; InputError for a document of the list of sources."""
    if not document:
        return None
    record = context.engine.catalog.find_document(document)
    if code_of(record):
        raise InputError(
            "{file} came from the list of sources.",
            help="`sextant run --refresh` fetches its new version.",
            file=record.file,
        )
    return record


def _carry_out(context: ActContext, asked: BegunErasure) -> Erasure:
    """Take the remaining steps of an erasure, each of which may be repeated, and enter it."""
    with entered_as_begun(context, "erase", asked.source, asked.note, asked.author):
        erased = _take_steps(context, asked)
        # Entered before it is forgotten: killed between the two, it is finished and entered once more.
        enter(context, asked.source, asked.note, asked.author)
        end_erasure(context.workspace, asked)
        context.engine.catalog.checkpoint()
    return erased


def _take_steps(context: ActContext, asked: BegunErasure) -> Erasure:
    records = context.store.records()
    # The copies first: by what is known of the document they are found again after a kill.
    for code in _copies(context, asked.code, asked.sha256, former=asked.former):
        _exclude(context, records[code], asked)
    if asked.code and asked.former:
        remove_files(context.workspace, context.store, asked.code, asked.sha256)
    elif source_record := records.get(asked.code):
        _exclude(context, source_record, asked)
    record: DocumentRecord | None = None
    left: list[Message] = []
    for document in context.engine.collection.documents():
        # Encoded again meanwhile it has another key.
        if document.key == asked.key or (document.source, document.sha256) == (asked.source, asked.sha256):
            record = document
        elif asked.code and not asked.former and document.is_former and document.origin == asked.source:
            # Before, since a kill leaves nothing to find it by; after, for an answer that was begun in between.
            left += _forget(context, document.document_id, document.source, document.file, redact=asked.redact)
            context.engine.writer.erase(document)
            left += _forget(context, document.document_id, document.source, document.file, redact=asked.redact)
    left += _forget(context, asked.document_id, asked.source, asked.file, redact=asked.redact)
    if record is not None:
        erased = context.engine.writer.erase(record)
    else:
        # What it was made of is gone or going, and no longer counted.
        erased = Erasure(asked.document_id, asked.file, 0, 0, context.engine.writer.finish_erasures())
    # Again, now that nobody finds it any more: an answer that is begun after this holds nothing of it.
    left += _forget(context, asked.document_id, asked.source, asked.file, redact=asked.redact)
    left += (
        Message(
            "its traces in {file}, a database that was damaged", file=path.relative_to(context.workspace).as_posix()
        )
        for database in (catalog_file(context.workspace), records_file(context.workspace))
        for path in kept_aside(context.workspace, database.name)
    )
    return replace(erased, left_behind=tuple(dict.fromkeys((*erased.left_behind, *left))))


def _exclude(context: ActContext, record: SourceRecord, asked: BegunErasure) -> None:
    """Keep a source out of every run, and remove its files and the phases' findings on them."""
    if not record.is_excluded:
        context.store.decide(Decision(record.code, "indexing", EXCLUDED, asked.author, asked.note, now()))
    remove_kept_files(record.source, context)
    context.store.erase(record.code)


def _copies(context: ActContext, code: str, sha256: str, *, former: bool) -> list[str]:
    """Return the other sources outside the collection that hold a document of this source and content.

    If it is no `former` version, every file that was fetched for the source counts. So do sources found to have nearly
    its words.
    """
    files = context.store.files()
    contents = {sha256, *(file.sha256 for file in files if code and file.code == code and not former)}
    alike = {file.code for file in files if file.sha256 in contents}
    indexed = {code_of(document) for document in context.engine.collection.documents() if not document.is_former}
    return [
        record.code
        for record in context.store.records().values()
        if record.code not in (code, *indexed)
        and (record.code in alike or (code and not former and record.relation and record.relation.duplicate_of == code))
    ]


def _forget(context: ActContext, document_id: str, source: str, file: str, *, redact: bool) -> list[Message]:
    """Remove all that repeats a document: replies, comparisons, its description, agreed values.

    Return in words what may still hold something of it, for it cannot be read.
    """
    # Whether a list that somebody looks at repeats the document is not known.
    remove_previews(context.workspace)
    alike = (document for document in context.engine.collection.documents() if document.document_id == document_id)
    if all(document.source == source for document in alike):
        # No document has this content any more.
        for folder in originals_aside(context.workspace, document_id):
            shutil.rmtree(folder, ignore_errors=True)
        remove_erased(context.workspace, context.jobs, document_id)
        for forget_in in FORGETTING.values():
            forget_in(context, document_id, file, redact)
    # Pages tell of documents that they are not themselves, such as by a link.
    unread = empty_cache(folders.pages(context.workspace))
    forget_examples(context.engine)
    context.jobs.forget_current()
    code = source.removeprefix(FROM_LIST)
    context.store.forget_description(code)
    forget_lines(context.workspace, ["correction", "document"], source, code)
    kept = (path.relative_to(context.workspace).as_posix() for path in unread)
    return [Message("its possible traces in {file}, which cannot be read", file=one) for one in kept]


def _who_erases(context: ActContext, record: DocumentRecord, author: str, note: str) -> str:
    """Return the name that an erasure bears; InputError if it excludes sources without name or reason."""
    codes = sources_erased_with(context, [record])
    if codes and not note.strip():
        raise InputError(
            "Erasing {file} excludes {code} of the list, which needs a reason.",
            help="Give a note; it is kept.",
            file=record.file,
            code=", ".join(codes),
        )
    return signed(context, author) if codes or context.person.key else author.strip()
