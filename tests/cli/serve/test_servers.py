"""`sextant serve` as a process: its servers, commands beside it, and its end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from ingestion import workspace as folders
from ingestion.jobs.process import ensure_worker
from ingestion.jobs.queue import JobQueue
from rag_engine import workspace as paths
from rag_engine.backends.chroma import lock_folder
from rag_engine.errors import WorkspaceError
from rag_engine.storage.catalog import open_catalog
from tests.conftest import ROOT


class _Healthy(BaseHTTPRequestHandler):
    """Another program, which answers every question with 200."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def other_program() -> Iterator[int]:
    """Port of another program."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Healthy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@contextmanager
def serving(workspace: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running `sextant serve` and the page's address."""
    command = [sys.executable, "-m", "cli", "serve", "--port", "0", "--json", "-w", str(workspace), *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    assert process.stdout is not None
    try:
        said = "".join(iter(process.stdout.readline, "}\n"))
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address, said
        yield process, address[0]
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)


@pytest.fixture
def served(small_workspace: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    workspace = Path(shutil.copytree(small_workspace, tmp_path / "workspace"))
    with serving(workspace) as (process, address):
        yield process, workspace, address


def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"HF_HUB_OFFLINE": "1"} | settings
    return subprocess.run(
        [sys.executable, "-m", "cli", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_commands_work_beside_the_server_and_its_end_leaves_nothing_running(
    served: tuple[subprocess.Popen[str], Path, str], tmp_path: Path
) -> None:
    process, workspace, address = served
    assert httpx.get(address, timeout=20).status_code == 200
    servers = psutil.Process(process.pid).children(recursive=True)
    assert len(servers) >= 2
    assert {c.laddr.ip for server in servers for c in server.net_connections() if c.status == "LISTEN"} == {"127.0.0.1"}

    (tmp_path / "new.txt").write_text("The harbour master closes the flood gate at a level of two metres. " * 8)
    added = run("add", str(tmp_path / "new.txt"), "-w", str(workspace), "--json")
    assert json.loads(added.stdout)["documents"][0]["status"] == "indexed", added.stdout + added.stderr
    checks = {c["name"]: c for c in json.loads(run("doctor", "-w", str(workspace), "--json").stdout)["checks"]}
    assert checks["Dense index (Chroma)"]["state"] == "good"

    again = run("serve", "--port", "0", "-w", str(workspace))
    assert again.returncode == 2
    assert address in again.stderr

    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert not [server for server in servers if server.is_running() and server.status() != psutil.STATUS_ZOMBIE]
    assert run("search", "flood gate", "-w", str(workspace)).returncode == 0


def test_beside_a_process_that_adds_files_the_page_answers_and_what_it_shall_add_waits(
    small_workspace: Path, tmp_path: Path
) -> None:
    workspace = Path(shutil.copytree(small_workspace, tmp_path / "workspace"))
    (tmp_path / "new.txt").write_text("The harbour master closes the flood gate at a level of two metres. " * 8)
    folder = lock_folder(paths.chroma(workspace))
    with ExitStack() as adding, closing(open_catalog(workspace)) as catalog:
        adding.callback(folder.release)
        adding.enter_context(paths.write_lock(workspace))
        with serving(workspace) as (_, address):
            assert httpx.get(address, timeout=20).status_code == 200
            assert run("search", "flood", "-w", str(workspace)).returncode == 0
            jobs = JobQueue(catalog)
            id = jobs.queue("add", {"paths": [str(tmp_path / "new.txt")]})
            ensure_worker(workspace)
            _wait_until(
                lambda: (one := jobs.find(id)) and one.progress and f"process {os.getpid()}" in one.progress.current
            )
            adding.close()
            _wait_until(lambda: (one := jobs.find(id)) and one.status == "done")
            running = paths.find_serving(workspace)
            assert running is not None
            assert running.chroma_url
            found = run("search", "harbour master", "-w", str(workspace), "--json")
            assert "new.txt" in found.stdout


def _wait_until(happened: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        threading.Event().wait(0.1)


def test_servers_whose_owner_was_killed_end_too_and_a_new_one_can_follow_at_once(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
    process, workspace, _ = served
    servers = psutil.Process(process.pid).children()
    process.kill()
    process.wait(10)
    with serving(workspace):
        gone, alive = psutil.wait_procs(servers, timeout=20)
        assert not alive
        assert len(gone) == 2


def test_the_folder_stays_locked_as_long_as_the_chroma_of_a_killed_owner_runs(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
    process, workspace, _ = served
    [chroma] = [one for one in psutil.Process(process.pid).children() if "cli.serve.servers" in one.cmdline()]
    # Suspended, it does not hear that its owner is gone.
    chroma.suspend()
    process.kill()
    process.wait(10)
    with pytest.raises(WorkspaceError, match=f"process {chroma.pid}"):
        lock_folder(paths.chroma(workspace))
    chroma.resume()
    chroma.wait(20)
    lock_folder(paths.chroma(workspace)).release()


def test_a_port_that_another_program_has_is_named_with_the_cure(tmp_path: Path, other_program: int) -> None:
    refused = run("serve", "--port", str(other_program), "-w", str(tmp_path))
    assert refused.returncode == 2
    assert f"Port {other_program} is in use" in refused.stderr
    assert "--port" in refused.stderr


def test_a_wrong_setting_is_named_with_the_cure(tmp_path: Path) -> None:
    refused = run("serve", "--port", "0", "-w", str(tmp_path), SEXTANT_EXECUTION="abacus")
    assert refused.returncode == 2
    assert refused.stderr.startswith("SEXTANT_EXECUTION='abacus'")


def test_the_command_ends_with_the_log_named_when_a_server_dies(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
    process, workspace, _ = served
    [page] = [one for one in psutil.Process(process.pid).children() if "streamlit" in one.cmdline()]
    page.kill()
    assert process.wait(30) == 2
    assert process.stdout is not None
    assert str(workspace / "serving.log") in json.loads(process.stdout.read())["error"]
    assert paths.find_serving(workspace) is None


def test_the_sample_is_queued_again_after_a_failure_and_the_end_of_serving_ends_its_worker(tmp_path: Path) -> None:
    sample = {"paths": [str(ROOT / "data" / "sample" / "documents")]}
    with closing(open_catalog(tmp_path)) as catalog:
        jobs = JobQueue(catalog)
        jobs.finish(jobs.queue("add", sample), "failed", [])
        with serving(tmp_path, "--sample") as (process, _):
            again, _ = jobs.runs()
            assert dict(again.arguments) == sample
            assert again.status in ("queued", "running")
            deadline = time.monotonic() + 60
            while not jobs.runs()[0].progress:
                assert time.monotonic() < deadline
                threading.Event().wait(0.05)
            process.send_signal(signal.SIGINT)
            assert process.wait(40) == 0
            assert jobs.runs()[0].status == "cancelled"
            assert folders.await_worker(tmp_path)


def test_an_announcement_counts_only_while_the_process_that_made_it_lives(tmp_path: Path, other_program: int) -> None:
    url = f"http://127.0.0.1:{other_program}"
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    paths.announce(tmp_path, paths.Serving(os.getpid(), url, url, now))
    assert paths.find_serving(tmp_path) is not None
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    paths.announce(tmp_path, paths.Serving(ended.pid, url, url, now))
    assert paths.find_serving(tmp_path) is None
    # The number of the process that made it was given again, to this one.
    paths.announce(tmp_path, paths.Serving(os.getpid(), url, url, "2020-01-01 00:00:00"))
    assert paths.find_serving(tmp_path) is None


@pytest.mark.parametrize("half", ["", '{"process": 4', "[]", '{"process": 4}'])
def test_a_half_written_announcement_is_none(tmp_path: Path, half: str) -> None:
    (tmp_path / "serving.json").write_text(half)
    assert paths.find_serving(tmp_path) is None


def test_a_writer_whose_note_is_half_written_is_an_unknown_one(tmp_path: Path) -> None:
    with paths.write_lock(tmp_path):
        (tmp_path / "writer.json").write_text('{"pro')
        with pytest.raises(WorkspaceError, match="process \\?"), paths.write_lock(tmp_path):
            pass
