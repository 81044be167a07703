"""The page of `sextant serve`, as a process that is started again where it ends by itself."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from cli.serve.protection import LOOPBACK, Exposure, check_protected
from ingestion.jobs.process import end_worker
from rag_engine.atomic_write import bound_log
from rag_engine.config import ROOT, Config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, WorkspaceError
from rag_engine.processes.serving import LOGIN_REQUIRED, Serving, announce, find_serving, new_serving, withdraw
from rag_engine.storage.catalog import check_databases

_WAIT = 60.0
_WORKER_SECONDS = 10.0
_LOOK_SECONDS = 1.0
# A server that ends by itself is started again, unless _MOST_ENDS ended within _ENDS_SECONDS.
_MOST_ENDS = 4
_ENDS_SECONDS = 60.0
PAGE_COMMAND = (sys.executable, "-m", "cli.serve.page", "run")
_PR_SET_PDEATHSIG = 1
# As in .streamlit/config.toml, whose list an option replaces.
_OWN_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")
# Loaded here: in a child between fork and exec another thread's lock may never be released.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(slots=True)
class PageServer:
    """The page of a running `sextant serve`, with its process, started again if it ends by itself."""

    config: Config
    exposure: Exposure
    here: Serving
    log: Path
    process: subprocess.Popen[bytes] | None = None
    _ends: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_ENDS))

    def watch(self, stop: threading.Event) -> None:
        """Keep the page running until stopped; BackendError when it ends by itself again and again."""
        while not stop.wait(_LOOK_SECONDS):
            if self.process is not None and self.process.poll() is not None:
                self._start_again(self.process)
            bound_log(self.log)

    def start(self) -> None:
        """Start the page at its address; InputError where the login fails, or is no longer as it began."""
        if check_protected(self.exposure.host) != self.exposure:
            raise InputError(
                "What secrets.toml says of the login has changed since Sextant began to serve.",
                help="Start `sextant serve` again, or put the former file back.",
            )
        self.process = _start_page(self.config, self.here.address, self.exposure, self.log)
        _wait_for_page(self.here.address, self.process, self.log)

    def _start_again(self, ended: subprocess.Popen[bytes]) -> None:
        """Start the page that ended by itself again; BackendError where that happens too often."""
        self._ends.append(time.monotonic())
        if len(self._ends) == _MOST_ENDS and self._ends[-1] - self._ends[0] < _ENDS_SECONDS:
            _check_alive(ended, self.log)
        with self.log.open("a", encoding="utf-8") as file:
            when = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"{when} The page server ended by itself (exit code {ended.returncode}) and is started again.\n")
        self.start()

    def end(self) -> None:
        """End the page."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@contextmanager
def serving(engine: Engine, port: int, exposure: Exposure) -> Iterator[PageServer]:
    """Yield the page, answering until the block ends; then the worker ends with it."""
    config = engine.config
    running = find_serving(config.workspace)
    if running is not None:
        raise WorkspaceError(
            f"Sextant already serves {config.workspace} at {running.address} (process {running.process}).",
            help="Open that address, or stop that process.",
        )
    check_databases(config.workspace, config.catalog_url)
    with ExitStack() as at_end:
        # Held to the end, for the page binds it seconds later, and again each time it is restarted.
        page_port = at_end.enter_context(free_port(port, exposure.host))
        here = new_serving(config.workspace, f"http://{exposure.reached_at}:{page_port}")
        page = PageServer(config, exposure, here, config.workspace / "serving.log")
        at_end.callback(page.end)
        at_end.callback(withdraw, config.workspace)
        announce(config.workspace, here)
        page.start()
        try:
            yield page
        finally:
            # Withdrawn first: the worker takes up nothing more once the server that it was started beside is gone.
            withdraw(config.workspace)
            end_worker(engine, _WORKER_SECONDS)


@contextmanager
def free_port(port: int = 0, host: str = LOOPBACK) -> Iterator[int]:
    """Yield a port of a host that nothing listens on: the one asked for, or any for 0.

    Linux gives it to no program that asks for any port meanwhile, but to the server that asks for this one.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        if os.name == "posix":
            # As the servers do, so that a port is free again as soon as its last server has ended.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            raise InputError(
                f"Port {port} is in use by another program." if taken else f"Port {port} of {host}: {error.strerror}.",
                help="Choose another with --port; --port 0 takes a free one."
                + ("" if taken else " Or another --host."),
            ) from error
        free = int(probe.getsockname()[1])
        if sys.platform != "linux":
            # Elsewhere the server could not bind it beside us.
            probe.close()
        yield free


def _start_page(config: Config, address: str, exposure: Exposure, log: Path) -> subprocess.Popen[bytes]:
    port = address.rpartition(":")[2]
    command = [*PAGE_COMMAND, str(ROOT / "app.py"), "--server.headless", "true"]
    command += ["--server.address", exposure.host, "--server.port", port]
    # The option replaces the variable, which is there to name more.
    others = os.environ.get("STREAMLIT_SERVER_ALLOWED_HOSTS", "").replace(",", " ").split()
    for name in (*_OWN_NAMES, *exposure.names, *others):
        command += ["--server.allowedHosts", name]
    own = {"SEXTANT_WORKSPACE": str(config.workspace)} | ({LOGIN_REQUIRED: "yes"} if exposure.address else {})
    # A separate session, so that Ctrl-C reaches us alone and we end the page in order.
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - one system call
        )


def _end_with_parent() -> None:
    """Have the kernel end this child when its parent is killed."""
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _page_answers(address: str) -> bool:
    # By a name of this machine, which the page answers at every address.
    host = f"localhost:{urlsplit(address).port}"
    try:
        return httpx.get(f"{address}/_stcore/health", headers={"Host": host}, timeout=2.0).status_code == 200
    except httpx.HTTPError:
        return False


def _wait_for_page(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        answered = _page_answers(address)
        # After the answer, which may be that of a program that took the port meanwhile.
        _check_alive(process, log)
        if answered:
            return
        # The page is another process: there is nothing to wait on but its answer.
        time.sleep(0.1)
    raise BackendError(f"No answer from the page server within {_WAIT:.0f} s.", help=f"See {log}.", retryable=True)


def _check_alive(process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        raise BackendError(f"The page server ended with code {process.returncode}.", help=f"See {log}.", retryable=True)
