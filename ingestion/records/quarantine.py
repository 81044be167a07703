"""Quarantine of downloaded files: files of a source that does not pass are kept apart.

Nothing is deleted: a file moves to quarantine with its source's refusal and back when that is lifted.
"""

from __future__ import annotations

from pathlib import Path

from ingestion import workspace as folders
from ingestion.extraction.text_cache import forget_reading
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.types.source import Download
from rag_engine.workspace import inside

# Phases that refuse a source without a file of it.
_WITHOUT_FILE = ("acquisition", "portals")


def file_of(workspace: Path, download: Download) -> Path | None:
    """Return the downloaded file, wherever it is; None if it is gone or there never was one."""
    return next((path for path in _paths_of(workspace, download.path) if path.is_file()), None)


def sort_file(workspace: Path, record: SourceRecord) -> None:
    """Move the source's file to where its outcomes say that it belongs."""
    download = record.download
    if download is None or not download.path:
        return
    usual, apart = _paths_of(workspace, download.path)
    stopped = record.stopped
    refused = stopped is not None and stopped[0] not in _WITHOUT_FILE and stopped[1].status in ("refused", "skipped")
    if refused and stopped is not None and stopped[0] in ("licence", "extraction"):
        # Of a document that may not be used nothing is kept that was made from it.
        forget_reading(folders.readings(workspace), download.sha256)
    source, target = (usual, apart) if refused else (apart, usual)
    if source.is_file() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)


def remove_files(workspace: Path, store: SourceStore, code: str, sha256: str = "") -> None:
    """Remove every file that was fetched for the source (with this hash), with its extracted text.

    A file that another source shares stays: by its path, and a text by its content.
    """
    files = store.files()
    others = [file for file in files if file.code != code]
    shared = {file.path for file in others}, {file.sha256 for file in others}
    for file in files:
        if file.code != code or sha256 not in ("", file.sha256):
            continue
        if file.sha256 not in shared[1]:
            forget_reading(folders.readings(workspace), file.sha256)
        if file.path not in shared[0]:
            for path in _paths_of(workspace, file.path):
                path.unlink(missing_ok=True)


def remove_file(workspace: Path, download: Download) -> None:
    """Remove the file from both places."""
    for path in _paths_of(workspace, download.path):
        path.unlink(missing_ok=True)


def _paths_of(workspace: Path, path: str) -> tuple[Path, ...]:
    """Return the places of a download's file, in its folder and in quarantine; none without a path."""
    if not path:
        return ()
    return inside(workspace, path), inside(folders.quarantine(workspace), Path(path).name)
