"""Acts of a person: one function for each thing that may be asked of a workspace, the same for every door.

Each validates what it is given, does what must follow, and returns what was done. An act whose work is long puts it
in the job queue and returns the run; the worker carries it out by the same functions.
"""

from __future__ import annotations

import getpass
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Literal

from ingestion.add_files import Added, add_paths
from ingestion.book_index import apply as book_index
from ingestion.config import read_ingestion_config, user_name
from ingestion.dataset.allowed_values import CONTROLLED
from ingestion.dataset.answer_sheets import of_present
from ingestion.dataset.answer_store import AnsweredForm, AnswerStore
from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.dataset.export import Exported, export
from ingestion.dataset.knowledge_base import knowledge_base, write_knowledge_base
from ingestion.indexing.phase import code_of, is_former
from ingestion.jobs.plain_language import Command, interpret
from ingestion.jobs.process import ensure_worker
from ingestion.jobs.queue import JobQueue, Run, RunStatus
from ingestion.jobs.uploads import keep_upload, kept_uploads
from ingestion.metadata.taxonomy import load_taxonomy
from ingestion.records.quarantine import remove_files
from ingestion.records.source_record import EXCLUDED, Correction, Decision, SourceRecord
from ingestion.records.source_store import SourceStore, now
from ingestion.seeds.discover import discover
from ingestion.seeds.merge import SeedReport
from ingestion.seeds.read import read_seeds
from ingestion.seeds.urls import addresses_in
from ingestion.status.document_fields import changed_fields
from ingestion.tools import open_reader, open_web
from ingestion.types import PHASES, FieldName, Phase, Progress, RunRequest, SeedSource, check_phases
from ingestion.web.urls import normal_url
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.storage.deletion import Erasure
from rag_engine.storage.index_entries import index_sources
from rag_engine.types import DocumentRecord

_LICENCE_STATUSES = ("GREEN", "RED")
# Rejected there, a source has no file that could pass.
_WITHOUT_FILE: tuple[Phase, ...] = ("acquisition", "portals")
_LISTED = "`sextant seeds list` lists the codes."
# Among so many runs an equal one is looked for.
_LATEST = 100
# One call of a discovery may take so long, and all of them together.
_CALL_SECONDS, _DISCOVERY_SECONDS = 20.0, 60.0

Control = Literal["pause", "resume", "cancel"]
_CONTROLLABLE: Mapping[Control, tuple[RunStatus, ...]] = {
    "pause": ("running", "queued"),
    "resume": ("paused", "running"),
    "cancel": ("running", "queued", "paused"),
}


@dataclass(frozen=True, slots=True)
class Desk:
    """An opened workspace as the acts need it: its engine, its sources, its job queue and the way to a worker."""

    engine: Engine
    store: SourceStore
    jobs: JobQueue
    start_worker: Callable[[Path], None] = ensure_worker

    @property
    def workspace(self) -> Path:
        """Folder of the workspace."""
        return self.engine.config.workspace


@dataclass(frozen=True, slots=True)
class Decided:
    """Sources that a person decided on; `run` takes those that may no longer answer out of the index."""

    codes: tuple[str, ...]
    choice: str
    run: Run | None


@dataclass(frozen=True, slots=True)
class Removed:
    """Sources taken off the list; `left` were found under them and stay, `run` takes documents out of the index."""

    codes: tuple[str, ...]
    left: tuple[str, ...]
    run: Run | None


def open_desk(engine: Engine) -> Desk:
    """Return the workspace of the engine, ready for acts."""
    return Desk(engine, SourceStore(engine.catalog), JobQueue(engine.catalog))


def system_user() -> str:
    """Return who works here, from SEXTANT_USER or the system; "" where a container has a number without a name."""
    try:
        return user_name() or getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


# --- documents


def add_files(
    desk: Desk,
    files: Sequence[Path],
    *,
    replaces: str = "",
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Added]:
    """Index files and folders now; return what became of each file.

    A file that `replaces` a document becomes its new version; else it is a document of its own, unless one was added
    from the same path before.
    """
    former = _replaced(desk, replaces)
    return add_paths(files, desk.engine, replaces=former, progress=progress, cancelled=cancelled)


def queue_files(desk: Desk, files: Sequence[Path], *, replaces: str = "") -> Run:
    """Have the worker index files and folders, as `add_files` does."""
    former = _replaced(desk, replaces)
    arguments: dict[str, object] = {"paths": [str(path) for path in files]}
    return queue_action(desk, "add", arguments | ({"replaces": former.source} if former else {}))


def queue_uploads(desk: Desk, files: Sequence[tuple[str, IO[bytes]]], *, replaces: str = "") -> Run:
    """Keep named files in the workspace and have the worker index them."""
    return queue_files(desk, [keep_upload(desk.workspace, name, data) for name, data in files], replaces=replaces)


def preview_upload(desk: Desk, name: str, data: IO[bytes]) -> Path:
    """Keep a file in the workspace while a person looks at what is in it; `discard_upload` removes it."""
    return keep_upload(desk.workspace, name, data)


def discard_upload(file: Path) -> None:
    """Remove a file that `preview_upload` kept."""
    shutil.rmtree(file.parent, ignore_errors=True)


def add_sample(desk: Desk, folder: Path) -> bool:
    """Have the sample collection indexed; return False for a workspace that has documents or had the sample."""
    arguments = {"paths": [str(folder)]}
    status = next((run.status for run in desk.jobs.runs() if run.arguments == arguments), None)
    if status == "done" or desk.engine.collection.documents():
        return False
    if status not in ("queued", "running"):
        desk.jobs.queue("add", arguments)
    desk.start_worker(desk.workspace)
    return True


def erase(desk: Desk, document: str, author: str = "", note: str = "") -> Erasure:
    """Remove a document, named by id, file, title or source, everywhere and for good.

    A document of the list is excluded first, so that no run brings it back; its downloads, its former versions and
    what the phases learnt of it are removed with it. A former version goes alone.
    """
    record = desk.engine.catalog.find_document(document)
    source_record = _listed(desk, record)
    if is_former(record):
        remove_files(desk.workspace, desk.store, code_of(record), record.sha256)
    if source_record is not None:
        _check_erasure(record, source_record, author, note)
        code = source_record.source.code
        desk.store.decide(Decision(code, "indexing", EXCLUDED, author.strip(), note.strip(), now()))
        remove_files(desk.workspace, desk.store, code)
        upload = Path(source_record.source.path)
        if source_record.source.path and upload.is_relative_to(_own_files(desk)):
            shutil.rmtree(upload.parent, ignore_errors=True)
        desk.store.erase(code, PHASES[PHASES.index("acquisition") :])
        for former in [one for one in desk.engine.collection.documents() if is_former(one) and code_of(one) == code]:
            _erase_record(desk, former)
    return _erase_record(desk, record)


def queue_erasure(desk: Desk, document: str, author: str = "", note: str = "") -> Run:
    """Have the worker remove a document everywhere and for good."""
    record = desk.engine.catalog.find_document(document)
    source_record = _listed(desk, record)
    if source_record is not None:
        _check_erasure(record, source_record, author, note)
    return queue_action(desk, "erase", {"document_id": record.source, "author": author.strip(), "note": note.strip()})


def is_listed(desk: Desk, record: DocumentRecord) -> bool:
    """Return whether the document came from the list of sources, so that erasing it is a decision."""
    return _listed(desk, record) is not None


def apply_index_table(desk: Desk, file: Path, document: str = "") -> book_index.Applied:
    """Have an index in a file lead to the passages of the documents that it names."""
    with open_reader(desk.engine.config.ocr) as reader:
        return book_index.apply_index(file, desk.engine, reader, document=document)


def remove_index_table(desk: Desk, name: str) -> int:
    """Undo `apply_index_table` for a file of this name; return the number of documents concerned."""
    return book_index.remove_index(name, desk.engine)


def ground(desk: Desk, *, again: bool = False) -> Run:
    """Have the worker ground the entries of all indexes that are new or changed, all with `again`.

    A run of it that is under way serves as well. InputError where no document has an index.
    """
    if not index_sources(desk.engine.catalog):
        raise InputError(
            "No document of the collection has an index or glossary.",
            help="Apply a table of terms with `sextant index-table FILE --apply`.",
        )
    active = next((one for one in desk.jobs.runs(_LATEST) if one.action == "ground" and one.active), None)
    return active or queue_action(desk, "ground", {"again": again})


def export_knowledge_base(desk: Desk, file: Path) -> int:
    """Write the grounded entries to a .json or .xlsx file; return their number."""
    return write_knowledge_base(file, knowledge_base(desk.engine))


# --- sources


def read_list(desk: Desk, file: Path) -> SeedReport:
    """Return what a list of sources or a folder of files would add; nothing is added."""
    return read_seeds(file, desk.store.sources())


def add_list(desk: Desk, file: Path) -> SeedReport:
    """Put what is new in a list of sources, or the files of a folder, on the list; return what was read."""
    report = read_list(desk, file)
    add_sources(desk, report.new, report.corrected)
    return report


def add_sources(desk: Desk, new: Sequence[SeedSource], corrected: Sequence[SeedSource] = ()) -> None:
    """Put sources on the list, and give those that are `corrected` their new addresses.

    InputError where somebody else has just given the codes of new ones to others.
    """
    desk.store.correct_addresses(corrected)
    lost = len(new) - desk.store.add(new)
    if lost:
        raise InputError(
            f"{lost} of {len(new)} sources were not added: their codes were given to others at the same moment.",
            help="Add the list again; these rows get other codes.",
        )


def correct_address(desk: Desk, code: str, address: str, author: str) -> SourceRecord:
    """Give a source its right address and return it; the next run begins there.

    InputError for an address that cannot be fetched or is another source's, and for what no list gave an address.
    """
    _require_author(author)
    check_codes(desk.store, [code])
    before = desk.store.records()[code].source
    if before.parent or not before.url:
        raise InputError(
            f"{code} has no address of its own: it was found under {before.parent}."
            if before.parent
            else f"{code} is a file.",
            help="Put the right address on the list as a new source.",
        )
    read = addresses_in(address)
    if read.refused or len(read.found) != 1:
        why = read.refused[0] if read.refused else f"“{address[:80]}” is not one web address"
        raise InputError(f"{why}.", help="Give one address that begins with http:// or https://.")
    [url] = read.found
    known = {normal_url(source.url): source.code for source in desk.store.sources() if source.url}
    if known.get(normal_url(url), code) != code:
        raise InputError(f"{url} is the address of {known[normal_url(url)]}.", help="Remove one of the two.")
    desk.store.correct_addresses([replace(before, url=url)], author.strip())
    return desk.store.records()[code]


def add_own_files(desk: Desk, files: Sequence[tuple[str, IO[bytes]]]) -> SeedReport:
    """Keep named files in the workspace and put them on the list; those that cannot be read are not kept."""
    folder = _own_files(desk)
    folder.mkdir(exist_ok=True)
    kept = [keep_upload(desk.workspace, name, data).parent for name, data in files]
    # With its folder, so that two files of one name both stay.
    names = {one.replace(folder / one.name).name for one in kept}
    report = read_list(desk, folder)
    # Others may be adding files in this moment.
    new = tuple(one for one in report.new if Path(one.path).relative_to(folder.absolute()).parts[0] in names)
    rejected = tuple(one for one in report.rejected if Path(one.place).parts[0] in names)
    for one in rejected:
        shutil.rmtree(folder / Path(one.place).parts[0], ignore_errors=True)
    add_sources(desk, new)
    return replace(report, new=new, rejected=rejected)


def discover_sources(desk: Desk, address: str, contains: Sequence[str] = ()) -> SeedReport:
    """Return the sources that an address proposes, found within a minute; nothing is added.

    InputError where the lists of its site hold no other address than the page itself.
    """
    config = read_ingestion_config()
    with open_web(replace(config, web=replace(config.web, total_seconds=_CALL_SECONDS, tries=1))) as opened:
        # Closing ends the call that is under way and refuses the later ones.
        limit = threading.Timer(_DISCOVERY_SECONDS, opened.close)
        limit.daemon = True
        limit.start()
        try:
            report = discover(address, opened, desk.store.sources(), contains=tuple(contains))
        finally:
            limit.cancel()
    _check_leads_elsewhere(address, report, desk.store)
    return report


def remove_sources(desk: Desk, codes: Sequence[str], author: str) -> Removed:
    """Take sources off the list, and their documents out of the index at once."""
    _require_author(author)
    removed = check_codes(desk.store, codes)
    indexed = any(is_indexed(desk.store, code) for code in removed)
    desk.store.remove(removed, author.strip())
    left = tuple(one.code for one in desk.store.sources() if one.parent in removed)
    return Removed(removed, left, _run(desk, RunRequest(("indexing",), removed)) if indexed else None)


def check_codes(store: SourceStore, codes: Sequence[str]) -> tuple[str, ...]:
    """Return the codes, once each; InputError names those of no source."""
    known = {source.code for source in store.sources()}
    unknown = list(dict.fromkeys(code for code in codes if code not in known))
    if unknown:
        raise InputError(f"No source has the code {', '.join(unknown)}.", help=_LISTED)
    return tuple(dict.fromkeys(codes))


# --- decisions and corrections


def decide(desk: Desk, codes: Sequence[str], choice: str, author: str, note: str = "") -> Decided:
    """Record a decision on sources: GREEN or RED on the licence, "restore" for what was rejected or erased, "undo".

    All but "undo" need a note. Documents that may no longer answer leave the index at once.
    """
    chosen = choice.strip().upper() if choice.strip().upper() in _LICENCE_STATUSES else choice.strip().lower()
    if chosen not in (*_LICENCE_STATUSES, "restore", "undo"):
        raise InputError(f"{choice!r} is no decision.", help="Decide GREEN, RED, restore or undo.")
    if chosen != "undo" and not note.strip():
        raise InputError(f"{chosen} on {', '.join(codes[:5])} needs a reason.", help="Give a note; it is kept.")
    _require_author(author)
    records = desk.store.records()
    decided = check_codes(desk.store, codes)
    # All before the first is recorded: all are decided or none.
    made = [one for code in decided for one in _decisions(records[code], chosen, author.strip(), note.strip())]
    for decision in made:
        _record_decision(desk.store, decision, records[decision.code])
    after = desk.store.records()
    leaving = tuple(code for code in decided if _must_leave(desk.store, after[code]))
    return Decided(decided, chosen, _run(desk, RunRequest(("indexing",), leaving)) if leaving else None)


def is_indexed(store: SourceStore, code: str) -> bool:
    """Return whether the source's document is in the index; after a failure of indexing it may be."""
    entry = store.entries().get((code, "indexing"))
    return entry is not None and entry.outcome.status in ("done", "failed")


def correct(
    desk: Desk, values: Mapping[str, Mapping[FieldName, Sequence[str]]], author: str, note: str = ""
) -> tuple[Correction, ...]:
    """Record a person's values for fields of documents by code, all or none of them; return what changed.

    They win over every extractor.
    """
    _require_author(author)
    records, labels = desk.store.records(), vocabulary()
    changed = [
        correction
        for code in check_codes(desk.store, list(values))
        for correction in changed_fields(records[code], values[code], author.strip(), labels, note.strip())
    ]
    desk.store.correct(changed)
    return tuple(changed)


def undo_correction(desk: Desk, code: str, field: FieldName, author: str) -> None:
    """Give a field the extractor's value again."""
    _require_author(author)
    check_codes(desk.store, [code])
    desk.store.undo_correction(code, field, author.strip())


def read_edited(desk: Desk, file: Path, author: str) -> CorrectionReport:
    """Return what a person changed in an exported workbook; nothing is recorded."""
    return read_corrections(file, list(desk.store.records().values()), author.strip(), now(), vocabulary())


def import_corrections(desk: Desk, file: Path, author: str) -> CorrectionReport:
    """Record what a person changed and decided in an exported workbook; return what was read."""
    _require_author(author)
    report = read_edited(desk, file, author)
    desk.store.correct(report.corrections)
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


def export_dataset(desk: Desk, file: Path) -> Exported:
    """Write the dataset to a file, in the format of its suffix."""
    return export(file, list(desk.store.records().values()), workspace=desk.workspace, answers=answered_forms(desk))


def exported_bytes(desk: Desk, suffix: str) -> bytes:
    """Return the dataset in the format of the suffix, without links to files of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"dataset{suffix}"
        export(file, list(desk.store.records().values()), answers=answered_forms(desk))
        return file.read_bytes()


def answered_forms(desk: Desk) -> list[AnsweredForm]:
    """Return the questions that were asked of each document, with the replies of those that the collection has."""
    present = [record.document_id for record in desk.engine.collection.documents()]
    return of_present(AnswerStore(desk.engine.catalog).forms(), present)


# --- runs


def run(desk: Desk, request: RunRequest) -> Run:
    """Have the worker take sources through phases; InputError for a phase or code that there is not."""
    codes, without = (check_codes(desk.store, codes) for codes in (request.codes, request.without))
    return _run(desk, replace(request, codes=codes, without=without))


def control(desk: Desk, what: Control, id: int = 0) -> Run:
    """Pause, resume or cancel a run, by its number or the latest that it applies to; return the run after it."""
    run = _choose(desk.jobs, id, _CONTROLLABLE[what])
    if what == "pause":
        desk.jobs.pause(run.id)
    elif what == "cancel":
        desk.jobs.cancel(run.id, kept_uploads(desk.workspace, run))
    else:
        desk.jobs.resume(run.id)
        desk.start_worker(desk.workspace)
    return desk.jobs.find(run.id) or run


def understand(desk: Desk, words: str) -> Command | None:
    """Return the request that words ask for, to be confirmed and run; None where they are not understood."""
    language_model, _ = desk.engine.language_model()
    return interpret(words, [source.code for source in desk.store.sources()], language_model)


# --- what the acts have in common


def _run(desk: Desk, request: RunRequest) -> Run:
    """Queue a run, also for codes that were just removed and must leave the index; an equal one serves as well.

    A run that a killed client asked for goes on without it. One that has begun serves only while nobody has changed
    anything since, for it may have passed what was changed.
    """
    request = replace(request, phases=check_phases(request.phases))
    for one in desk.jobs.runs(_LATEST):
        same = one.action == "run" and one.active and not one.signal and one.request == request
        if same and (one.status == "queued" or not desk.store.changed_since(one.started)):
            desk.start_worker(desk.workspace)
            return one
    return queue_action(desk, "run", asdict(request))


def queue_action(desk: Desk, action: str, arguments: Mapping[str, object]) -> Run:
    """Have the worker carry out an action that is not under way."""
    id = desk.jobs.queue(action, arguments)
    desk.start_worker(desk.workspace)
    queued = desk.jobs.find(id)
    assert queued is not None, "runs stay in the queue"
    return queued


def _require_author(author: str) -> None:
    if not author.strip():
        raise InputError("A decision needs the name of who decides.", help="Give your name; it is kept.")


def _replaced(desk: Desk, document: str) -> DocumentRecord | None:
    """Return the document that a new version replaces; InputError for one of the list, which a run replaces."""
    if not document:
        return None
    record = desk.engine.catalog.find_document(document)
    if code_of(record):
        raise InputError(
            f"{record.file} came from the list of sources.",
            help="`sextant run --refresh` fetches its new version.",
        )
    return record


def _erase_record(desk: Desk, record: DocumentRecord) -> Erasure:
    AnswerStore(desk.engine.catalog).forget_documents([record.document_id])
    return desk.engine.collection.erase(record)


def _own_files(desk: Desk) -> Path:
    return desk.workspace / "sources"


def _listed(desk: Desk, record: DocumentRecord) -> SourceRecord | None:
    return None if is_former(record) else desk.store.records().get(code_of(record))


def _check_erasure(record: DocumentRecord, source_record: SourceRecord, author: str, note: str) -> None:
    _require_author(author)
    if not note.strip():
        raise InputError(
            f"Erasing {record.file} excludes {source_record.source.code} of the list, which needs a reason.",
            help="Give a note; it is kept.",
        )


def _check_leads_elsewhere(address: str, report: SeedReport, store: SourceStore) -> None:
    here = normal_url(address)
    known = any(normal_url(source.url) == here for source in store.sources())
    found = {normal_url(source.url) for source in report.new}
    if (found or report.known) and found <= {here} and report.known <= known and not report.rejected:
        raise InputError(
            f"{address} leads to no other address: the feeds and sitemaps of its site hold nothing but this address.",
            help="Give the address of a sitemap or feed, or add the page itself as a seed of a portal.",
        )


def _decisions(record: SourceRecord, choice: str, author: str, note: str) -> list[Decision]:
    """Return the decisions that a choice makes; one with an empty choice undoes that of its phase."""
    code = record.source.code
    if choice == "undo":
        return [Decision(code, one.phase, "", author, note, now()) for one in record.decisions]
    if choice == "restore":
        return [Decision(code, *_restored(record), author, note, now())]
    return [Decision(code, "licence", choice, author, note, now())]


def _restored(record: SourceRecord) -> tuple[Phase, str]:
    """Return the phase and choice of a restoration; InputError where nothing can be restored."""
    code, at = record.source.code, record.stopped
    if record.is_excluded:
        return "indexing", ""
    if at is None or at[1].status != "rejected":
        raise InputError(f"{code} is not rejected.", help=f"`sextant status {code}` shows its status.")
    if at[0] == "licence":
        raise InputError(f"{code} was stopped for its licence.", help="Decide GREEN or RED instead.")
    if at[0] in _WITHOUT_FILE:
        raise InputError(f"{code} was rejected at {at[0]}: there is no file to restore.", help="Run `sextant retry`.")
    return at[0], "restore"


def _record_decision(store: SourceStore, decision: Decision, before: SourceRecord) -> None:
    store.decide(decision)
    if not decision.choice and any(one.choice == EXCLUDED and one.phase == decision.phase for one in before.decisions):
        # Its file is gone and is fetched again.
        store.forget(decision.code, ("acquisition",))


def _must_leave(store: SourceStore, record: SourceRecord) -> bool:
    return is_indexed(store, record.source.code) and record.stopped is not None and record.stopped[1].status != "failed"


def _choose(jobs: JobQueue, id: int, statuses: Sequence[RunStatus]) -> Run:
    """Return the run of this number, or the latest in the first of these statuses that any run is in."""
    latest = jobs.runs(100)
    in_order = (one for status in statuses for one in latest if one.status == status)
    found = jobs.find(id) if id else next(in_order, None)
    names = " or ".join(statuses)
    if found is None:
        raise InputError(f"There is no run {id}." if id else f"No run is {names}.", help="`sextant runs` lists them.")
    if found.status not in statuses:
        raise InputError(f"Run {found.id} is {found.status}, not {names}.", help="`sextant runs` lists them.")
    return found
