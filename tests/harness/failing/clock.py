"""A clock that jumps: during an act, and between the process that dated something and the next."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict

import sqlalchemy as sql

from ingestion.jobs.queue import JobQueue, jobs
from ingestion.worker import work
from rag_engine.storage.catalog import open_catalog
from tests.harness.failing.commands import DOCTOR, SEARCH, commands
from tests.harness.killing.acts import Failure, Scene, State, carry_out, open_scene
from tests.harness.killing.kills import differences
from tests.harness.killing.processes import copied, run, state_now
from tests.harness.tally import Tally

_DAY = 86_400.0
_JUMPS = {"a day forward": _DAY, "a day back": -_DAY, "thirty years back": -30 * 365 * _DAY}
# Calls after which the clock is back where it was.
_CALLS = 40
_ACTS = ("add", "erase", "rebuild")


def clock_jumps(start: Scene) -> Iterator[Tally]:
    """Let the clock jump under acts on a workspace that has documents."""
    lost: list[str] = []
    tried = 0
    for act in _ACTS:
        goal = _state_after(act, 0.0, start)
        assert not isinstance(goal, Failure), goal
        for name, seconds in _JUMPS.items():
            tried += 1
            state = _state_after(act, seconds, start)
            wrong = [state.words] if isinstance(state, Failure) else differences(state, goal)
            lost += [f"{act}, {name}: {'; '.join(wrong)}"] if wrong else []
    yield Tally("a clock that jumps in the middle of an act", tried, tuple(lost))
    dated = {name: _dated_otherwise(start, seconds) for name, seconds in _JUMPS.items()}
    lost = [f"{name}: {wrong}" for name, wrong in dated.items() if wrong]
    yield Tally("files and leases dated by a clock that was wrong", len(_JUMPS), tuple(lost))


def _state_after(act: str, seconds: float, start: Scene) -> State | Failure:
    scene = copied(start, start.folder.parent / "cases" / "jumped")
    failed: Failure | None = run(_act_with_jumps, act, scene, seconds)
    # Read by another process: what reads an index may write memory of its own into it.
    state = failed or state_now(scene)
    shutil.rmtree(scene.folder)
    return state


def _act_with_jumps(act: str, scene: Scene, seconds: float) -> None:
    now, calls = time.time, iter(range(10**9))
    time.time = lambda: now() + (seconds if next(calls) % (2 * _CALLS) >= _CALLS else 0.0)
    carry_out(act, scene)


def _dated_otherwise(start: Scene, seconds: float) -> str:
    """Return what goes wrong where everything was dated by another clock, "" for nothing."""
    scene = copied(start, start.folder.parent / "cases" / "dated")
    for path in scene.folder.rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() + seconds,) * 2)
    ended = run(commands, scene, SEARCH, DOCTOR, ("add", str(scene.given)), ("rebuild",))
    status = run(_finish_leased, scene, seconds)
    state = state_now(scene)
    shutil.rmtree(scene.folder)
    if isinstance(ended, Failure) or isinstance(status, Failure):
        return f"{ended}, {status}"
    if wrong := [one for one in ended if one.code]:
        return str(wrong)
    return status if status != "done" else "; ".join(differences(state | {"jobs": []}, state_now(start)))


def _finish_leased(scene: Scene, seconds: float) -> str:
    """Return what becomes of a job whose worker was killed, and had noted that it lives by another clock."""
    catalog = open_catalog(scene.workspace)
    queue = JobQueue(catalog)
    id = queue.queue("add", {"paths": [str(scene.given)]})
    queue.next()
    with catalog.begin() as connection:
        connection.execute(sql.update(jobs).values(heartbeat=time.time() + seconds))
    catalog.close()
    with closing(open_scene(scene)) as engine:
        JobQueue(engine.catalog).take_over()
        work(engine)
        ended = JobQueue(engine.catalog).find(id)
    return "it is gone" if ended is None else ended.status if ended.status == "done" else str(asdict(ended))
