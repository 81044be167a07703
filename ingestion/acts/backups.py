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
from ingestion.acts.context import ActContext, queue_once
from ingestion.acts.corrections import restore_corrections
from ingestion.acts.documents import finish_erasures
from ingestion.acts.register import ActingPlace, ClosedContext, act, enter, entered_as_begun
from ingestion.backup.backup import BackupMade, back_up
from ingestion.backup.repair import (
    CatalogRenewed,
    ReadAgain,
    RecordsRenewed,
    read_documents_again,
    renew_catalog,
    renew_records,
)
from ingestion.backup.restore import Restored, restore_files
from ingestion.jobs import queue
from ingestion.jobs.queue import Job
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
def backup(context: ActingPlace, file: Path, *, progress: Shown = lambda *_: None) -> BackupMade:
    """Write the whole workspace to a new archive, while it remains in use.

    InputError if the file exists, or if the catalog is in a database elsewhere.
    """
    _check_catalog(context.workspace)
    made = back_up(context.workspace, file, progress)
    enter(context, made.file.name)
    return made


@act("admin", "Backing up the workspace")
def queue_backup(context: ActContext) -> Job:
    """Have the worker make a backup next to the workspace; a job under way serves as well."""
    _check_catalog(context.workspace)
    return queue_once(context, "backup", {})


@act("admin", "Backing up the workspace")
def keep_backup(context: ActingPlace, *, progress: Shown = lambda *_: None) -> BackupMade:
    """Make a backup next to the workspace, named by the time; WorkspaceError if there can be none."""
    folder = folders.backups(context.workspace)
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
        context,
        folder / f"{context.workspace.resolve().name}-{datetime.now():%Y-%m-%dT%H-%M-%S}.zip",
        progress=progress,
    )


@act("admin", "Listing backups")
def list_backups(context: ActingPlace) -> list[KeptBackup]:
    """Return the backups in the folder beside the workspace, newest first."""
    found = [(path, path.stat()) for path in folders.backups(context.workspace).glob("*.zip")]
    kept = [
        KeptBackup(path, one.st_size, datetime.fromtimestamp(one.st_mtime).astimezone().isoformat(timespec="seconds"))
        for path, one in found
    ]
    return sorted(kept, key=lambda one: (one.made, one.file.name), reverse=True)


@act("admin", "Downloading a backup")
def backup_bytes(context: ActingPlace, name: str) -> bytes:
    """Return the bytes of a backup next to the workspace, by the name of its file."""
    return (folders.backups(context.workspace) / Path(name).name).read_bytes()


@act("admin", "Deleting a backup", on_first=True)
def delete_backup(context: ActingPlace, name: str) -> None:
    """Delete a backup next to the workspace by the name of its file; InputError if there is none."""
    found = next((one for one in list_backups(context) if one.file.name == name), None)
    if found is None:
        raise InputError(
            "There is no backup {name}.", help="It may have been deleted already: open the tab again.", name=name
        )
    found.file.unlink(missing_ok=True)
    enter(context, name)


@act("admin", "Restoring a backup")
def restore(context: ActingPlace, archive: Path, *, progress: Shown = lambda *_: None) -> Restored:
    """Make the workspace of the context from an archive; its folder is empty or not there.

    The indexes are made from the catalog and the vectors of the archive, and nothing is encoded again. An archive may
    come from a stranger: settings that name a server are not kept, and jobs that had not ended are cancelled.
    """
    _check_catalog(context.workspace)

    def finish(folder: Path, restored: Restored) -> Restored:
        place = ClosedContext(folder, context.person)
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
                missing = sum(document.children for document in damaged) + collection.missing_vectors(damaged)
            if collection.snapshot().documents and not missing:
                engine.generations.rebuild(lambda done, total, name: progress(done, total, f"index: {name}"))
        return missing

    return restore_files(archive, context.workspace, CATALOG_TABLES, progress, finish)


@act("admin", "Repairing the workspace", on="catalog")
def repair_catalog(context: ActingPlace) -> CatalogRenewed:
    """Rebuild a destroyed catalog from the log; `read_again` then gives it its texts."""
    _check_catalog(context.workspace)
    renewed = renew_catalog(context.workspace)
    enter(context, Message("catalog"))
    return renewed


@act("admin", "Repairing the workspace")
def repair_records(context: ActingPlace) -> RecordsRenewed:
    """Begin new records in the place of destroyed ones; the catalog stays as it is."""
    renewed = renew_records(context.workspace)
    # There was nowhere to enter its beginning.
    enter(context, Message("records"), act="repair_records")
    return renewed


@act("admin", "Repairing the workspace", on="documents")
def read_again(context: ActContext, *, progress: Shown = lambda *_: None) -> ReadAgain:
    """Read again the originals of documents whose texts the catalog lacks or has damaged, and index them.

    Interrupted erasures are finished first, and their documents are not read again.
    """
    finish_erasures(context)
    restore_corrections(context)
    damaged = [document.key for document in context.engine.catalog.damaged_documents()]
    again = read_documents_again(context.engine, damaged, progress)
    enter(context, Message("{n} documents", n=len(again.read)))
    return again


def _admins(workspace: Path) -> tuple[str, ...]:
    try:
        return tuple(person.key for person in known_people(workspace) if person.role == "admin")
    except WorkspaceError:
        # Of a damaged file nobody has a role; whoever logs in is told.
        return ()


def _check_catalog(workspace: Path) -> None:
    if read_config(workspace, kept=False).catalog_url:
        raise InputError(
            "Sextant neither backs up nor repairs a workspace whose catalog is elsewhere (SEXTANT_CATALOG_URL).",
            help="Use the tools of that database, such as pg_dump, and copy the workspace's folder.",
        )
