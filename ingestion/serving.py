"""The servers of `sextant serve`: Chroma and the page, on loopback, ended together."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from rag_engine import workspace as places
from rag_engine.backends.chroma import lock_folder
from rag_engine.config import Config
from rag_engine.errors import BackendError, WorkspaceError

_ROOT = Path(__file__).resolve().parents[1]
_WAIT = 60.0
_PR_SET_PDEATHSIG = 1


@contextmanager
def serving(config: Config, port: int) -> Iterator[places.Serving]:
    """Where the page and Chroma answer, until the block ends."""
    running = places.find_serving(config.workspace)
    if running is not None:
        raise WorkspaceError(
            f"Sextant already serves {config.workspace} at {running.address} (process {running.process}).",
            help="Open that address, or stop that process.",
        )
    log = config.workspace / "serving.log"
    config.workspace.mkdir(parents=True, exist_ok=True)
    lock = None if config.chroma_url else lock_folder(places.chroma(config.workspace))
    started: list[subprocess.Popen[bytes]] = []
    try:
        with log.open("ab") as output:
            chroma_url = config.chroma_url or _start_chroma(config, started, output.fileno())
            address = f"http://127.0.0.1:{port or free_port()}"
            here = places.Serving(os.getpid(), address, chroma_url, time.strftime("%Y-%m-%d %H:%M:%S"))
            # Announced before the page runs, so that the page finds Chroma's address.
            places.announce(config.workspace, here)
            _start_page(config, address, started, output.fileno())
            _wait_for(f"{address}/_stcore/health", started[-1], log)
        yield here
    finally:
        places.withdraw(config.workspace)
        for process in reversed(started):
            _end(process)
        if lock is not None:
            lock.release()


def free_port() -> int:
    """A loopback port that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start_chroma(config: Config, started: list[subprocess.Popen[bytes]], output: int) -> str:
    port = free_port()
    program = Path(sys.executable).with_name("chroma")
    command = [str(program), "run", "--path", str(places.chroma(config.workspace)), "--host", "127.0.0.1"]
    started.append(_start([*command, "--port", str(port)], {"ANONYMIZED_TELEMETRY": "False"}, output))
    url = f"http://127.0.0.1:{port}"
    _wait_for(f"{url}/api/v2/heartbeat", started[-1], config.workspace / "serving.log")
    return url


def _start_page(config: Config, address: str, started: list[subprocess.Popen[bytes]], output: int) -> None:
    port = address.rpartition(":")[2]
    command = [sys.executable, "-m", "streamlit", "run", str(_ROOT / "app.py"), "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", port]
    started.append(_start(command, {"SEXTANT_WORKSPACE": str(config.workspace)}, output))


def _start(command: list[str], extra: dict[str, str], output: int) -> subprocess.Popen[bytes]:
    # A session of its own, so that Ctrl-C reaches us alone and we end the servers in order.
    return subprocess.Popen(
        command,
        cwd=_ROOT,
        env=os.environ | extra,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )


def _end_with_parent() -> None:
    """Nothing; has the kernel end this child when its parent is killed: a Chroma server left alone would go on
    writing a folder that the next one opens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _WAIT
    with httpx.Client(timeout=2.0) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise BackendError(f"A server ended with code {process.returncode}.", help=f"Its words are in {log}.")
            try:
                if client.get(url).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            # The server is another process: there is nothing to wait on but its answer.
            time.sleep(0.1)
    raise BackendError(f"No answer from {url} within {_WAIT:.0f} s.", help=f"Its words are in {log}.", retryable=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
