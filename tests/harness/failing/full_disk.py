"""A disk that is full from each write of a command on, small disks of memory, and a read-only disk."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tests.harness.failing.commands import DOCTOR, SEARCH, Ended, commands
from tests.harness.killing.acts import Failure, Scene, State, read_state
from tests.harness.killing.kills import AT_ONCE, differences
from tests.harness.killing.processes import copied, run, run_watched, state_now
from tests.harness.killing.watched_writes import PASS, Write
from tests.harness.tally import Effort, Tally

_NOT_ROOT = "only root mounts a disk"
# Of the places of a command in the short form.
_FEW = 2
# What is named at random, which makes no other place: folders of Chroma, segments and files of tantivy, half written
# files, what is kept by a hash.
_RANDOM = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|(?<=/\.tmp)\w+|(?<=licence_)\w+|(?<=/)[0-9a-f]{2}(?=/|$)")
# So many sizes of disks, the largest of which has room for journals too (KiB).
_DISKS, _BESIDES = 8, 768
_SAYS_DISK = re.compile(r"space|full|room|read-only", re.IGNORECASE)
# What a command says that had done its work, and was broken off when it was about to enter that in the audit log.
_WAS_DONE = re.compile(r"No document is called|is there already")
_TOLD, _DONE = 2, 0
_NEW_NAMESPACE, _PRIVATE, _BIND, _AGAIN, _READ_ONLY = 0x20000, 0x44000, 4096, 32, 1


@dataclass
class FullFrom:
    """A decision by which the disk is full from the first write at the given place on.

    A place is a file with the kind of call that makes or lengthens it; with place 0 the disk is never full. `places`
    are
    the places met.
    """

    place: int = 0
    at: Write | None = None
    places: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, write: Write) -> int:
        """Return the error of a full disk where there is no room for the write any more."""
        if not write.grows:
            return PASS
        self.places.add((write.call, _RANDOM.sub("#", write.path)))
        if not self.place or len(self.places) < self.place:
            return PASS
        self.at = self.at or write
        return errno.ENOSPC


def full_disk(start: Scene, act: str, arguments: Sequence[str], effort: Effort) -> Tally:
    """Run a command with a disk that fills at each place where it writes, then again with room."""
    cases = start.folder.parent / "cases"
    undisturbed, counted = copied(start, cases / "undisturbed"), FullFrom()
    ended = run_watched(undisturbed, counted, commands, undisturbed, _at(arguments, undisturbed))
    if isinstance(ended, Failure) or ended[0].code != _DONE:
        return Tally(f"a full disk: {act}", 1, (f"undisturbed it ends with {ended}",))
    goal = state_now(undisturbed)
    every = range(1, len(counted.places) + 1)
    some = every[len(every) // (2 * _FEW) :: len(every) // _FEW] if effort == "short" else every
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lost = list(pool.map(partial(_full_once, act, arguments, start, cases, goal), some))
    shutil.rmtree(cases)
    which = f"all {len(every)}" if len(some) == len(every) else f"{len(some)} of {len(every)}"
    return Tally(f"a disk that is full from a write on, at {which} places: {act}", len(some), _lost(lost))


def _full_once(act: str, arguments: Sequence[str], start: Scene, cases: Path, goal: State, place: int) -> str:
    scene, full = copied(start, cases / str(place)), FullFrom(place)
    ended = run_watched(scene, full, commands, scene, _at(arguments, scene))
    after = run(_again, scene, arguments)
    shutil.rmtree(scene.folder)
    if isinstance(after, Failure):
        return f"{act}, place {place} ({full.at}), when there is room: {after.words}"
    again, state = after
    wrong = _wrong(ended, again, state, goal)
    return f"{act}, place {place} ({full.at}): {wrong}" if wrong else ""


def _again(scene: Scene, arguments: Sequence[str]) -> tuple[list[Ended], State]:
    return commands(scene, _at(arguments, scene)), read_state(scene)


def _wrong(ended: list[Ended] | Failure, again: list[Ended], state: State, goal: State) -> str:
    """Return what was wrong with a command on a full disk, or with the same one when there was room."""
    if isinstance(ended, Failure):
        return ended.words
    [first], [second] = ended, again
    if first.error or second.error:
        return first.error or f"when there is room again: {second.error}"
    if first.code != _DONE and (first.code != _TOLD or not _SAYS_DISK.search(first.said)):
        return f"it ends with {first.code} and says {first.said!r}"
    if second.code != _DONE and not _WAS_DONE.search(" ".join(second.said.split())):
        return f"when there is room again it ends with {second.code} and says {second.said!r}"
    return "; ".join(differences(state, goal | {"jobs": state["jobs"]}))


def really_full_disks(start: Scene, act: str, arguments: Sequence[str]) -> Iterator[Tally]:
    """Run a command on small disks of memory, each larger than the last, until it has room."""
    if os.geteuid():
        yield Tally(f"a disk of memory with too little room: {act}", 0, left_out=_NOT_ROOT)
        return
    goal_scene = copied(start, start.folder.parent / "goal")
    run(commands, goal_scene, _at(arguments, goal_scene))
    goal = state_now(goal_scene)
    taken = sum(path.stat().st_size for path in start.folder.rglob("*") if path.is_file()) // 1024
    grown = sum(path.stat().st_size for path in goal_scene.folder.rglob("*") if path.is_file()) // 1024
    shutil.rmtree(goal_scene.folder)
    most = grown + _BESIDES
    sizes = range(taken + 64, most, (most - taken) // _DISKS)
    # Each process has mounts of its own, so that all of them use the same place.
    place = start.folder.parent / "disk"
    place.mkdir(exist_ok=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lost = list(pool.map(partial(_lost_on_a_disk, act, arguments, start, place, goal), sizes))
    yield Tally(f"a disk of memory with too little room: {act}", len(sizes), _lost(lost))


def _lost_on_a_disk(act: str, arguments: Sequence[str], start: Scene, place: Path, goal: State, kilobytes: int) -> str:
    result = run(_on_a_disk_of, start, place, kilobytes, arguments)
    if isinstance(result, Failure):
        return f"{act}, {kilobytes} KiB: {result.words}"
    ended, again, state = result
    wrong = _wrong(ended, again, state, goal)
    return f"{act}, {kilobytes} KiB: {wrong}" if wrong else ""


def _on_a_disk_of(
    start: Scene, place: Path, kilobytes: int, arguments: Sequence[str]
) -> tuple[list[Ended], list[Ended], State]:
    """Carry a command out on a disk of this size, and again when it is larger."""
    _own_mounts()
    _mount("tmpfs", place, "tmpfs", 0, f"size={kilobytes}k")
    scene = replace(start, folder=place / "scene")
    shutil.copytree(start.folder, scene.folder)
    ended = commands(scene, _at(arguments, scene))
    _mount("tmpfs", place, "tmpfs", _AGAIN, "size=64m")
    return ended, *_again(scene, arguments)


def read_only_disk(start: Scene) -> Iterator[Tally]:
    """Carry every verb out on a workspace whose disk cannot be written."""
    if os.geteuid():
        yield Tally("a disk that cannot be written, a verb each", 0, left_out=_NOT_ROOT)
        return
    reads = (SEARCH, ("list",), ("ask", "What does the plan say?"))
    verbs = (*reads, DOCTOR, ("add", str(start.given)), ("erase", "flood.txt"), ("rebuild",), ("status",))
    before = state_now(start)
    ended = run(_read_only, start, verbs)
    if isinstance(ended, Failure):
        yield Tally("a disk that cannot be written", 1, (ended.words,))
        return
    lost = [f"{' '.join(verb)}: {one.error}" for verb, one in zip(verbs, ended, strict=True) if one.error]
    lost += [
        f"{' '.join(verb)}: {one.code} {one.said!r}"
        for verb, one in zip(verbs, ended, strict=True)
        if one.code and (verb in reads or not _SAYS_DISK.search(one.said))
    ]
    lost += differences(state_now(start), before)
    yield Tally("a disk that cannot be written, a verb each", len(verbs), tuple(lost))


def _read_only(scene: Scene, verbs: Sequence[Sequence[str]]) -> list[Ended]:
    _own_mounts()
    _mount(str(scene.folder), scene.folder, "", _BIND, "")
    _mount(str(scene.folder), scene.folder, "", _BIND | _AGAIN | _READ_ONLY, "")
    return commands(scene, *verbs)


def _own_mounts() -> None:
    """Give this process private mounts, which end with it."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NAMESPACE):
        raise OSError(ctypes.get_errno(), "unshare")
    _mount("none", Path("/"), "", _PRIVATE, "")


def _mount(source: str, place: Path, kind: str, flags: int, options: str) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(source.encode(), os.fsencode(place), kind.encode() or None, flags, options.encode() or None):
        raise OSError(ctypes.get_errno(), f"mount {place}")


def _at(arguments: Sequence[str], scene: Scene) -> list[str]:
    """Return the arguments with the places of the scene."""
    places = {"GIVEN": str(scene.given), "LIST": str(scene.given / "sources.csv"), "ARCHIVE": str(scene.archive)}
    return [places.get(one, one) for one in arguments]


def _lost(lost: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in lost if one)
