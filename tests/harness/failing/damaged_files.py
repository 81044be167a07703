"""Each file of a workspace cut short, changed in its middle and removed, and the commands after it.

Each case notes what the commands say, and what comes back.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.harness.failing.commands import DOCTOR, REPAIR, SEARCH, Ended, commands
from tests.harness.killing.acts import Failure, Scene
from tests.harness.killing.kills import AT_ONCE
from tests.harness.killing.processes import copied, run
from tests.harness.tally import Effort, Tally

_FEW = 1


def _cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _change(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


_DAMAGE: Mapping[str, Callable[[Path], None]] = {
    "cut short": _cut_short,
    "changed in its middle": _change,
    "removed": Path.unlink,
}


def damaged_files(start: Scene, effort: Effort) -> Iterator[Tally]:
    """Damage a workspace that has documents, and a backup."""
    cases = start.folder.parent / "cases"
    whole = copied(start, cases / "whole")
    made, found = _ended(whole, ("backup", str(cases / "backup.zip")), SEARCH)
    assert made.code == 0, made
    assert found.passages, found
    files = sorted(
        path.relative_to(whole.workspace)
        for path in whole.workspace.rglob("*")
        if path.is_file() and path.stat().st_size
    )
    for kind in _DAMAGE:
        step = -(-len(files) // _FEW) if effort == "short" else 1
        some = files[step // 2 :: step]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            lost = list(pool.map(partial(_lost, kind, whole, found.passages), some))
        yield Tally(f"a file of the workspace {kind}", len(some), tuple(one for one in lost if one))
    restored = Scene(cases / "restored", start.given)
    restored.folder.mkdir()
    _, again = _ended(restored, ("restore", str(cases / "backup.zip")), SEARCH)
    same = again.passages == found.passages
    yield Tally("a workspace restored from its backup", 1, () if same else (f"the search finds otherwise: {again}",))
    shutil.rmtree(cases)


def _lost(kind: str, whole: Scene, wanted: list[str], file: Path) -> str:
    """Return what a damaged file led to that nobody is told, or to what is no sentence; "" for nothing."""
    scene = copied(whole, whole.folder.parent / f"{kind} {str(file).replace('/', ' ')}")
    _DAMAGE[kind](scene.workspace / file)
    wrong = run(_not_told, scene, wanted)
    shutil.rmtree(scene.folder)
    if isinstance(wrong, Failure):
        wrong = wrong.words
    return f"{file}: {wrong}" if wrong else ""


def _not_told(scene: Scene, wanted: list[str]) -> str:
    """Use a damaged workspace and return what it lost without a word.

    RuntimeError if a command ends with an error. The doctor takes longest. It is asked only to repair, and if a search
    finds something else.
    """

    def ended(*command: str) -> Ended:
        [one] = commands(scene, command)
        if one.error:
            raise RuntimeError(one.error)
        return one

    another = scene.folder / "another.txt"
    another.write_text("The ferry stops at noon when the river stands above the second mark.\n", encoding="utf-8")
    search = ended(*SEARCH)
    if search.code == 0 and search.passages != wanted and not _told(ended(*DOCTOR)):
        return "the search finds otherwise, and the doctor does not say so"
    ended("add", str(scene.given))
    ended("add", str(another))
    later = ended(*SEARCH)
    if later.code == 0 and not {*wanted} <= {*later.passages} and not _told(ended(*DOCTOR)):
        return "after an addition the search finds less, and the doctor does not say so"
    ended(*REPAIR)
    if not {*wanted} <= {*ended(*SEARCH).passages} and not _told(ended(*DOCTOR)):
        return "after the repair the search finds otherwise, and the doctor does not say so"
    return ""


def _told(doctor: Ended) -> bool:
    if doctor.code == 2:
        return True
    return any(check["state"] == "bad" for check in json.loads(doctor.said)["checks"])


def _ended(scene: Scene, *several: tuple[str, ...]) -> list[Ended]:
    ended: list[Ended] | Failure = run(commands, scene, *several)
    if isinstance(ended, Failure):
        raise RuntimeError(ended.words)
    return ended
