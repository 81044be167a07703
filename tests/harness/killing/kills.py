"""kill -9 at every write of an act, one after the other, and what the next process makes of what is left."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
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
# As many moments of each act: in the short form, and where all would take longer than the whole may.
_FEW, _MOST = 2, 100
# The others begin where these have been.
_SHORT = ("add", "erase")
AT_ONCE = 2


@dataclass
class KillAt:
    """A decision that kills a process at one of its moments, none for 0, and counts them and its writes."""

    moment: int = 0
    moments: int = 0
    writes: int = 0
    at: Write | None = None
    _last: Write | None = None
    _in_a_row: int = field(default=0)

    def __call__(self, write: Write) -> int:
        """Return whether the process goes on."""
        self.writes += 1
        self._in_a_row = self._in_a_row + 1 if write == self._last else 1
        self._last = write
        self.moments += self._in_a_row <= _OF_A_ROW
        if self.moments != self.moment or self._in_a_row > _OF_A_ROW:
            return PASS
        self.at = write
        return KILL


def kills(effort: Effort, most: int = _MOST) -> Iterator[Tally]:
    """Kill each act at its writes, `most` of them; the same act afterwards must end as if none had been killed."""
    with folder_in_memory() as folder:
        for act, scene in scenes(folder):
            if effort == "short" and act not in _SHORT:
                break
            yield _killed_everywhere(act, scene, _FEW if effort == "short" else most)
            shutil.rmtree(scene.folder.parent / "cases", ignore_errors=True)


def every_kill(_effort: Effort) -> Iterator[Tally]:
    """Kill each act at each of its writes, which takes a quarter of an hour."""
    yield from kills("whole", most=sys.maxsize)


def _killed_everywhere(act: str, start: Scene, most: int) -> Tally:
    cases = start.folder.parent / "cases"
    undisturbed = copied(start, cases / "undisturbed")
    counted = KillAt()
    if failed := act_watched(act, undisturbed, counted):
        return Tally(f"kill -9 at the writes of {act}", 1, (f"undisturbed it ends with {failed.words}",))
    goal = state_now(undisturbed)
    step = -(-counted.moments // most)
    moments = range((step + 1) // 2, counted.moments + 1, step)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lost = list(pool.map(partial(_killed_once, act, start, cases, goal), moments))
    every = f"all {counted.moments}" if step == 1 else f"1 in {step} of {counted.moments}"
    what = f"kill -9 at {every} moments between {counted.writes} writes: {act}"
    return Tally(what, len(moments), tuple(one for one in lost if one))


def _killed_once(act: str, start: Scene, cases: Path, goal: State, moment: int) -> str:
    """Return what was lost by a kill at a moment, "" for nothing."""
    scene = copied(start, cases / str(moment))
    killed = KillAt(moment)
    act_watched(act, scene, killed)
    return lost_by(f"{act}, moment {moment} ({killed.at})", act, scene, goal)


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
