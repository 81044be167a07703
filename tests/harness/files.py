"""Hostile files through the sandbox: each is refused with its reason, and the good ones are indexed."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from ingestion.add_files import FileOutcome, add_paths
from ingestion.file_reading import ExtractionLimits, time_for
from ingestion.metadata_file import NAME
from ingestion.source_lists.read_workbook import read_source_list
from rag_engine.config import ROOT, read_config
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.text.control_characters import without_direction_marks
from tests.harness.hostile_files import ESCAPED, HostileFile, hostile_files, no_files
from tests.harness.tally import Effort, Tally
from tests.rag_engine.conftest import CountingEmbedder

_GOOD = "good.txt"
# Of the reader's own making, and none that says what is wrong with the file.
_NO_REASON = re.compile(r"Traceback|exit code|broke its reader|broke the program")


def files(effort: Effort) -> Iterator[Tally]:
    """Add hostile files of many kinds in one addition, a good one among each kind."""
    with tempfile.TemporaryDirectory(prefix="sextant-harness-") as name:
        home = Path(name)
        tried = hostile_files(effort)
        lost = _added(home, tried)
        for kind in dict.fromkeys(one.kind for one in tried):
            of_kind = [one for one in tried if one.kind == kind]
            yield Tally(f"hostile files and a good one beside them: {kind}", len(of_kind) + 1, tuple(lost[kind]))
        yield Tally("additions of hostile files that wrote nothing outside", 1, tuple([*lost[""], *_outside(home)][:1]))
        tried = list(no_files())
        yield Tally(
            "descriptions that are no file, or lead out", len(tried), tuple(_described(home / "described", tried))
        )


def _added(home: Path, tried: list[HostileFile]) -> dict[str, list[str]]:
    """Add the files; return by kind a sentence for each that was not survived."""
    folder = home / "in"
    paths = {one.write(folder): one for one in tried}
    for number, kind in enumerate(sorted({one.kind for one in tried})):
        (folder / kind / _GOOD).write_text(f"Plan {number}: the mayor of Goodtown {number} orders the evacuation. " * 9)
    before = _snapshot(folder)
    lost: dict[str, list[str]] = defaultdict(list)
    begun: list[float] = []
    engine = Engine(read_config(home / "workspace"), embedder=CountingEmbedder())
    try:
        results = add_paths([folder], engine, progress=lambda _: begun.append(time.monotonic()))
        known = {record.source for record in engine.collection.documents()}
    finally:
        engine.close()
    added = {one.path: one for one in results}
    late = set(_late(results, begun))
    for path, one in paths.items():
        lost[one.kind] += _not_survived(one.name, added.get(_shown(path)), late)
    for kind in {one.kind for one in tried}:
        good = folder / kind / _GOOD
        if str(good) not in known:
            lost[kind].append(f"the good file was not indexed: {added.get(str(good))}")
    changed = before.items() ^ _snapshot(folder).items()
    return {**lost, "": [f"{path} was changed" for path in sorted({path for path, _ in changed})]}


def _described(home: Path, tried: list[HostileFile]) -> Iterator[str]:
    """Yield what is wrong where such a thing bears the name of the descriptions."""
    engine = Engine(read_config(home / "workspace"), embedder=CountingEmbedder())
    for one in tried:
        folder = replace(one, kind=one.name, name=NAME).write(home).parent
        (folder / _GOOD).write_text("The mayor of Goodtown orders the evacuation. " * 9)
        for take in (lambda folder: add_paths([folder], engine), lambda folder: read_source_list(folder, ()).new):
            try:
                if len(take(folder)) != 1:
                    yield f"{one.name}: the file beside it was not taken"
            except InputError as error:
                if NAME not in str(error):
                    yield f"{one.name}: {error}"
    engine.close()


def _late(results: list[FileOutcome], begun: list[float]) -> Iterator[str]:
    """Yield the files after which the next one had to wait for longer than both may take.

    A file is read while the one before it is indexed.
    """
    budgets = [time_for(_size(Path(one.path)), ExtractionLimits()) for one in results] + [0.0]
    for one, (start, end), (mine, following) in zip(results, pairwise(begun), pairwise(budgets), strict=True):
        if end - start > mine + following:
            yield one.path


def _size(path: Path) -> int:
    return min(path.stat().st_size, ExtractionLimits().max_bytes) if path.is_file() else 0


def _not_survived(name: str, result: FileOutcome | None, late: set[str]) -> Iterator[str]:
    """Yield at most one sentence on what is wrong with the end of one file."""
    if result is None:
        yield f"{name!r}: nothing was said of it"
    elif result.status in ("refused", "failed") and (not result.reason or _NO_REASON.search(result.reason)):
        yield f"{name!r}: no reason but {result.reason!r}"
    elif result.path in late:
        yield f"{name!r}: it, or the file after it, took longer than it may"


def _outside(home: Path) -> Iterator[str]:
    """Yield what was written beside the workspace, or where a name in a package leads."""
    if extra := {one.name for one in home.iterdir()} - {"in", "workspace"}:
        yield f"beside the workspace: {sorted(extra)}"
    for place in (Path(tempfile.gettempdir()), Path.home(), Path.cwd(), ROOT, Path("/")):
        yield from (str(one) for one in place.glob(f"*{ESCAPED}*"))
    for parent, folders, names in os.walk(home / "workspace"):
        yield from (f"{parent}/{one}" for one in (*folders, *names) if ESCAPED in one)
    if left := list((home / "workspace" / "files" / ".incoming").glob("*")):
        yield f"{len(left)} copies were left in files/.incoming"


def _snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    found = (path for path in folder.rglob("*") if not path.is_dir())
    return {_shown(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in found}


def _shown(path: Path) -> str:
    return without_direction_marks(os.fsencode(path).decode("utf-8", "replace"))
