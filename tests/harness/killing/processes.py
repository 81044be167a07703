"""Processes that act upon a workspace and can be killed: forked from one that has imported all of it."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from tests.harness.killing.acts import Failure, Scene, State, begin_again, carry_out, read_state, reported
from tests.harness.killing.watched_writes import Write, watch

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    ["tests.harness.killing.acts", "tests.harness.failing.commands", "tests.harness.fuzzing.fuzz"]
)
_MOST_SECONDS = 60


def act_undisturbed(act: str, scene: Scene) -> None:
    """Carry an act out in a process that nobody disturbs."""
    _checked(run(carry_out, act, scene))


def act_watched(act: str, scene: Scene, decide: Callable[[Write], int]) -> Failure | None:
    """Carry an act out, deciding at each write; return how it failed, also where it was killed."""
    result = run_watched(scene, decide, carry_out, act, scene)
    assert result is None or isinstance(result, Failure)
    return result


def run_watched(scene: Scene, decide: Callable[[Write], int], work: Callable[..., object], *arguments: object) -> Any:
    """Return what the work returns, deciding at each of its writes in the folder of the scene."""
    process, connection = begin(work, *arguments, held=True)
    assert process.pid is not None
    watch(connection, process.pid, scene.folder, decide)
    return received(process, connection)


def act_again(act: str, scene: Scene) -> tuple[State, State] | Failure:
    """Carry an act out after a killed one; return the state at its start and the state at its end.

    The first is the state that the process found or repaired.
    """
    result: tuple[State, State] | Failure = run(begin_again, act, scene)
    return result


def state_now(scene: Scene) -> State:
    """Return the state of a workspace."""
    state: State = _checked(run(read_state, scene))
    return state


def copied(scene: Scene, folder: Path) -> Scene:
    """Return a copy of a scene in another folder."""
    shutil.copytree(scene.folder, folder)
    return replace(scene, folder=folder)


def run(work: Callable[..., object], *arguments: object) -> Any:
    """Return the result of the work in a separate process, or a Failure."""
    return received(*begin(work, *arguments))


def begin(
    work: Callable[..., object], *arguments: object, held: bool = False, quick: bool = True
) -> tuple[ForkServerProcess, Connection]:
    """Begin the work in a separate process; return it with its end of a connection, see `reported`."""
    ours, theirs = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=reported, args=(work, arguments, theirs), kwargs={"held": held, "quick": quick})
    process.start()
    theirs.close()
    return process, ours


def received(process: ForkServerProcess, connection: Connection) -> Any:
    """Return what a process that was begun sends at its end."""
    try:
        received = connection.recv() if connection.poll(_MOST_SECONDS) else Failure("it did not end", told=False)
    except (EOFError, ConnectionError):
        received = None
    process.join(1)
    process.kill()
    process.join()
    return (
        Failure(f"it ended with {process.exitcode}", told=False) if received is None and process.exitcode else received
    )


def _checked(result: Any) -> Any:
    if isinstance(result, Failure):
        raise RuntimeError(result.words)
    return result
