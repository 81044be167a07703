"""Acts of an admin upon the whole workspace: backing it up, restoring a backup as a new one, and repairing it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ingestion.backup.back_up import BackupMade, back_up
from ingestion.backup.bring_back import CatalogBroughtBack, bring_back_catalog
from ingestion.backup.read_again import ReadAgain, read_documents_again
from ingestion.backup.restore import Restored, restore_files
from ingestion.operations.acts import ActingPlace, ClosedDesk, act, enter, entered_as_begun
from ingestion.operations.corrections import restore_corrections
from ingestion.operations.desk import Desk
from ingestion.operations.documents import finish_erasures
from ingestion.records.audit import end_copied
from rag_engine.backends.sqlite_copy import keep_records
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.errors import InputError

Shown = Callable[[int, int, str], None]


@act
def backup(desk: ActingPlace, file: Path, *, progress: Shown = lambda *_: None) -> BackupMade:
    """Write everything that the workspace holds to a new archive, while it goes on being used.

    InputError where the file is there already, and where the catalog is in a database elsewhere.
    """
    _check_catalog(desk.workspace, "backed up")
    made = back_up(desk.workspace, file, progress)
    enter(desk, "backup", made.file.name)
    return made


@act
def restore(desk: ActingPlace, archive: Path, *, progress: Shown = lambda *_: None) -> Restored:
    """Make the workspace of the desk from an archive; its folder is empty or not there.

    The indexes are made from the catalog and the vectors of the archive, and nothing is encoded again.
    """
    _check_catalog(desk.workspace, "restored")

    def finish(folder: Path, restored: Restored) -> Restored:
        place = ClosedDesk(folder, desk.person)
        # The log was copied while the backup was being made.
        end_copied(folder, "backup")
        with entered_as_begun(place, "restore", archive.name):
            missing = index(folder)
            enter(place, "restore", archive.name, f"made {restored.made} of {restored.former}")
        return replace(restored, without_vectors=missing)

    def index(folder: Path) -> int:
        with closing(open_engine(read_config(folder, kept=False))) as engine:
            collection = engine.collection
            missing = 0
            if collection.manifest() is not None:
                damaged = sum(one.children for one in collection.damaged_vectors())
                missing = collection.missing_vectors() + damaged
            if collection.snapshot().documents and not missing:
                collection.rebuild(lambda done, total, name: progress(done, total, f"index: {name}"))
        return missing

    return restore_files(archive, desk.workspace, progress, finish)


@act
def bring_back(desk: ActingPlace) -> CatalogBroughtBack:
    """Put the second copy of the catalog in its place where it was destroyed; `read_again` then gives it its texts."""
    _check_catalog(desk.workspace, "repaired")
    brought = bring_back_catalog(desk.workspace)
    enter(desk, "bring_back", "catalog", f"as of {brought.as_of}")
    return brought


@act
def take_up_journal(desk: Desk) -> int:
    """Take over from the journal what people said and the catalog lacks, as after `bring_back`; return how much."""
    taken = desk.store.take_from_journal()
    restore_corrections(desk, {one.code for one in desk.store.corrections()})
    enter(desk, "take_up_journal", f"{taken} decisions and corrections")
    return taken


@act
def read_again(desk: Desk, *, progress: Shown = lambda *_: None) -> ReadAgain:
    """Read again the originals of documents whose texts the catalog lacks or has damaged, and index them.

    What was being erased is erased first, and not read again.
    """
    finish_erasures(desk)
    damaged = [one.key for one in desk.engine.catalog.damaged_documents()]
    again = read_documents_again(desk.engine, damaged, progress)
    enter(desk, "read_again", f"{len(again.read)} documents")
    return again


@act
def complete_records(desk: Desk) -> int:
    """Have the journal hold all that people said, and the second copy all of it; return how much the journal lacked."""
    lacking = desk.store.complete_journal()
    keep_records(desk.workspace)
    return lacking


def _check_catalog(workspace: Path, what: str) -> None:
    if read_config(workspace, kept=False).catalog_url:
        raise InputError(
            f"A workspace whose catalog is in a database of its own (SEXTANT_CATALOG_URL) is not {what} by Sextant.",
            help="Use the tools of that database, such as pg_dump, and copy the workspace's folder.",
        )
