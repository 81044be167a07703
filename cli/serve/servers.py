"""The servers of `sextant serve`: the page, and Chroma on loopback, ended together."""

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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path

import httpx

from cli.serve.protection import LOOPBACK, Exposure
from ingestion.jobs.process import end_worker
from rag_engine import workspace as paths
from rag_engine.backends.chroma import check_database, lock_folder
from rag_engine.config import ROOT, Config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, WorkspaceError
from rag_engine.storage.catalog import check_catalog

_WAIT = 60.0
_WORKER_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1
# As in .streamlit/config.toml, whose list an option replaces.
_OWN_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")
# Loaded here: in a child between fork and exec another thread's lock may stay taken for ever.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Servers:
    """The running servers: where they answered first, and their processes by name.

    `waits_for` says who writes the collection: then Chroma is started when that process has ended.
    """

    here: paths.Serving
    processes: dict[str, subprocess.Popen[bytes]]
    log: Path
    workspace: Path
    waits_for: str

    def watch(self, stop: threading.Event) -> None:
        """Wait until stopped; BackendError when a server ends by itself."""
        waiting = bool(self.waits_for)
        while not stop.wait(_LOOK_SECONDS):
            for name, process in self.processes.items():
                _check_alive(name, process, self.log)
            if waiting and not _who_writes(self.workspace):
                url = _start_chroma(self.workspace, self.processes, self.log)
                paths.announce(self.workspace, replace(self.here, chroma_url=url))
                waiting = False


@contextmanager
def serving(engine: Engine, port: int, exposure: Exposure) -> Iterator[Servers]:
    """Yield the page and Chroma, answering until the block ends; then the worker ends with them."""
    config = engine.config
    running = paths.find_serving(config.workspace)
    if running is not None:
        raise WorkspaceError(
            f"Sextant already serves {config.workspace} at {running.address} (process {running.process}).",
            help="Open that address, or stop that process.",
        )
    check_catalog(config.workspace, config.catalog_url)
    address = f"http://{exposure.reached_at}:{_take_port(port, exposure.host)}"
    log = config.workspace / "serving.log"
    processes: dict[str, subprocess.Popen[bytes]] = {}
    with ExitStack() as at_end:
        at_end.callback(_end_all, processes)
        chroma_url = config.chroma_url
        waits_for = "" if chroma_url else _who_writes(config.workspace)
        if not chroma_url and not waits_for:
            chroma_url = _start_chroma(config.workspace, processes, log)
        here = paths.Serving(os.getpid(), address, chroma_url, time.strftime("%Y-%m-%d %H:%M:%S"))
        # Announced before the page runs, so that the page finds Chroma's address.
        paths.announce(config.workspace, here)
        at_end.callback(paths.withdraw, config.workspace)
        processes["page"] = _start_page(config, address, exposure, log)
        _wait_for(f"{address}/_stcore/health", "page", processes["page"], log)
        try:
            yield Servers(here, processes, log, config.workspace, waits_for)
        finally:
            # Withdrawn first: the worker takes up nothing more once the server that it was started beside is gone.
            paths.withdraw(config.workspace)
            end_worker(engine, _WORKER_SECONDS)


def _who_writes(workspace: Path) -> str:
    """Return who holds the folder of Chroma, in words; "" when it is free. The lock itself is for the server."""
    try:
        lock_folder(paths.chroma(workspace)).release()
    except WorkspaceError as error:
        return str(error.args[0])
    return ""


def _start_chroma(workspace: Path, processes: dict[str, subprocess.Popen[bytes]], log: Path) -> str:
    """Start the Chroma server beside the other processes; return its address when it answers."""
    check_database(paths.chroma(workspace))
    port = _take_port(0)
    command = [sys.executable, "-m", "cli.serve.servers", str(workspace), str(port)]
    processes["Chroma"] = _start(command, {"ANONYMIZED_TELEMETRY": "False"}, log)
    url = f"http://127.0.0.1:{port}"
    _wait_for(f"{url}/api/v2/heartbeat", "Chroma", processes["Chroma"], log)
    return url


def _take_port(port: int, host: str = LOOPBACK) -> int:
    """Return a port of a host that nothing listens on at this moment: the one asked for, or any for 0."""
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
        return int(probe.getsockname()[1])


def _start_page(config: Config, address: str, exposure: Exposure, log: Path) -> subprocess.Popen[bytes]:
    port = address.rpartition(":")[2]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless", "true"]
    command += ["--server.address", exposure.host, "--server.port", port]
    own = exposure.name and "STREAMLIT_SERVER_ALLOWED_HOSTS" not in os.environ
    for name in (*_OWN_NAMES, exposure.name) if own else ():
        command += ["--server.allowedHosts", name]
    return _start(command, {"SEXTANT_WORKSPACE": str(config.workspace)}, log)


def _start(command: list[str], extra: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    # A session of its own, so that Ctrl-C reaches us alone and we end the servers in order.
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | extra,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - one system call
        )


def _end_with_parent() -> None:
    """Have the kernel end this child when its parent is killed.

    A Chroma server left alone would continue to write a folder that the next one opens.
    """
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_for(url: str, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _WAIT
    with httpx.Client(timeout=2.0) as client:
        while time.monotonic() < deadline:
            try:
                # By a name of this machine, which the page answers at every address.
                answered = client.get(url, headers={"Host": "localhost"}).status_code == 200
            except httpx.HTTPError:
                answered = False
            # After the answer, which may be that of a program that took the port meanwhile.
            _check_alive(name, process, log)
            if answered:
                return
            # The server is another process: there is nothing to wait on but its answer.
            time.sleep(0.1)
    raise BackendError(f"No answer from {url} within {_WAIT:.0f} s.", help=f"See {log}.", retryable=True)


def _check_alive(name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        raise BackendError(
            f"The {name} server ended with code {process.returncode}.", help=f"See {log}.", retryable=True
        )


def _end_all(processes: dict[str, subprocess.Popen[bytes]]) -> None:
    """End the page, then the Chroma that it asks."""
    for name in ("page", "Chroma"):
        if name in processes:
            _end(processes[name])


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _serve_chroma(workspace: Path, port: int) -> None:
    """Run the Chroma server.

    The lock is this process's own, so that it stays taken as long as the folder may be written, whatever becomes of
    the `sextant serve` that started it.
    """
    folder = paths.chroma(workspace)
    with lock_folder(folder):
        chroma = next(iter(entry_points(group="console_scripts", name="chroma")))
        sys.argv = ["chroma", "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
        chroma.load()()


if __name__ == "__main__":
    _serve_chroma(Path(sys.argv[1]), int(sys.argv[2]))
