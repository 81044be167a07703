"""Acts of a person upon documents: adding, erasing, and the indexes and glossaries that list them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from ingestion import workspace as folders
from ingestion.add_files import FileOutcome, add_paths
from ingestion.backup.repair import originals_aside
from ingestion.book_index import apply as book_index
from ingestion.book_index.read import index_of_file
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.dataset.knowledge_base import knowledge_base, write_knowledge_base
from ingestion.jobs.queue import Run
from ingestion.jobs.uploads import keep_upload, remove_erased, remove_previews
from ingestion.operations.acts import act, enter, entered_as_begun, signed
from ingestion.operations.corrections import restore_corrections
from ingestion.operations.desk import LATEST_RUNS, Desk, queue_action
from ingestion.operations.sources import remove_kept_files
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
from rag_engine.conversations.forgetting import forget_in_conversations
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.evaluation.answers.forgetting import forget_in_evaluation
from rag_engine.messages import Message
from rag_engine.notebook.notebook import without_document
from rag_engine.notebook.store import NOTEBOOKS
from rag_engine.passage_search.example_questions import forget_examples
from rag_engine.set_aside import kept_aside
from rag_engine.storage.deletion import Erasure
from rag_engine.storage.index_entries import OWN_SOURCES, index_sources
from rag_engine.storage.log import forget_lines
from rag_engine.types.document import DocumentRecord
from rag_engine.workspace import catalog_file, records_file

# How long a deletion on a page waits for whoever thinks better of it.
UNDO_SECONDS = 10.0


@act("curator", "Adding documents", on_first=True)
def add_files(
    desk: Desk,
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
    finish_erasures(desk)
    former = _replaced(desk, replaces)
    added = add_paths(files, desk.engine, replaces=former, again=again, progress=progress, cancelled=cancelled)
    indexed = {one.document_id for one in added if one.status == "indexed"}
    restore_corrections(desk, [one.source for one in desk.engine.collection.documents() if one.document_id in indexed])
    if indexed:
        enter(desk, ", ".join(Path(one.path).name for one in added if one.status == "indexed"))
    return added


@act("curator", "Adding documents")
def queue_files(desk: Desk, files: Sequence[Path], *, replaces: str = "", again: bool = False) -> Run:
    """Have the worker index files and folders, as `add_files` does."""
    former = _replaced(desk, replaces)
    arguments: dict[str, object] = {"paths": [str(path) for path in files]} | ({"again": True} if again else {})
    return queue_action(desk, "add", arguments | ({"replaces": former.source} if former else {}))


@act("curator", "Adding documents")
def queue_uploads(
    desk: Desk, files: Sequence[tuple[str, IO[bytes]]], *, replaces: str = "", again: bool = False
) -> Run:
    """Keep named files in the workspace and have the worker index them."""
    kept = [keep_upload(desk.workspace, name, data) for name, data in files]
    return queue_files(desk, kept, replaces=replaces, again=again)


@act("curator", "Uploading a file")
def preview_upload(desk: Desk, name: str, data: IO[bytes]) -> Path:
    """Keep a file in the workspace while a person looks at its content; `discard_upload` removes it."""
    return keep_upload(desk.workspace, name, data, to_add=False)


def discard_upload(file: Path) -> None:
    """Remove a file that `preview_upload` kept."""
    shutil.rmtree(file.parent, ignore_errors=True)


@act("curator", "Adding the invented samples")
def add_sample(desk: Desk, folder: Path) -> bool:
    """Have the invented samples indexed; return False for a workspace that has documents or had them."""
    arguments = {"paths": [str(folder)]}
    status = next((run.status for run in desk.jobs.runs() if run.arguments == arguments), None)
    if status == "done" or desk.engine.collection.documents():
        return False
    if status not in ("queued", "running"):
        desk.jobs.queue("add", arguments, desk.person)
    desk.start_worker(desk.workspace)
    return True


@act("curator", "Deleting a document")
def erase(desk: Desk, document: str, author: str = "", note: str = "", *, redact: bool = False) -> Erasure:
    """Remove a document, named by id, file, title or source, everywhere and for good.

    A document of the list is excluded first, so that no run brings it back. Its downloads, its former versions and the
    results of the phases are removed with it, and so are its copies (`sources_erased_with`). A former version goes
    without the present one. One whose erasure was broken off is named in the same way, and its erasure is finished.
    Conversations and notebooks keep the sentences that they have quoted, unless it is to `redact` those.
    """
    _remove_half_written(desk.workspace)
    unfinished = find_erasure(desk.workspace, document)
    # It comes before a document whose title its name is.
    if unfinished is not None and not _is_named(desk, document):
        with erasing(desk.workspace):
            return _carry_out(desk, unfinished)
    record = desk.engine.catalog.find_document(document)
    by = desk.person.name if desk.person.key else author.strip()
    if codes := sources_erased_with(desk, [record]):
        _check_erasure(record, codes, note)
        by = signed(desk, author)
    who = {"author": by, "note": note.strip()}
    names = {"document_id": record.document_id, "source": record.source, "sha256": record.sha256, "file": record.file}
    with erasing(desk.workspace):
        asked = BegunErasure(record.key, code=code_of(record), former=record.is_former, redact=redact, **names, **who)
        begin_erasure(desk.workspace, asked)
        return _carry_out(desk, asked)


@act("reader")
def unfinished_erasures(desk: Desk) -> list[str]:
    """Return the files of the documents whose erasure was broken off and not yet finished."""
    return [one.file for one in begun_erasures(desk.workspace)]


@act("reader")
def finish_erasures(desk: Desk) -> int:
    """Finish the erasures of a killed process, and return the number of documents.

    The files and backups that it left half written, which may hold words of a document, are removed. 0 while another
    process erases or writes: that one has it in hand, or the next one will.
    """
    _remove_half_written(desk.workspace)
    unfinished = begun_erasures(desk.workspace)
    try:
        if unfinished:
            with erasing(desk.workspace):
                for one in unfinished:
                    _carry_out(desk, one)
    except WorkspaceError as error:
        if not error.retryable:
            raise
        return 0
    return len(unfinished)


@act("reader")
def resume_erasures(desk: Desk) -> None:
    """Have the worker finish erasures that a killed process has begun, or that are left to it."""
    if unfinished_erasures(desk) or desk.engine.collection.left_by_erasures():
        desk.start_worker(desk.workspace)


@act("curator", "Deleting a document")
def queue_erasure(
    desk: Desk,
    documents: Sequence[str],
    author: str = "",
    note: str = "",
    *,
    redact: bool = False,
    undo_seconds: float = 0,
) -> Run:
    """Have the worker remove documents everywhere and for good, in one run.

    The run can be cancelled first for `undo_seconds`, and all documents are then kept.
    """
    records = [desk.engine.catalog.find_document(one) for one in documents]
    for record in records:
        if codes := sources_erased_with(desk, [record]):
            _check_erasure(record, codes, note)
            signed(desk, author)
    who: dict[str, object] = {
        "documents": [record.source for record in records],
        "author": author.strip(),
        "note": note.strip(),
        "redact": redact,
    }
    return queue_action(desk, "erase", who | ({"undo_seconds": undo_seconds} if undo_seconds else {}))


@act("reader")
def is_listed(desk: Desk, record: DocumentRecord) -> bool:
    """Return whether the document came from the list of sources, so that a run replaces it."""
    return not record.is_former and code_of(record) in desk.store.records()


@act("reader")
def sources_erased_with(desk: Desk, documents: Sequence[DocumentRecord]) -> tuple[str, ...]:
    """Return the codes that erasing the documents excludes by a decision: their own and of copies.

    A copy has the same bytes or nearly the same words, and is no document of the collection itself. A run would index
    it in the place of the erased document.
    """
    found: dict[str, None] = {}
    for one in documents:
        if is_listed(desk, one):
            found[code_of(one)] = None
        found |= dict.fromkeys(_copies(desk, code_of(one), one.sha256, former=one.is_former))
    return tuple(found)


@act("curator", "Applying an index")
def preview_index_table(desk: Desk, file: Path) -> IndexTable:
    """Return the reading of an index table, a glossary or a book with an index; apply nothing."""
    with open_reader(desk.engine.config.ocr) as reader:
        return index_of_file(file, reader)


@act("reader")
def applied_index_tables(desk: Desk) -> dict[str, int]:
    """Return the index tables that are applied, each with how many documents it lists."""
    return {name: count for name, count in index_sources(desk.engine.catalog).items() if name not in OWN_SOURCES}


@act("curator", "Applying an index", on_first=True)
def apply_index_table(desk: Desk, file: Path, document: str = "") -> book_index.Applied:
    """Have an index in a file lead to the passages of the documents that it names."""
    with open_reader(desk.engine.config.ocr) as reader:
        applied = book_index.apply_index(file, desk.engine, reader, document=document)
    enter(desk, file.name)
    return applied


@act("curator", "Removing an index", on_first=True)
def remove_index_table(desk: Desk, name: str) -> int:
    """Undo `apply_index_table` for a file of this name; return the number of documents concerned."""
    removed = book_index.remove_index(name, desk.engine)
    enter(desk, name)
    return removed


@act("curator", "Building the knowledge base", on="knowledge base")
def ground(desk: Desk, *, again: bool = False) -> Run:
    """Have the worker ground the entries of all indexes that are new or changed, all with `again`.

    A run of it that is under way serves as well. InputError if no document has an index.
    """
    if not index_sources(desk.engine.catalog):
        raise InputError(
            "No document of the collection has an index or glossary.",
            help="Apply a table of terms with `sextant index-table FILE --apply`.",
        )
    active = next((one for one in desk.jobs.runs(LATEST_RUNS) if one.action == "ground" and one.active), None)
    enter(desk, Message("knowledge base"))
    return active or queue_action(desk, "ground", {"again": again})


@act("reader")
def export_knowledge_base(desk: Desk, file: Path) -> int:
    """Write the grounded entries to a .json or .xlsx file; return their number."""
    return write_knowledge_base(file, knowledge_base(desk.engine))


def _remove_half_written(workspace: Path) -> None:
    """Remove half-written files of killed processes: in the workspace, its backups, and next to it."""
    remove_abandoned(workspace)
    for folder in (folders.backups(workspace), workspace.resolve().parent):
        remove_abandoned_staging(folder)


def _replaced(desk: Desk, document: str) -> DocumentRecord | None:
    """Return the document that a new version replaces; InputError for a document of the list of sources."""
    if not document:
        return None
    record = desk.engine.catalog.find_document(document)
    if code_of(record):
        raise InputError(
            "{file} came from the list of sources.",
            help="`sextant run --refresh` fetches its new version.",
            file=record.file,
        )
    return record


def _is_named(desk: Desk, name: str) -> bool:
    """Return whether a document of the collection has this source, id or file, which a title only repeats."""
    return any(name in (one.source, one.document_id, one.file) for one in desk.engine.collection.documents())


def _carry_out(desk: Desk, asked: BegunErasure) -> Erasure:
    """Take the remaining steps of an erasure, each of which may be repeated, and enter it."""
    with entered_as_begun(desk, "erase", asked.source, asked.note, asked.author):
        erased = _take_steps(desk, asked)
        # Entered before it is forgotten: killed between the two, it is finished and entered once more.
        enter(desk, asked.source, asked.note, asked.author)
        end_erasure(desk.workspace, asked)
        desk.engine.catalog.checkpoint()
    return erased


def _take_steps(desk: Desk, asked: BegunErasure) -> Erasure:
    records = desk.store.records()
    # The copies first: by what is known of the document they are found again after a kill.
    for code in _copies(desk, asked.code, asked.sha256, former=asked.former):
        _exclude(desk, records[code], asked)
    if asked.code and asked.former:
        remove_files(desk.workspace, desk.store, asked.code, asked.sha256)
    elif source_record := records.get(asked.code):
        _exclude(desk, source_record, asked)
    record: DocumentRecord | None = None
    left: list[Message] = []
    for one in desk.engine.collection.documents():
        # Encoded again meanwhile it has another key.
        if one.key == asked.key or (one.source, one.sha256) == (asked.source, asked.sha256):
            record = one
        elif not asked.former and one.is_former and one.origin == asked.source:
            # Before, since a kill leaves nothing to find it by; after, for an answer that was begun in between.
            left += _forget(desk, one.document_id, one.source, one.file, redact=asked.redact)
            desk.engine.collection.erase(one)
            left += _forget(desk, one.document_id, one.source, one.file, redact=asked.redact)
    left += _forget(desk, asked.document_id, asked.source, asked.file, redact=asked.redact)
    if record is not None:
        erased = desk.engine.collection.erase(record)
    else:
        # What it was made of is gone or going, and no longer counted.
        erased = Erasure(asked.document_id, asked.file, 0, 0, desk.engine.collection.finish_erasures())
    # Again, now that nobody finds it any more: an answer that is begun after this holds nothing of it.
    left += _forget(desk, asked.document_id, asked.source, asked.file, redact=asked.redact)
    left += (
        Message("its traces in {file}, a database that was damaged", file=_name_in(desk, path))
        for database in (catalog_file(desk.workspace), records_file(desk.workspace))
        for path in kept_aside(desk.workspace, database.name)
    )
    return replace(erased, left_behind=tuple(dict.fromkeys((*erased.left_behind, *left))))


def _exclude(desk: Desk, record: SourceRecord, asked: BegunErasure) -> None:
    """Keep a source out of every run, and remove its files and the phases' findings on them."""
    if not record.is_excluded:
        desk.store.decide(Decision(record.code, "indexing", EXCLUDED, asked.author, asked.note, now()))
    remove_kept_files(record.source, desk)
    desk.store.erase(record.code)


def _copies(desk: Desk, code: str, sha256: str, *, former: bool) -> list[str]:
    """Return the other sources outside the collection that hold a document of this source and content.

    If it is no `former` version, every file that was fetched for the source counts. So do sources found to have nearly
    its words.
    """
    files = desk.store.files()
    contents = {sha256, *(one.sha256 for one in files if code and one.code == code and not former)}
    alike = {one.code for one in files if one.sha256 in contents}
    indexed = {code_of(one) for one in desk.engine.collection.documents() if not one.is_former}
    return [
        one.code
        for one in desk.store.records().values()
        if one.code not in (code, *indexed)
        and (one.code in alike or (code and not former and one.relation and one.relation.duplicate_of == code))
    ]


# By kinds of records: what takes the document of an id and a file out of them. The tables of the catalog that hold
# documents are those of rag_engine/storage/deletion.py.
FORGETTING: Mapping[tuple[str, ...], Callable[[Desk, str, str, bool], None]] = {
    ("erased", "conversation"): lambda desk, document, file, redact: forget_in_conversations(
        desk.workspace, document, file, redact=redact
    ),
    ("comparison", "comparison cell"): lambda desk, document, *_: ComparisonStore(desk.engine.catalog).forget_document(
        document
    ),
    ("notebook",): lambda desk, document, _, redact: (
        NOTEBOOKS.change_all(desk.workspace, document, lambda one: without_document(one, document)) if redact else None
    ),
    ("test question", "run"): lambda desk, document, file, redact: (
        forget_in_evaluation(desk.engine.collection, document, file) if redact else None
    ),
}


def _forget(desk: Desk, document_id: str, source: str, file: str, *, redact: bool) -> list[Message]:
    """Remove all that repeats a document: replies, comparisons, its description, agreed values.

    Return in words what may still hold something of it, for it cannot be read.
    """
    # Whether a list that somebody looks at repeats the document is not known.
    remove_previews(desk.workspace)
    alike = (one for one in desk.engine.collection.documents() if one.document_id == document_id)
    if all(one.source == source for one in alike):
        # No document has this content any more.
        for folder in originals_aside(desk.workspace, document_id):
            shutil.rmtree(folder, ignore_errors=True)
        remove_erased(desk.workspace, desk.jobs, document_id)
        for forget_in in FORGETTING.values():
            forget_in(desk, document_id, file, redact)
    # Pages tell of documents that they are not themselves, such as by a link.
    unread = empty_cache(folders.pages(desk.workspace))
    forget_examples(desk.engine)
    desk.jobs.forget_current()
    code = source.removeprefix(FROM_LIST)
    desk.store.forget_description(code)
    forget_lines(desk.workspace, ["correction", "document"], source, code)
    kept = (one.relative_to(desk.workspace).as_posix() for one in unread)
    return [Message("its possible traces in {file}, which cannot be read", file=one) for one in kept]


def _name_in(desk: Desk, path: Path) -> str:
    return path.relative_to(desk.workspace).as_posix()


def _check_erasure(record: DocumentRecord, codes: Sequence[str], note: str) -> None:
    if not note.strip():
        raise InputError(
            "Erasing {file} excludes {code} of the list, which needs a reason.",
            help="Give a note; it is kept.",
            file=record.file,
            code=", ".join(codes),
        )
