"""Files that come in through the page: kept until they are in the collection."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ingestion import workspace as folders
from ingestion.file_names import file_hash, safe_name
from ingestion.jobs.queue import Job, JobQueue
from rag_engine.atomic_write import replacing
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.workspace import is_inside

_SETTLED = ("indexed", "unchanged", "refused")


def keep_upload(workspace: Path, name: str, data: IO[bytes], *, to_add: bool = True) -> Path:
    """Where the upload was written, in portions; visible under its name only when it is whole.

    It has a separate folder, so that two people may upload different files of one name. One that is not `to_add` is
    only looked at.
    """
    folder = (folders.uploads if to_add else folders.previews)(workspace) / secrets.token_hex(8)
    folder.mkdir(parents=True)
    path = folder / safe_name(name)
    with replacing(path) as temporary, temporary.open("wb") as file:
        shutil.copyfileobj(data, file, 1 << 20)
    return path


def remove_previews(workspace: Path) -> None:
    """Remove the previews of files; a page that still shows one makes it again from the upload."""
    shutil.rmtree(folders.previews(workspace), ignore_errors=True)


def upload_name(workspace: Path, path: str) -> str:
    """Return an upload as FOLDER/NAME, the name by which results know it; any other path as it is.

    >>> upload_name(Path("workspace"), "workspace/uploads/1f0c/plan.pdf")
    '1f0c/plan.pdf'
    """
    return "/".join(Path(path).parts[-2:]) if is_upload(workspace, path) else path


def is_upload(workspace: Path, path: str) -> bool:
    """Whether the path is that of an upload kept in the workspace."""
    folder = Path(path).parent
    return folder.parent == folders.uploads(workspace) and is_inside(folder.parent, folder)


def remove_finished(workspace: Path, job: Job) -> None:
    """Remove the uploads of a finished job that the collection holds or that can never be read."""
    for path in _uploads(workspace, job):
        if upload_name(workspace, path) in _finished(job):
            shutil.rmtree(Path(path).parent, ignore_errors=True)


def remove_leftovers(workspace: Path, jobs: JobQueue) -> None:
    """Remove leftovers of a worker that was killed after a job."""
    folder = folders.uploads(workspace)
    if folder.is_dir() and any(folder.iterdir()):
        for job in jobs.finished():
            remove_finished(workspace, job)


def remove_erased(workspace: Path, jobs: JobQueue, document_id: str) -> None:
    """Remove the uploads of a document's content that no unfinished job is to add.

    Without this, an upload that could not be added would stay.
    """
    awaited = {path for job in jobs.unfinished() for path in _uploads(workspace, job)}
    for path in folders.uploads(workspace).glob("*/*"):
        left = str(path) not in awaited and is_upload(workspace, str(path)) and path.is_file()
        if left and file_hash(path).startswith(document_id):
            shutil.rmtree(path.parent, ignore_errors=True)


def kept_uploads(workspace: Path, job: Job) -> Message:
    """Return a sentence on the uploads that stay in the workspace after the job, for the person.

    Empty when there are none.
    """
    kept = [Path(path) for path in _uploads(workspace, job) if upload_name(workspace, path) not in _finished(job)]
    names = ", ".join(path.name for path in kept if path.exists())
    if not names:
        return NO_MESSAGE
    return Message(
        "Kept in {folder}, since they are not in the collection: {names}.",
        folder=folders.uploads(workspace),
        names=names,
    )


def _uploads(workspace: Path, job: Job) -> Iterator[str]:
    return (path for path in job.arguments.get("paths", ()) if is_upload(workspace, path))


def _finished(job: Job) -> set[str]:
    return {str(result["path"]) for result in job.results if result.get("status") in _SETTLED}
