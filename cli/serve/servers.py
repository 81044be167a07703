"""The servers of `sextant serve`: the page, and Chroma on loopback, ended together."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from sqlalchemy.exc import OperationalError

from cli.serve.protection import LOOPBACK, Exposure, check_protected
from ingestion.jobs.process import end_worker
from rag_engine import workspace as paths
from rag_engine.atomic_write import bound_log
from rag_engine.backends.chroma import check_database, lock_folder
from rag_engine.config import ROOT, Config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError, SextantError, WorkspaceError
from rag_engine.storage.catalog import check_catalog
from rag_engine.text.control_characters import print_plainly

_WAIT = 60.0
_WORKER_SECONDS = 10.0
_LOOK_SECONDS = 1.0
# A shared Chroma that is down would keep a look from the servers if it were asked at each.
_CATCH_UP_SECONDS = 5.0
# A server that ends by itself is started again, unless so many ended within so many seconds.
_MOST_ENDS = 4
_ENDS_SECONDS = 60.0
# Chroma writes room that it has not filled to the files of a new index, as malloc gives it. With this, glibc fills it
# with one byte, in place of words of what was deleted.
_CHROMA_ENVIRONMENT = {"ANONYMIZED_TELEMETRY": "False", "MALLOC_PERTURB_": "85"}
PAGE_COMMAND = (sys.executable, "-m", "cli.serve.page", "run")
_PR_SET_PDEATHSIG = 1
# As in .streamlit/config.toml, whose list an option replaces.
_OWN_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")
# Loaded here: in a child between fork and exec another thread's lock may stay taken for ever.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(slots=True)
class Servers:
    """The running servers: where they answer, and their processes by name.

    `waits_for` says who writes the collection: then Chroma is started when that process has ended.
    """

    engine: Engine
    exposure: Exposure
    here: paths.Serving
    log: Path
    waits_for: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _noted: str = ""
    _ends: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_ENDS))

    def watch(self, stop: threading.Event) -> None:
        """Keep the servers running until stopped; BackendError when one ends by itself again and again."""
        waiting, next_try = bool(self.waits_for), 0.0
        while not stop.wait(_LOOK_SECONDS):
            for name, process in [*self.processes.items()]:
                if process.poll() is not None:
                    self._start_again(name, process)
            if waiting and not _who_writes(self.engine.config.workspace):
                self.start_chroma()
                waiting = False
            bound_log(self.log)
            if time.monotonic() >= next_try:
                next_try = self._catch_up()

    def _catch_up(self) -> float:
        """Have the dense index take up what it lacks; return when to look again."""
        try:
            if not self.engine.collection.is_behind():
                return 0.0
            self.engine.collection.catch_up()
        except (SextantError, OperationalError, OSError) as error:
            # Where another process writes, that one does it. Neither that nor a catalog that is away ends the servers.
            if not (isinstance(error, SextantError) and error.retryable):
                self._note(f"The dense index was not brought up to date: {error}")
        return time.monotonic() + _CATCH_UP_SECONDS

    def _note(self, text: str) -> None:
        """Add a line to the log of the servers; the one before is not repeated."""
        if text != self._noted:
            self._noted = text
            with self.log.open("a", encoding="utf-8") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def start_chroma(self) -> None:
        """Start the Chroma server at the address and with the key of the one before, and announce it."""
        workspace, url = self.engine.config.workspace, self.here.chroma_url
        check_database(paths.chroma(workspace))
        with ExitStack() as held:
            try:
                port = held.enter_context(free_port(urlsplit(url).port or 0))
            except InputError:
                port = held.enter_context(free_port())
            key = self.here.key or secrets.token_urlsafe(32)
            command = [sys.executable, "-m", "cli.serve.servers", str(workspace), str(port)]
            self.processes["Chroma"] = _start(command, _CHROMA_ENVIRONMENT, self.log, key)
            self.here = replace(self.here, chroma_url=f"http://{LOOPBACK}:{port}", key=key)
            _wait_for(lambda: paths.chroma_confirms(self.here), "Chroma", self.processes["Chroma"], self.log)
        paths.announce(workspace, self.here)

    def start_page(self) -> None:
        """Start the page at its address; InputError where the login does not work, or is no longer as it began."""
        if check_protected(self.exposure.host) != self.exposure:
            raise InputError(
                "What secrets.toml says of the login has changed since Sextant began to serve.",
                help="Start `sextant serve` again, or put the former file back.",
            )
        address = self.here.address
        self.processes["page"] = _start_page(self.engine.config, address, self.exposure, self.log)
        _wait_for(lambda: _page_answers(address), "page", self.processes["page"], self.log)

    def _start_again(self, name: str, ended: subprocess.Popen[bytes]) -> None:
        """Start a server that ended by itself again; BackendError where that happens too often."""
        self._ends.append(time.monotonic())
        if len(self._ends) == _MOST_ENDS and self._ends[-1] - self._ends[0] < _ENDS_SECONDS:
            _check_alive(name, ended, self.log)
        self._note(f"The {name} server ended by itself (exit code {ended.returncode}) and is started again.")
        if name == "Chroma":
            self.start_chroma()
        else:
            self.start_page()


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
    waits_for = "" if config.chroma_url else _who_writes(config.workspace)
    with ExitStack() as at_end:
        # Held to the end, for the page binds it seconds later, and again where it is started anew.
        page_port = at_end.enter_context(free_port(port, exposure.host))
        here = paths.new_serving(config.workspace, f"http://{exposure.reached_at}:{page_port}", config.chroma_url)
        servers = Servers(engine, exposure, here, config.workspace / "serving.log", waits_for)
        at_end.callback(end_all, servers.processes)
        at_end.callback(paths.withdraw, config.workspace)
        # Announced before the page runs, so that the page finds Chroma's address.
        if config.chroma_url or waits_for:
            paths.announce(config.workspace, here)
        else:
            servers.start_chroma()
        servers.start_page()
        try:
            yield servers
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
    login = {paths.LOGIN_REQUIRED: "yes"} if exposure.address else {}
    return _start(command, {"SEXTANT_WORKSPACE": str(config.workspace)} | login, log)


def _start(command: list[str], extra: dict[str, str], log: Path, key: str = "") -> subprocess.Popen[bytes]:
    """Start a server, which reads its key, where it has one, from its standard input: arguments can be seen by all."""
    # A session of its own, so that Ctrl-C reaches us alone and we end the servers in order.
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | extra,
            stdin=subprocess.PIPE if key else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - one system call
        )
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as given:
            given.write(key.encode())
    return process


def _end_with_parent() -> None:
    """Have the kernel end this child when its parent is killed.

    A Chroma server left alone would continue to write a folder that the next one opens.
    """
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _page_answers(address: str) -> bool:
    # By a name of this machine, which the page answers at every address.
    host = f"localhost:{urlsplit(address).port}"
    try:
        return httpx.get(f"{address}/_stcore/health", headers={"Host": host}, timeout=2.0).status_code == 200
    except httpx.HTTPError:
        return False


def _wait_for(answers: Callable[[], bool], name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        answered = answers()
        # After the answer, which may be that of a program that took the port meanwhile.
        _check_alive(name, process, log)
        if answered:
            return
        # The server is another process: there is nothing to wait on but its answer.
        time.sleep(0.1)
    raise BackendError(f"No answer from the {name} server within {_WAIT:.0f} s.", help=f"See {log}.", retryable=True)


def _check_alive(name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        raise BackendError(
            f"The {name} server ended with code {process.returncode}.", help=f"See {log}.", retryable=True
        )


def end_all(processes: dict[str, subprocess.Popen[bytes]]) -> None:
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


if __name__ == "__main__":
    # Before Chroma and its server get hold of the streams.
    print_plainly()
    from rag_engine.backends.served_chroma.server import serve

    serve(Path(sys.argv[1]), int(sys.argv[2]), sys.stdin.read())
