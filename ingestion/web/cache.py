"""Cache of answers on disk, so that the licence check and the download of one address are one request."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from diskcache import Cache, Disk, Timeout
from diskcache.core import DBNAME, MODE_PICKLE

from ingestion.keyed_locks import KeyedLocks
from ingestion.protocols import Web
from ingestion.types.source import Fetched, Validators
from ingestion.web.response import receive, too_large
from rag_engine.backends.sqlite_damage import find_damage

_DAY = 86_400.0
_CHUNK = 2**20
# A writer of another process is waited for as long as diskcache does.
_WAIT_SECONDS = 60.0


class _PlainDisk(Disk):  # type: ignore[misc]  # diskcache has no types
    """Text and bytes on disk, never a pickle: a folder that somebody copied here must not run code."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Return a value as it was stored; OSError, which is no entry, for a pickle."""
        if mode == MODE_PICKLE:
            raise OSError("a pickle in the cache is not read")
        return super().fetch(mode, filename, value, read)

    def get(self, key: Any, raw: bool) -> Any:
        """Return a key as it was stored; OSError for a pickle."""
        if not raw:
            raise OSError("a pickle in the cache is not read")
        return super().get(key, raw)


@dataclass(frozen=True, slots=True)
class _Cached:
    """An answer without its body, and when it was last known to be current."""

    fetched: Fetched
    since: float


class CachedWeb:
    """A Web that asks another one only for addresses that it does not hold.

    For several threads, and several processes.

    Whole answers (status 200) are cached, refusals are not. Older than `fresh_seconds`, an answer is asked for with its
    validators, and stays when it has not changed. Beyond `most_bytes` the oldest go. A call with validators goes to the
    network, and so does every call after `forget`.
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
        self._fresh = fresh_seconds
        self._most = most_bytes
        self._page_bytes = page_bytes
        self._clock = clock
        self._locks = KeyedLocks()
        self._cache = _open_cache(folder)

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        """Fetch as `ingestion.protocols.Web.fetch`, without a request where a fresh answer is cached.

        A request with another `accept` has another answer.
        """
        key = f"{accept} {_address(url)}"
        # One call at a time for one key: the second finds what the first one got.
        with self._locks.held(key):
            cached = self._read(key) if validators is None else None
            if cached is not None and self._clock() - cached.since < self._fresh:
                if (given := self._given(key, cached, into, max_bytes)) is not None:
                    return given
                cached = None
            asked = validators
            if asked is None and cached is not None and (cached.fetched.etag or cached.fetched.last_modified):
                asked = Validators(cached.fetched.etag, cached.fetched.last_modified)
            fetched = self._web.fetch(url, into=into, max_bytes=max_bytes, validators=asked, accept=accept)
            if fetched.status == 304 and validators is None and cached is not None:
                self._write(key, url, replace(cached, since=self._clock()))
                if (given := self._given(key, cached, into, max_bytes)) is not None:
                    return given
                fetched = self._web.fetch(url, into=into, max_bytes=max_bytes, accept=accept)
            if fetched.status == 200:
                self._store(key, url, fetched)
            return fetched

    def forget(self, url: str) -> None:
        """Let the next call for the address ask the network, for any kind that it accepts."""
        self._cache.evict(_address(url))

    def close(self) -> None:
        """Close the connections to the cache's database."""
        self._cache.close()

    def _read(self, key: str) -> _Cached | None:
        """Return the cached answer; None if there is none that this version can read."""
        try:
            entry = json.loads(self._cache.get(f"head {key}", default=""))
            fields = entry["fetched"]
            return _Cached(Fetched(**{**fields, "urls": tuple(fields["urls"]), "body": b""}), float(entry["since"]))
        except (ValueError, KeyError, TypeError):
            return None

    def _given(self, key: str, cached: _Cached, into: Path | None, max_bytes: int | None) -> Fetched | None:
        """Return the cached answer as the call wants it; None if its body has changed since it was stored."""
        fetched = cached.fetched
        most = max_bytes if max_bytes is not None or into is not None else self._page_bytes
        if most is not None and fetched.size > most:
            raise too_large(fetched.url, most, fetched.size)
        body: IO[bytes] | None = self._cache.get(f"body {key}", read=True)
        if body is None:
            return None
        with body:
            pieces = iter(lambda: body.read(_CHUNK), b"")
            received = receive(pieces, into, fetched.url, max(fetched.size, 1))
        if received.sha256 != fetched.sha256:
            if into is not None:
                into.unlink(missing_ok=True)
            return None
        return replace(fetched, body=received.content, path=str(into or ""))

    def _store(self, key: str, url: str, fetched: Fetched) -> None:
        if fetched.size > self._most or (not fetched.path and len(fetched.body) > self._page_bytes):
            return
        with Path(fetched.path).open("rb") if fetched.path else BytesIO(fetched.body) as body:
            self._cache.set(f"body {key}", body, read=True, tag=_address(url))
        self._write(key, url, _Cached(replace(fetched, body=b"", path=""), self._clock()))
        self._make_room()

    def _write(self, key: str, url: str, cached: _Cached) -> None:
        fields = {name: value for name, value in asdict(cached.fetched).items() if name not in ("body", "path")}
        entry = json.dumps({"since": cached.since, "fetched": fields})
        self._cache.set(f"head {key}", entry, tag=_address(url))

    def _make_room(self) -> None:
        """Remove the oldest entries, but never the last one."""
        newest = len(self._cache) - 2
        for number, key in enumerate(self._cache):
            if number >= newest or self._cache.volume() <= self._most:
                return
            self._cache.delete(key)


def empty_cache(folder: Path) -> list[Path]:
    """Remove every answer from a cache, and return its folder where some stay.

    Files of a killed process go too.

    Users of the cache then ask the network again.
    """
    if not folder.is_dir():
        return []
    try:
        with closing(_open_cache(folder)) as cache:
            cache.clear(retry=True)
        for path in folder.rglob("*.val"):
            path.unlink(missing_ok=True)
        with closing(sqlite3.connect(folder / DBNAME, _WAIT_SECONDS)) as entries:
            # What was deleted before stays in the file until it is written anew.
            entries.execute("VACUUM")
            entries.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (sqlite3.Error, OSError, Timeout):
        # What is damaged is of use to nobody.
        shutil.rmtree(folder, ignore_errors=True)
    return [folder] if any(folder.rglob("*.val")) else []


def _open_cache(folder: Path) -> Cache:
    """Open the cache of a folder; a damaged one is of use to nobody and begins empty."""
    if (folder / DBNAME).is_file() and find_damage(folder / DBNAME):
        shutil.rmtree(folder, ignore_errors=True)
    # What is too much is removed by CachedWeb, oldest first; the tag of an entry is its address.
    return Cache(str(folder), disk=_PlainDisk, eviction_policy="none", cull_limit=0, tag_index=True)


def _address(url: str) -> str:
    return url.partition("#")[0].encode("utf-8", "replace").decode()
