"""Pool of confined processes that answer requests.

A process is started when it is needed, and replaced when it ended or took too long.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import Generic, TypeVar

from rag_engine.confinement.confine import Reach, child_environment

# The first message of a process: from then on time counts, and a failure may be a file's fault.
READY = b"ready"
# A start takes seconds on a busy machine, and is not of the file's time.
_START_SECONDS = 60.0
LARGEST_ANSWER = 2**29


def start_confined(
    module: str,
    reach: Reach,
    *arguments: str,
    variables: Mapping[str, str],
    stderr: int = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
    folder: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a module of ours that confines itself to a reach, in a new process group.

    The reach is the module's first argument. Nothing is ever written on its standard input; the end of that input tells
    the module that this process is gone.
    """
    return subprocess.Popen(
        # -P: modules are found by PYTHONPATH alone, not in the folder that we were started in.
        [sys.executable, "-P", "-s", "-m", module, reach.to_argument(), *arguments],
        pass_fds=pass_fds,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        start_new_session=True,
        cwd=folder,
        env=child_environment(**variables),
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, from any thread."""
    # macOS permits no signal to a group of which all have ended.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class ConfinedChild:
    """A confined process and the connection to it, whose descriptor is the last of its arguments."""

    def __init__(
        self,
        module: str,
        reach: Reach,
        *arguments: str,
        variables: Mapping[str, str],
        stderr: int = subprocess.DEVNULL,
    ) -> None:
        self._connection, theirs = Pipe()
        self._is_ready = False
        with theirs:
            descriptor = theirs.fileno()
            self._process = start_confined(
                module, reach, *arguments, str(descriptor), variables=variables, stderr=stderr, pass_fds=[descriptor]
            )

    @property
    def process_id(self) -> int:
        """Process id."""
        return self._process.pid

    def is_up(self) -> bool:
        """Wait until the process is ready; return whether it is, and has not ended since."""
        self._is_ready = self._is_ready or self.receive(_START_SECONDS, _START_SECONDS) == READY
        return self._is_ready and self._process.poll() is None

    def send(self, request: bytes, descriptor: int | None = None) -> None:
        """Send a request, with an open file; a process that has ended gives no answer."""
        with suppress(OSError):
            self._connection.send_bytes(request)
            if descriptor is not None:
                send_handle(self._connection, descriptor, self._process.pid)

    def receive(self, patience: float, seconds: float) -> bytes | None:
        """Return the next answer, b"" where the process has ended or keeps to no protocol.

        None when it does not begin within `patience`, or is not whole `seconds` later.
        """
        stuck = threading.Event()

        def give_up() -> None:
            stuck.set()
            self.kill()

        guard = threading.Timer(seconds, give_up)
        try:
            if not self._connection.poll(max(0.0, patience)):
                return None
            guard.start()
            return self._connection.recv_bytes(LARGEST_ANSWER)
        except (EOFError, OSError):
            self.kill()
            return None if stuck.is_set() else b""
        finally:
            guard.cancel()

    def kill(self) -> None:
        """End the process and everything it started; a thread that waits for its answer gets an error at once."""
        kill(self._process)

    def exit_code(self) -> int:
        """Wait for the end, and return the exit code."""
        return self._process.wait()

    def last_words(self) -> str:
        """Wait for the end, and return the signal that brought it, or the last line on standard error."""
        code = self.exit_code()
        said = self._process.stderr.read().decode("utf-8", "replace").splitlines() if self._process.stderr else []
        return f"signal {-code}" if code < 0 else [f"exit code {code}", *said][-1]

    def end(self) -> None:
        """End the process and close the connection.

        Only the thread that took the process out of its pool calls this, and once.
        """
        with self._process, self._connection:
            self.kill()


C = TypeVar("C", bound=ConfinedChild)


class ChildPool(Generic[C]):
    """Processes that wait for work; `take` starts another while all are busy. Safe from several threads."""

    def __init__(self, new: Callable[[], C]) -> None:
        self._new = new
        self._children: list[C] = []
        self._idle: queue.LifoQueue[C] = queue.LifoQueue()
        self.closed = False
        # A pool that is only dropped leaves no process behind either.
        weakref.finalize(self, _end_all, self._children)

    @property
    def process_ids(self) -> list[int]:
        """Process ids of the children."""
        return [child.process_id for child in self._children]

    def start(self) -> C:
        """Start a process."""
        child = self._new()
        self._children.append(child)
        if self.closed:
            child.kill()  # `kill` may have ended those it knew just before
        return child

    def take(self) -> C:
        """Return a process that waits for work, else a new one; the caller asks whether it has started."""
        while True:
            try:
                child = self._idle.get_nowait()
            except queue.Empty:
                return self.start()
            if child.is_up():
                return child
            self.dismiss(child)

    def give_back(self, child: C) -> None:
        """Have a process that was taken wait for the next work, unless it was dismissed."""
        if child in self._children:
            self._idle.put(child)

    def dismiss(self, child: C) -> None:
        """End a process, unless that is done: the next one to be taken replaces it."""
        try:
            self._children.remove(child)
        except ValueError:
            return
        child.end()

    def kill(self) -> None:
        """Kill the processes, present and future, from any thread.

        A thread that waits for an answer gets an error at once.
        """
        self.closed = True
        # Their connections are closed by the threads that wait for them: closed by two, one might be another's by then.
        for child in tuple(self._children):
            child.kill()

    def end(self) -> None:
        """End the processes."""
        self._idle = queue.LifoQueue()
        _end_all(self._children)


def _end_all(children: list[C]) -> None:
    while children:
        children.pop().end()
