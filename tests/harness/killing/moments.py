"""kill -9 at random moments of an act with all its processes, and how the next process finds the rest."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.harness.killing.acts import Scene, State, carry_out
from tests.harness.killing.kills import AT_ONCE, lost_by
from tests.harness.killing.processes import begin, copied, received, run, state_now
from tests.harness.killing.scenes import folder_in_memory, scenes
from tests.harness.tally import Effort, Tally

_ACTS: Mapping[Effort, Sequence[str]] = {"short": ("add",), "whole": ("add", "erase", "rebuild", "run")}
_MOMENTS: Mapping[Effort, int] = {"short": 2, "whole": 50}
_SEED = 20
# An act that is quicker than it was at first may be done before it is killed; then another moment is taken.
_TRIES = 5


def moments(effort: Effort) -> Iterator[Tally]:
    """Kill acts at random moments; the same act afterwards must end as if it had not been killed."""
    with folder_in_memory() as folder:
        for act, start in scenes(folder):
            if act in _ACTS[effort]:
                yield _killed_at_random(act, start, _MOMENTS[effort])
                shutil.rmtree(folder / "cases", ignore_errors=True)
            if effort == "short":
                break


def _killed_at_random(act: str, start: Scene, count: int) -> Tally:
    cases = start.folder.parent / "cases"
    undisturbed = copied(start, cases / "undisturbed")
    # Not counting what the first process waits for: that the one is there from which all are forked.
    run(os.getpid)
    begun = time.monotonic()
    received(*begin(carry_out, act, undisturbed, quick=False))
    seconds, goal = time.monotonic() - begun, state_now(undisturbed)
    seeds = [_SEED + number for number in range(count)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(partial(_killed_once, act, start, goal, seconds), seeds))
    killed = [lost for was, lost in results if was]
    return Tally(f"kill -9 at random moments: {act}", len(killed), tuple(one for one in killed if one))


def _killed_once(act: str, start: Scene, goal: State, seconds: float, seed: int) -> tuple[bool, str]:
    """Return whether the process was killed before it was done, and what was lost."""
    chance = random.Random(seed)
    for number in range(_TRIES):
        scene = copied(start, start.folder.parent / "cases" / f"{seed}-{number}")
        process, _ = begin(carry_out, act, scene, quick=False)
        moment = chance.uniform(0.0, seconds)
        process.join(moment)
        alive = process.is_alive()
        process.kill()
        process.join()
        if alive:
            return True, lost_by(f"{act}, {moment:.2f} s", act, scene, goal)
        shutil.rmtree(scene.folder)
    return False, ""
