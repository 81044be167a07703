"""kill -9 at every write of an act, and what the next process makes of what is left.

A killed process leaves its folder as it was when its next write was held: what was written before is the kernel's by
then. So an act is carried out once and its folder copied at each of its writes, and some kills, whose folder must be
what the copy holds, show that it is so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.harness.killing.acts import Failure, Scene, State
from tests.harness.killing.processes import act_again, act_watched, copied, state_now
from tests.harness.killing.scenes import folder_in_memory, scenes
from tests.harness.killing.watched_writes import KILL, PASS, Write
from tests.harness.tally import Effort, Tally

# Two writes of one file with nothing between: before the first, and when it has been begun. What follows them leaves
# what the second left, a file that is not whole.
_OF_A_ROW = 2
# Numbers of moments that stand for all of them, and for none.
_EVERY, _NONE = 0, -1
# As many real kills of each act.
_REAL: Mapping[Effort, int] = {"short": 1, "whole": 8}
# So often a kill and its copy are compared until they are alike.
_TIMES = 3
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Moment:
    """A write before which a process may be killed, with a copy of the folder as it is left then."""

    number: int
    write: Write
    left: Scene


@dataclass
class CopyAt:
    """A decision that copies a scene at each moment of an act, or kills the process after one copy.

    It counts the writes. A write that goes on with the same file is no moment.
    """

    scene: Scene
    copies: Path
    kill_at: int
    moments: list[Moment] = field(default_factory=list)
    writes: int = 0
    count: int = 0
    _last: Write | None = None
    _in_a_row: int = 0

    def __call__(self, write: Write) -> int:
        """Return whether the process goes on."""
        self.writes += 1
        self._in_a_row = self._in_a_row + 1 if write == self._last else 1
        self._last = write
        if self._in_a_row > _OF_A_ROW:
            return PASS
        self.count += 1
        if self.kill_at not in (_EVERY, self.count):
            return PASS
        self.moments.append(Moment(self.count, write, copied(self.scene, self.copies / str(self.count))))
        return KILL if self.kill_at else PASS


def kills(effort: Effort) -> Iterator[Tally]:
    """Kill each act at its writes, in the short form once.

    The same act afterwards must end as if it had never been interrupted.
    """
    with folder_in_memory() as folder:
        for act, scene in scenes(folder):
            yield from _killed_everywhere(act, scene, effort)
            shutil.rmtree(scene.folder.parent / "cases", ignore_errors=True)


def _killed_everywhere(act: str, start: Scene, effort: Effort) -> Iterator[Tally]:
    cases = start.folder.parent / "cases"
    undisturbed = copied(start, cases / "undisturbed")
    every = CopyAt(undisturbed, cases / "copies", _EVERY if effort == "whole" else _NONE)
    if failed := act_watched(act, undisturbed, every):
        yield Tally(f"kill -9 at the writes of {act}", 1, (f"undisturbed it ends with {failed.words}",))
        return
    goal = state_now(undisturbed)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        if effort == "whole":
            lost = list(pool.map(partial(_lost_at, act, goal), every.moments))
            yield _tally(f"kill -9 at all {len(lost)} moments between {every.writes} writes: {act}", lost)
        numbers = _some(every.count, _REAL[effort])
        killed = list(pool.map(partial(_killed_once, act, start, cases / "killed", goal), numbers))
    lost = [one for one in killed if one is not None]
    yield _tally(f"kill -9 of the process itself, which leaves what the copies hold: {act}", lost)


def _some(count: int, most: int) -> Sequence[int]:
    """Return the numbers of at most `most` of `count` moments, evenly spread."""
    step = max(1, -(-count // most))
    return range(1 + step // 2, count + 1, step)


def _tally(what: str, lost: Sequence[str]) -> Tally:
    return Tally(what, len(lost), tuple(one for one in lost if one))


def _lost_at(act: str, goal: State, moment: Moment) -> str:
    return lost_by(f"{act}, moment {moment.number} ({moment.write})", act, moment.left, goal)


def _killed_once(act: str, start: Scene, cases: Path, goal: State, number: int) -> str | None:
    """Return what a kill at a moment lost, or how the copy of that moment differs; "" for neither.

    None if the act ended before the moment, as it does not write in the same order each time. A write of another thread
    may be under way during the copy, and stand on either side of it. A difference counts if it is there each time.
    """
    for _ in range(_TIMES):
        scene = copied(start, cases / str(number))
        killing = CopyAt(scene, cases / f"{number} copied", number)
        act_watched(act, scene, killing)
        if not killing.moments:
            return None
        [moment] = killing.moments
        left, copy = _files(scene.folder), _files(moment.left.folder)
        others = sorted(name for name in left.keys() | copy.keys() if left.get(name) != copy.get(name))
        shutil.rmtree(moment.left.folder)
        if lost := lost_by(f"{act}, killed at moment {number} ({moment.write})", act, scene, goal):
            return lost
        if not others:
            return ""
    return f"{act}, moment {number}: the kill leaves others than the copy holds: {others[:3]}"


def _files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a folder, and its folders as empty ones.

    Without SQLite's shared memory, which is written without system calls and made anew by whoever opens it next, and
    without the files that a thread of tantivy fills before it gives them their names: it may begin one after the copy.
    """
    found = (path for path in folder.rglob("*") if not path.name.endswith("-shm") and not path.name.startswith(".tmp"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in found}


def lost_by(killed: str, act: str, scene: Scene, goal: State) -> str:
    """Return what was lost by a kill, "" where the act, begun again, ends as if there had been none."""
    result = act_again(act, scene)
    shutil.rmtree(scene.folder)
    if isinstance(result, Failure):
        return f"{killed}: {result.words}"
    found, last = result
    wrong = [*_unsound(found), *differences(last, goal)]
    return f"{killed}: {'; '.join(wrong)}" if wrong else ""


def _unsound(state: State) -> Sequence[str]:
    """Return what does not agree in the state of one collection."""
    wrong = ["half done documents"] if state["half done"] else []
    wrong += ["Chroma and tantivy disagree"] if state["dense"] != state["sparse"] else []
    return wrong + (["the indexes hold what the catalog does not"] if "?" in state["dense"] else [])


def differences(state: State, goal: State) -> list[str]:
    """Return in what two states differ."""
    return [
        f"{name}: {len(state[name])} for {len(goal[name])}, {[one for one in state[name] if one not in goal[name]][:2]}"
        for name in goal
        if state[name] != goal[name]
    ]
