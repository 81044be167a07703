"""`sextant serve` as a process: its servers, commands beside it, and its end."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from itertools import takewhile
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from ingestion import workspace as folders
from ingestion.jobs.process import ensure_worker
from ingestion.jobs.queue import JobQueue
from rag_engine.config import cache_folder
from rag_engine.errors import WorkspaceError
from rag_engine.processes.serving import announce, find_serving, new_serving
from rag_engine.processes.writer_lock import write_lock
from rag_engine.storage.catalog import open_catalog
from tests.cli.serve.test_protection import LOGIN
from tests.conftest import ROOT
from tests.present import present

# The process, its workspace and its page's address.
Served = tuple[subprocess.Popen[str], Path, str]


@pytest.fixture
def other_program() -> Iterator[int]:
    """Port of another program."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def serving(workspace: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running `sextant serve` and the page's address."""
    command = [sys.executable, "-m", "cli", "serve", "--port", "0", "--json", "-w", str(workspace), *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    assert process.stdout is not None
    try:
        # Of a server that ends at once there is no last line.
        said = "".join(takewhile(lambda line: line != "}\n", process.stdout))
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address, said
        yield process, address[0]
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)


@pytest.fixture
def served(workspace: Path) -> Iterator[Served]:
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


def test_commands_work_beside_the_server_and_its_end_leaves_nothing_running(served: Served, tmp_path: Path) -> None:
    process, workspace, address = served
    assert httpx.get(address, timeout=20).status_code == 200
    servers = psutil.Process(process.pid).children(recursive=True)
    assert servers
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
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.txt").write_text("The harbour master closes the flood gate at a level of two metres. " * 8)
    with ExitStack() as adding, closing(open_catalog(workspace)) as catalog:
        adding.enter_context(write_lock(workspace))
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
            found = run("search", "harbour master", "-w", str(workspace), "--json")
            assert "new.txt" in found.stdout


def _wait_until(happened: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        threading.Event().wait(0.1)


def test_servers_whose_owner_was_killed_end_too_and_a_new_one_can_follow_at_once(served: Served) -> None:
    process, workspace, _ = served
    servers = psutil.Process(process.pid).children()
    process.kill()
    process.wait(10)
    with serving(workspace):
        gone, alive = psutil.wait_procs(servers, timeout=20)
        assert not alive
        assert len(gone) == len(servers)


def test_a_port_that_another_program_has_is_named_with_the_cure(tmp_path: Path, other_program: int) -> None:
    refused = run("serve", "--port", str(other_program), "-w", str(tmp_path))
    assert refused.returncode == 2
    assert f"Port {other_program} is in use" in refused.stderr
    assert "--port" in refused.stderr


def test_a_wrong_setting_is_named_with_the_cure(tmp_path: Path) -> None:
    refused = run("serve", "--port", "0", "-w", str(tmp_path), SEXTANT_EXECUTION="abacus")
    assert refused.returncode == 2
    assert refused.stderr.startswith("SEXTANT_EXECUTION: execution='abacus'")


def test_a_server_that_dies_is_started_again_at_its_address(served: Served) -> None:
    process, workspace, address = served
    before = present(find_serving(workspace))
    for child in psutil.Process(process.pid).children():
        child.kill()
    _wait_until(lambda: _answers(address))
    assert find_serving(workspace) == before
    assert process.poll() is None
    assert run("search", "flood", "-w", str(workspace)).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a port for a server that is still to bind it")
def test_a_port_is_given_to_nobody_else_while_its_page_is_started(served: Served) -> None:
    process, _, address = served
    port = int(address.rpartition(":")[2])
    [page] = [one for one in psutil.Process(process.pid).children() if "cli.serve.page" in one.cmdline()]
    page.kill()
    psutil.wait_procs([page], timeout=10)
    with socket.socket() as another, pytest.raises(OSError, match="in use"):
        another.bind(("127.0.0.1", port))
    _wait_until(lambda: _answers(address))


@pytest.mark.needs("authlib")
@pytest.mark.parametrize("text", ["[auth\n", ""])
def test_a_page_whose_login_cannot_be_read_any_more_is_not_started_again(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    secrets = tmp_path / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    secrets.write_text(LOGIN, encoding="utf-8")
    monkeypatch.setenv("SEXTANT_CACHE", str(cache_folder()))
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(workspace) as (process, address):
        secrets.write_text(text, encoding="utf-8")
        [page] = [one for one in psutil.Process(process.pid).children() if "cli.serve.page" in one.cmdline()]
        page.kill()
        assert process.wait(120) == 2
        assert process.stdout is not None
        assert "secrets.toml" in json.loads(process.stdout.read())["error"]
        assert not _answers(address)


def test_the_command_ends_with_the_log_named_when_a_server_dies_again_and_again(served: Served) -> None:
    process, workspace, _ = served
    while process.poll() is None:
        with suppress(psutil.Error):
            for child in psutil.Process(process.pid).children():
                child.kill()
        threading.Event().wait(0.05)
    assert process.returncode == 2
    assert process.stdout is not None
    assert str(workspace / "serving.log") in json.loads(process.stdout.read())["error"]
    assert find_serving(workspace) is None


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_copy_of_a_workspace_does_not_use_the_servers_of_the_original(served: Served, tmp_path: Path) -> None:
    _, workspace, _ = served
    assert find_serving(workspace) is not None
    copy = Path(shutil.copytree(workspace, tmp_path / "copy"))
    assert find_serving(copy) is None


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000, '{"process": 4', '{"process": 4}', "of other kinds"])
def test_an_announcement_that_no_server_wrote_announces_nothing(tmp_path: Path, content: str) -> None:
    fields = asdict(new_serving(tmp_path, ""))
    written = json.dumps(dict.fromkeys(fields, "x")) if content == "of other kinds" else content
    (tmp_path / "serving.json").write_text(written, encoding="utf-8")
    assert find_serving(tmp_path) is None


def test_the_sample_is_queued_again_after_a_failure_and_the_end_of_serving_ends_its_worker(tmp_path: Path) -> None:
    sample = {"paths": [str(ROOT / "data" / "sample" / "documents")]}
    with closing(open_catalog(tmp_path)) as catalog:
        jobs = JobQueue(catalog)
        jobs.finish(jobs.queue("add", sample), "failed", [])
        with serving(tmp_path, "--sample") as (process, _):
            again, _ = jobs.latest()
            assert dict(again.arguments) == sample
            assert again.status in ("queued", "running")
            _wait_until(lambda: jobs.latest()[0].progress)
            process.send_signal(signal.SIGINT)
            assert process.wait(40) == 0
            assert jobs.latest()[0].status == "cancelled"
            assert folders.await_worker(tmp_path)


def test_an_announcement_counts_only_while_the_process_that_made_it_lives(tmp_path: Path) -> None:
    mine = new_serving(tmp_path, "http://127.0.0.1:8501")
    announce(tmp_path, mine)
    assert find_serving(tmp_path) == mine
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    announce(tmp_path, replace(mine, process=ended.pid))
    assert find_serving(tmp_path) is None
    # The number of the process that made it was given again, to this one.
    announce(tmp_path, replace(mine, started=mine.started - 3600))
    assert find_serving(tmp_path) is None


def test_a_writer_whose_note_is_half_written_is_an_unknown_one(tmp_path: Path) -> None:
    with write_lock(tmp_path):
        (tmp_path / "writer.json").write_text('{"pro')
        with pytest.raises(WorkspaceError, match="process \\?"), write_lock(tmp_path):
            pass
