"""Acts of an admin upon the whole workspace: backing it up, restoring a backup, repairing it.

Backups from the page are in a folder next to the workspace, which the worker writes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from ingestion import workspace as folders
from ingestion.backup.back_up import BackupMade, back_up
from ingestion.backup.read_again import ReadAgain, read_documents_again
from ingestion.backup.repair import CatalogRenewed, RecordsRenewed, renew_catalog, renew_records
from ingestion.backup.restore import Restored, restore_files
from ingestion.jobs import queue
from ingestion.jobs.queue import Run
from ingestion.operations.acts import ActingPlace, ClosedDesk, act, enter, entered_as_begun
from ingestion.operations.corrections import restore_corrections
from ingestion.operations.desk import Desk, queue_once
from ingestion.operations.documents import finish_erasures
from ingestion.records import source_store
from ingestion.records.audit import end_copied
from ingestion.records.people import known_people
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.messages import Message
from rag_engine.settings import drop_servers
from rag_engine.storage import schema

Shown = Callable[[int, int, str], None]

# All that a catalog may hold, by the rooms that declare it.
CATALOG_TABLES = (
    schema.TABLES,
    queue.TABLES,
    source_store.TABLES,
)


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """A backup in the folder next to the workspace, with its bytes and its time."""

    file: Path
    size: int
    made: str


@act("admin", "Backing up the workspace", on_first=True)
def backup(desk: ActingPlace, file: Path, *, progress: Shown = lambda *_: None) -> BackupMade:
    """Write the whole workspace to a new archive, while it remains in use.

    InputError if the file exists, or if the catalog is in a database elsewhere.
    """
    _check_catalog(desk.workspace)
    made = back_up(desk.workspace, file, progress)
    enter(desk, made.file.name)
    return made


@act("admin", "Backing up the workspace")
def queue_backup(desk: Desk) -> Run:
    """Have the worker make a backup next to the workspace; a run under way serves as well."""
    _check_catalog(desk.workspace)
    return queue_once(desk, "backup", {})


@act("admin", "Backing up the workspace")
def keep_backup(desk: ActingPlace, *, progress: Shown = lambda *_: None) -> BackupMade:
    """Make a backup next to the workspace, named by the time; WorkspaceError if there can be none."""
    folder = folders.backups(desk.workspace)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(
            "The folder of backups {folder} cannot be made: {error}.",
            help="Make it yourself for the user of the server, or run `sextant backup FILE` in its terminal.",
            folder=folder,
            error=Message(error.strerror or ""),
        ) from error
    return backup(
        desk, folder / f"{desk.workspace.resolve().name}-{datetime.now():%Y-%m-%dT%H-%M-%S}.zip", progress=progress
    )


@act("admin", "Listing backups")
def list_backups(desk: ActingPlace) -> list[KeptBackup]:
    """Return the backups in the folder beside the workspace, newest first."""
    found = [(path, path.stat()) for path in folders.backups(desk.workspace).glob("*.zip")]
    kept = [
        KeptBackup(path, one.st_size, datetime.fromtimestamp(one.st_mtime).astimezone().isoformat(timespec="seconds"))
        for path, one in found
    ]
    return sorted(kept, key=lambda one: (one.made, one.file.name), reverse=True)


@act("admin", "Downloading a backup")
def backup_bytes(desk: ActingPlace, name: str) -> bytes:
    """Return the bytes of a backup next to the workspace, by the name of its file."""
    return (folders.backups(desk.workspace) / Path(name).name).read_bytes()


@act("admin", "Deleting a backup", on_first=True)
def delete_backup(desk: ActingPlace, name: str) -> None:
    """Delete a backup next to the workspace by the name of its file; InputError if there is none."""
    found = next((one for one in list_backups(desk) if one.file.name == name), None)
    if found is None:
        raise InputError(
            "There is no backup {name}.", help="It may have been deleted already: open the tab again.", name=name
        )
    found.file.unlink(missing_ok=True)
    enter(desk, name)


@act("admin", "Restoring a backup")
def restore(desk: ActingPlace, archive: Path, *, progress: Shown = lambda *_: None) -> Restored:
    """Make the workspace of the desk from an archive; its folder is empty or not there.

    The indexes are made from the catalog and the vectors of the archive, and nothing is encoded again. An archive may
    come from a stranger: settings that name a server are not kept, and runs that had not ended are cancelled.
    """
    _check_catalog(desk.workspace)

    def finish(folder: Path, restored: Restored) -> Restored:
        place = ClosedDesk(folder, desk.person)
        # The log was copied while the backup was being made.
        end_copied(folder, "backup")
        with entered_as_begun(place, "restore", archive.name):
            missing = index(folder)
            dropped = drop_servers(folder)
            for name in dropped:
                enter(place, name, act="reset_setting")
            made = Message("made {made} of {former}", made=restored.made, former=restored.former)
            enter(place, archive.name, made)
        return replace(restored, without_vectors=missing, dropped_settings=dropped, admins=_admins(folder))

    def index(folder: Path) -> int:
        with closing(open_engine(read_config(folder, kept=False))) as engine:
            collection = engine.collection
            missing = 0
            if collection.manifest() is not None:
                damaged = collection.damaged_vectors()
                missing = sum(one.children for one in damaged) + collection.missing_vectors(damaged)
            if collection.snapshot().documents and not missing:
                collection.rebuild(lambda done, total, name: progress(done, total, f"index: {name}"))
        return missing

    return restore_files(archive, desk.workspace, CATALOG_TABLES, progress, finish)


@act("admin", "Repairing the workspace", on="catalog")
def repair_catalog(desk: ActingPlace) -> CatalogRenewed:
    """Rebuild a destroyed catalog from the log; `read_again` then gives it its texts."""
    _check_catalog(desk.workspace)
    renewed = renew_catalog(desk.workspace)
    enter(desk, Message("catalog"))
    return renewed


@act("admin", "Repairing the workspace")
def repair_records(desk: ActingPlace) -> RecordsRenewed:
    """Begin new records in the place of destroyed ones; the catalog stays as it is."""
    renewed = renew_records(desk.workspace)
    # There was nowhere to enter its beginning.
    enter(desk, Message("records"), act="repair_records")
    return renewed


@act("admin", "Repairing the workspace", on="documents")
def read_again(desk: Desk, *, progress: Shown = lambda *_: None) -> ReadAgain:
    """Read again the originals of documents whose texts the catalog lacks or has damaged, and index them.

    Interrupted erasures are finished first, and their documents are not read again.
    """
    finish_erasures(desk)
    restore_corrections(desk)
    damaged = [one.key for one in desk.engine.catalog.damaged_documents()]
    again = read_documents_again(desk.engine, damaged, progress)
    enter(desk, Message("{n} documents", n=len(again.read)))
    return again


def _admins(workspace: Path) -> tuple[str, ...]:
    try:
        return tuple(one.key for one in known_people(workspace) if one.role == "admin")
    except WorkspaceError:
        # Of a damaged file nobody has a role; whoever logs in is told.
        return ()


def _check_catalog(workspace: Path) -> None:
    if read_config(workspace, kept=False).catalog_url:
        raise InputError(
            "Sextant neither backs up nor repairs a workspace whose catalog is elsewhere (SEXTANT_CATALOG_URL).",
            help="Use the tools of that database, such as pg_dump, and copy the workspace's folder.",
        )
