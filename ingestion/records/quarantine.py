"""Where a downloaded file lies: beside the others, or apart from them while its source does not pass.

Nothing is deleted: a file moves to quarantine with its source's refusal and back when that is lifted.
"""

from __future__ import annotations

from pathlib import Path

from ingestion.extraction.text_cache import forget_reading
from ingestion.records.source_record import SourceRecord
from ingestion.types import Download
from rag_engine import workspace as paths

# Phases that refuse a source without a file of it.
_WITHOUT_FILE = ("acquisition", "portals")


def file_of(workspace: Path, download: Download) -> Path | None:
    """The downloaded file, wherever it lies; None where it is gone or there never was one."""
    return next((path for path in _places(workspace, download) if path.is_file()), None)


def settle(workspace: Path, record: SourceRecord) -> None:
    """Nothing; moves the source's file to where its outcomes say that it belongs."""
    download = record.download
    if download is None or not download.path:
        return
    usual, apart = _places(workspace, download)
    stopped = record.stopped
    refused = stopped is not None and stopped[0] not in _WITHOUT_FILE and stopped[1].status in ("rejected", "skipped")
    if refused and stopped is not None and stopped[0] in ("licence", "extraction"):
        # Of a document that may not be used nothing is kept that was made from it.
        forget_reading(paths.readings(workspace), download.sha256)
    source, target = (usual, apart) if refused else (apart, usual)
    if source.is_file() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)


def remove_file(workspace: Path, download: Download) -> None:
    """Nothing; the file is gone from both places."""
    for path in _places(workspace, download):
        if download.path:
            path.unlink(missing_ok=True)


def _places(workspace: Path, download: Download) -> tuple[Path, Path]:
    return workspace / download.path, paths.quarantine(workspace) / Path(download.path).name
