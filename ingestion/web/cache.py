"""Answers kept on disk for a day, so that the licence check and the download of one address are one request."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ingestion.protocols import Web
from ingestion.types import Fetched, Validators
from ingestion.web.response_body import receive_into, too_large
from rag_engine.atomic_write import write_atomic

_DAY = 86_400.0
_VERSION = 1
_CHUNK = 2**20
# The folder is looked through again after each of so many parts of what may lie in it, and then cleared by one.
_PARTS = 20


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer on disk: what its server said, the file with its body, and when it was last known to be current."""

    fetched: Fetched
    body: Path
    since: float


class KeptWeb:
    """A Web that asks another one only for what it does not hold; for several threads, and several processes.

    Whole answers (status 200) are kept, refusals are not. Older than `fresh_seconds`, an answer is asked for with
    its validators, and stays when it has not changed. Beyond `most_bytes` the oldest go. A call with validators of
    its own goes to the network, and so does every call after `forget`.
    """

    def __init__(
        self,
        web: Web,
        folder: Path,
        *,
        fresh_seconds: float = _DAY,
        most_bytes: int = 2_000_000_000,
        page_bytes: int = 10_000_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._web = web
        self._folder = folder
        self._fresh = fresh_seconds
        self._most = most_bytes
        self._page_bytes = page_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._busy: dict[str, tuple[threading.Lock, int]] = {}
        self._room = 0
        self._forgotten: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)
        self._accepted = self._clear_leftovers()

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        """As `ingestion.protocols.Web.fetch`, without a request where a fresh answer is at hand.

        What was asked for with another `accept` is another answer.
        """
        key = f"{_prefix(url)}-{_suffix(accept)}"
        self._learn(_suffix(accept))
        with self._alone(key):
            kept = self._read(key) if validators is None else None
            if kept is not None and self._clock() - kept.since < self._fresh:
                if (given := self._given(kept, into, max_bytes)) is not None:
                    return given
                kept = None
            known = _validators(kept)
            fetched = self._web.fetch(
                url, into=into, max_bytes=max_bytes, validators=validators or known, accept=accept
            )
            if fetched.status == 304 and validators is None and kept is not None:
                kept = replace(kept, since=self._clock())
                self._write(key, kept)
                if (given := self._given(kept, into, max_bytes)) is not None:
                    return given
                fetched = self._web.fetch(url, into=into, max_bytes=max_bytes, accept=accept)
            if fetched.status == 200:
                self._keep(key, fetched)
            return fetched

    def forget(self, url: str) -> None:
        """Nothing; the next call for the address asks the network, whatever it accepts."""
        prefix = _prefix(url)
        with self._lock:
            self._forgotten.add(prefix)
            suffixes = sorted(self._accepted)
        for suffix in suffixes:
            self._remove(f"{prefix}-{suffix}")

    def _learn(self, suffix: str) -> None:
        """Take note of another kind of answer; what another process kept of it is forgotten where this one forgot."""
        with self._lock:
            new = suffix not in self._accepted
            self._accepted.add(suffix)
            forgotten = tuple(self._forgotten) if new else ()
        for prefix in forgotten:
            self._remove(f"{prefix}-{suffix}")

    def _remove(self, key: str) -> None:
        bodies = self._bodies(key)
        (self._folder / f"{key}.json").unlink(missing_ok=True)
        for body in bodies:
            body.unlink(missing_ok=True)

    def _bodies(self, key: str) -> list[Path]:
        """The body that an entry names; all that are called after it where the entry cannot be read."""
        try:
            entry = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
            name = Path(entry["body"]).name
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            name = ""
        return [self._folder / name] if name.startswith(key) else list(self._folder.glob(f"{key}.*.body"))

    def _given(self, kept: _Kept, into: Path | None, max_bytes: int | None) -> Fetched | None:
        """The kept answer as the call wants it; None where its body is not what was kept, as after a power failure."""
        fetched, url = kept.fetched, kept.fetched.url
        most = max_bytes if max_bytes is not None or into is not None else self._page_bytes
        if most is not None and fetched.size > most:
            raise too_large(url, most, fetched.size)
        if into is None:
            content = kept.body.read_bytes()
            whole = hashlib.sha256(content).hexdigest() == fetched.sha256
            return replace(fetched, body=content, path="") if whole else None
        received = receive_into(_pieces(kept.body), into, url, max(fetched.size, 1))
        if received.sha256 != fetched.sha256:
            into.unlink(missing_ok=True)
            return None
        return replace(fetched, body=b"", path=str(into))

    def _read(self, key: str) -> _Kept | None:
        """The kept answer; None where there is none, or one that this version or a crash left unreadable."""
        try:
            entry = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
            if entry["version"] != _VERSION:
                return None
            fields = entry["fetched"]
            fetched = Fetched(**{**fields, "urls": tuple(fields["urls"]), "body": b""})
            kept = _Kept(fetched, self._folder / str(entry["body"]), float(entry["since"]))
            return kept if kept.body.stat().st_size == fetched.size else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _keep(self, key: str, fetched: Fetched) -> None:
        if fetched.size > self._most or (not fetched.path and len(fetched.body) > self._page_bytes):
            return
        # A name of its own for each body: a reader of the one before finds it whole until it is removed.
        body = self._folder / f"{key}.{fetched.sha256[:12] or 'empty'}{secrets.token_hex(4)}.body"
        chunks = _pieces(Path(fetched.path)) if fetched.path else iter([fetched.body])
        size = fetched.size if fetched.path else len(fetched.body)
        received = receive_into(chunks, body, fetched.url, max(size, 1), lasting=False)
        kept = replace(fetched, body=b"", path="", size=received.size, sha256=received.sha256)
        former = [before for before in self._bodies(key) if before != body]
        self._write(key, _Kept(kept, body, self._clock()))
        for before in former:
            before.unlink(missing_ok=True)
        self._make_room(received.size, keep=key)

    def _write(self, key: str, kept: _Kept) -> None:
        fields = {name: value for name, value in asdict(kept.fetched).items() if name not in ("body", "path")}
        entry = {"version": _VERSION, "since": kept.since, "body": kept.body.name, "fetched": fields}
        write_atomic(self._folder / f"{key}.json", json.dumps(entry).encode())

    def _make_room(self, size: int, keep: str) -> None:
        with self._lock:
            self._room -= size
            if self._room >= 0:
                return
            sizes: list[tuple[float, int, str]] = []
            for entry in os.scandir(self._folder):
                with suppress(OSError):
                    if entry.name.endswith(".body"):
                        facts = entry.stat()
                        sizes.append((facts.st_mtime_ns, facts.st_size, entry.name))
            total = sum(size for _time, size, _name in sizes)
            wanted = self._most - self._most // _PARTS if total > self._most else total
            for _time, size, name in sorted(sizes):
                if total <= wanted:
                    break
                key = name.partition(".")[0]
                if key != keep:
                    (self._folder / f"{key}.json").unlink(missing_ok=True)
                    (self._folder / name).unlink(missing_ok=True)
                    total -= size
            # Other processes fill the folder too: none goes on for longer than a part without a look.
            self._room = max(0, min(self._most - total, self._most // _PARTS))

    def _clear_leftovers(self) -> set[str]:
        """The kinds of answers in the folder, by their suffixes."""
        suffixes = set()
        for entry in os.scandir(self._folder):
            if entry.name.endswith(".json"):
                suffixes.add(entry.name.removesuffix(".json").rpartition("-")[2])
            elif entry.name.endswith(".part"):
                # Left by a process that was killed while it wrote; younger ones may belong to one that writes now.
                with suppress(OSError):
                    if time.time() - entry.stat().st_mtime > 3600:
                        Path(entry.path).unlink()
        return suffixes

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """One call at a time for one key: the second finds what the first one got."""
        with self._lock:
            lock, users = self._busy.get(key, (threading.Lock(), 0))
            self._busy[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                _lock, users = self._busy[key]
                if users == 1:
                    del self._busy[key]
                else:
                    self._busy[key] = (lock, users - 1)


def _validators(kept: _Kept | None) -> Validators | None:
    if kept is None or not (kept.fetched.etag or kept.fetched.last_modified):
        return None
    return Validators(kept.fetched.etag, kept.fetched.last_modified)


def _prefix(url: str) -> str:
    return hashlib.sha256(url.partition("#")[0].encode("utf-8", "replace")).hexdigest()[:32]


def _suffix(accept: str) -> str:
    return hashlib.sha256(accept.encode("utf-8", "replace")).hexdigest()[:8]


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
