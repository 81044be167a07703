"""Files that broke their reader and sources that stopped a worker; both are tried again on request.

A change of the file also leads to a new try. They are small files outside the catalog, so that they survive the end of
any process.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingestion.file_reading import FileReading
from ingestion.protocols import Extractor
from ingestion.types.outcome import OutcomeReason, Refusal
from rag_engine.atomic_write import write_atomic
from rag_engine.messages import Message, dump_json, join_messages
from rag_engine.workspace import inside, read_json

# What takes long to find out, or breaks the reader; other reasons are seen at once, or lifted by an installation.
_REMEMBERED: frozenset[OutcomeReason] = frozenset(
    {"damaged", "too_many_pages", "too_slow", "too_much_memory", "crashed", "no_text"}
)
_MOST_STOPS = 2
_RECENT_SECONDS = 24 * 3600.0
# A mark is written in milliseconds; a disk that hangs keeps nobody from ending.
_MARKED_SECONDS = 5.0
_TRIED = "`sextant add --again`, or for a source `sextant run --all --code CODE`, tries it once more."
_TRIED_LONGER = (
    "`sextant add --again`, or for a source `sextant run --all --code CODE`, tries it once more, with twice the time."
)
_LONGER = 2.0


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A refusal of a file by a reader: with other settings, or another version, it may be read."""

    reader: str
    reason: OutcomeReason
    message: Message
    help: Message
    refused: bool
    retryable: bool
    patience: float
    when: str


class RefusedFiles:
    """The refusals of one reader of files, in a folder of the workspace.

    With `again` the refused files are tried once more.
    """

    def __init__(self, folder: Path, reader: str, *, again: bool = False) -> None:
        self._folder = folder
        self._reader = reader
        self._again = again

    def read(self, extractor: Extractor, path: Path, sha256: str) -> FileReading:
        """Return the reading of the file with this hash; Refusal at once if it was refused before.

        A file that was too slow gets twice the former time on a new try.
        """
        known = self._find(sha256)
        if known is not None and not self._again:
            raise _as_before(known)
        slow = known is not None and known.reason == "too_slow"
        patience = _LONGER * known.patience if known is not None and slow else 1.0
        try:
            reading = extractor.read(path, patience)
        except Refusal as refusal:
            if refusal.reason in _REMEMBERED:
                self._keep(sha256, refusal, patience)
            raise
        self._path(sha256).unlink(missing_ok=True)
        return reading

    def _find(self, sha256: str) -> RefusedFile | None:
        stored = read_json(self._path(sha256))
        if stored.keys() != RefusedFile.__dataclass_fields__.keys() or stored["reader"] != self._reader:
            return None
        texts = {name: Message(stored[name]) for name in ("message", "help")}
        return RefusedFile(**stored | texts)

    def _keep(self, sha256: str, refusal: Refusal, patience: float) -> None:
        when = datetime.now(UTC).date().isoformat()
        kept = RefusedFile(
            self._reader,
            refusal.reason,
            refusal.fault,
            refusal.help,
            refusal.refused,
            refusal.retryable,
            patience,
            when,
        )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(self._path(sha256), dump_json(asdict(kept)).encode(), private=True)

    def _path(self, sha256: str) -> Path:
        return inside(self._folder, f"{sha256}.json")


def _as_before(known: RefusedFile) -> Refusal:
    tried = Message(_TRIED_LONGER if known.reason == "too_slow" else _TRIED)
    return Refusal(
        known.reason,
        join_messages([known.message, Message("So it was on {date}.", date=known.when)]),
        help=join_messages([known.help, Message("It has not changed."), tried]),
        retryable=known.retryable,
        refused=known.refused,
    )


# What this process is at, with the number of workers that it stopped before, and what holds a mark while it is written.
_at: dict[Path, int] = {}
_marking = threading.RLock()


class WorkerStops:
    """Work at which workers were killed, for want of memory say: after two of them it is left out."""

    def __init__(self, folder: Path, *, again: bool = False) -> None:
        self._folder = folder
        self._again = again
        # Two at a time could not be told apart if the worker is killed.
        begun = (path.stat().st_mtime for path in folder.glob("*.begun"))
        self.one_at_a_time = any(time.time() - when < _RECENT_SECONDS for when in begun)

    @contextmanager
    def at(self, name: str, what: str) -> Iterator[None]:
        """Note that the worker is at `name` while the block lasts; Refusal if it stopped two workers."""
        path = self._folder / f"{hashlib.sha256(name.encode()).hexdigest()}.begun"
        stops = 0 if self._again else int(read_json(path).get("stops", 0))
        if stops >= _MOST_STOPS:
            raise Refusal(
                "crashed",
                "{what} stopped the worker {times} times and is set aside.",
                help="worker.log may say why. {tried}",
                tried=_TRIED,
                retryable=False,
                refused=False,
                what=what,
                times=_MOST_STOPS,
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _at[path] = stops
        try:
            with _marking:
                _mark(path, stops + 1)
            yield
        finally:
            _at.pop(path, None)
            path.unlink(missing_ok=True)


def _mark(path: Path, stops: int) -> None:
    write_atomic(path, json.dumps({"stops": stops}).encode(), durable=True, private=True)


def blame_nobody() -> None:
    """Take back that this process is at something: it ends because it was asked to.

    A mark that another thread is writing is waited for, and none is written afterwards. A mark that this thread was
    writing is never finished, as when a signal broke in.
    """
    _marking.acquire(timeout=_MARKED_SECONDS)
    for path, stops in list(_at.items()):
        if stops:
            _mark(path, stops)
        else:
            path.unlink(missing_ok=True)
