"""`sextant serve` as a process: its servers, commands beside it, and its end."""

from __future__ import annotations

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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

import httpx
import psutil  # type: ignore[import-untyped]
import pytest
import sqlalchemy as sql

from ingestion import workspace as folders
from ingestion.jobs.process import ensure_worker
from ingestion.jobs.queue import JobQueue
from rag_engine import workspace as paths
from rag_engine.backends.chroma import collection_name, lock_folder
from rag_engine.config import cache_folder
from rag_engine.errors import WorkspaceError
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import open_catalog
from tests.cli.serve.test_protection import LOGIN
from tests.conftest import ROOT


class _Healthy(BaseHTTPRequestHandler):
    """Another program, which answers every question with 200."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers}")
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
    assert refused.stderr.startswith("SEXTANT_EXECUTION: execution='abacus'")


def test_a_server_that_dies_is_started_again_at_its_address(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
    process, workspace, address = served
    before = paths.find_serving(workspace)
    assert before is not None
    for child in psutil.Process(process.pid).children():
        child.kill()
    _wait_until(lambda: paths.chroma_confirms(before) and _answers(address))
    assert paths.find_serving(workspace) == before
    assert process.poll() is None
    assert run("search", "flood", "-w", str(workspace)).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a port for a server that is still to bind it")
def test_a_port_is_given_to_nobody_else_while_its_page_is_started(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
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
    small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    workspace = Path(shutil.copytree(small_workspace, tmp_path / "workspace"))
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


def test_the_command_ends_with_the_log_named_when_a_server_dies_again_and_again(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
    process, workspace, _ = served
    while process.poll() is None:
        with suppress(psutil.Error):
            for child in psutil.Process(process.pid).children():
                if "cli.serve.servers" in child.cmdline():
                    child.kill()
        threading.Event().wait(0.05)
    assert process.returncode == 2
    assert process.stdout is not None
    assert str(workspace / "serving.log") in json.loads(process.stdout.read())["error"]
    assert paths.find_serving(workspace) is None


def test_chroma_killed_in_the_middle_of_an_addition_ends_nothing_and_catches_up(
    served: tuple[subprocess.Popen[str], Path, str], tmp_path: Path
) -> None:
    process, workspace, _ = served
    folder = tmp_path / "plans"
    folder.mkdir()
    for number in range(4):
        words = "\n\n".join(f"Measure {n} of plan {number} binds authority {n * number}." for n in range(150))
        (folder / f"plan {number}.txt").write_text(words)
    [chroma] = [one for one in psutil.Process(process.pid).children() if "cli.serve.servers" in one.cmdline()]
    with closing(open_catalog(workspace)) as catalog:
        pending = sql.select(tables.documents.c.key).where(tables.documents.c.status == "pending")
        command = [sys.executable, "-m", "cli", "add", str(folder), "-w", str(workspace), "--json"]
        adding = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8")
        try:
            # Halfway into the first document: its rows are there, and Chroma has not got it.
            _wait_until(lambda: catalog.read(pending))
            # Stopped, so that it is not started again before it is missed.
            process.send_signal(signal.SIGSTOP)
            chroma.kill()
            said, _ = adding.communicate(timeout=120)
        finally:
            process.send_signal(signal.SIGCONT)
            adding.kill()
        assert adding.returncode == 0
        added = json.loads(said)["documents"]
        assert [one["status"] for one in added] == ["indexed"] * 4
        assert any("Chroma did not answer" in one["reason"] for one in added)
        known = {child.key for one in catalog.active_documents() for child in catalog.document_children(one.key)}
        _wait_until(lambda: _keys_in_chroma(workspace, catalog.state("workspace")) == known)
        assert not catalog.read(pending)


def _keys_in_chroma(workspace: Path, id: str) -> set[int]:
    """Keys of a workspace's collection, as any client of Chroma gets them; none if the server is down."""
    serving = paths.find_serving(workspace)
    if serving is None or not paths.chroma_confirms(serving):
        return set()
    collections = f"{serving.chroma_url}/api/v2/tenants/default_tenant/databases/default_database/collections"
    with httpx.Client(headers={"Authorization": f"Bearer {serving.key}"}, timeout=20) as client:
        collection = client.get(f"{collections}/{collection_name(id, 1)}").json()
        if "id" not in collection:
            return set()
        found = client.post(f"{collections}/{collection['id']}/get", json={"include": []}).json()
        return {int(key) for key in found["ids"]}


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def test_chroma_answers_nobody_who_cannot_read_the_workspace(
    served: tuple[subprocess.Popen[str], Path, str],
) -> None:
    process, workspace, _ = served
    serving = paths.find_serving(workspace)
    assert serving is not None
    assert (workspace / "serving.json").stat().st_mode & 0o077 == 0
    arguments = [" ".join(one.cmdline()) for one in psutil.Process(process.pid).children()]
    assert not any(serving.key in one for one in arguments)
    collections = f"{serving.chroma_url}/api/v2/tenants/default_tenant/databases/default_database/collections"
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": serving.key}):
        refused = httpx.get(collections, headers=headers, timeout=20)
        assert refused.status_code == 403
        assert "policy_documents" not in refused.text
    allowed = httpx.get(collections, headers={"Authorization": f"Bearer {serving.key}"}, timeout=20)
    assert "policy_documents" in allowed.text


def test_a_copy_of_a_workspace_does_not_use_the_servers_of_the_original(
    served: tuple[subprocess.Popen[str], Path, str], tmp_path: Path
) -> None:
    _, workspace, _ = served
    original = paths.find_serving(workspace)
    assert original is not None
    copy = Path(shutil.copytree(workspace, tmp_path / "copy"))
    assert paths.find_serving(copy) is None
    # Even one whose announcement was made to fit: the server knows what it serves.
    forged = replace(original, folder=paths.folder_identity(copy))
    paths.announce(copy, forged)
    assert paths.find_serving(copy) == forged
    assert not paths.chroma_confirms(forged)
    assert "does not answer" in run("rebuild", "-w", str(copy)).stderr.replace("\n", " ")
    (copy / "serving.json").unlink()
    (tmp_path / "new.txt").write_text("The harbour master closes the flood gate at a level of two metres. " * 8)
    assert run("add", str(tmp_path / "new.txt"), "-w", str(copy)).returncode == 0
    with closing(open_catalog(workspace)) as catalog:
        known = {child.key for one in catalog.active_documents() for child in catalog.document_children(one.key)}
        assert _keys_in_chroma(workspace, catalog.state("workspace")) == known


@pytest.mark.parametrize("content", ["[" * 100_000, '{"process": [', "of other kinds"])
def test_an_announcement_that_no_server_wrote_announces_nothing(tmp_path: Path, content: str) -> None:
    fields = asdict(paths.new_serving(tmp_path, ""))
    written = json.dumps(dict.fromkeys(fields, "x")) if content == "of other kinds" else content
    (tmp_path / "serving.json").write_text(written, encoding="utf-8")
    assert paths.find_serving(tmp_path) is None


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


def test_an_announcement_counts_only_while_the_process_that_made_it_lives(tmp_path: Path) -> None:
    mine = paths.new_serving(tmp_path, "http://127.0.0.1:8501")
    paths.announce(tmp_path, mine)
    assert paths.find_serving(tmp_path) == mine
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    paths.announce(tmp_path, replace(mine, process=ended.pid))
    assert paths.find_serving(tmp_path) is None
    # The number of the process that made it was given again, to this one.
    paths.announce(tmp_path, replace(mine, started=mine.started - 3600))
    assert paths.find_serving(tmp_path) is None


def test_another_program_at_the_address_of_chroma_is_not_shown_the_key(tmp_path: Path, other_program: int) -> None:
    url = f"http://127.0.0.1:{other_program}"
    serving = paths.new_serving(tmp_path, url, url, "the key")
    paths.announce(tmp_path, serving)
    assert not paths.chroma_confirms(serving)
    assert _Healthy.asked
    assert not any("the key" in one for one in _Healthy.asked)


@pytest.mark.parametrize("half", ["", '{"process": 4', "[]", '{"process": 4}'])
def test_a_half_written_announcement_is_none(tmp_path: Path, half: str) -> None:
    (tmp_path / "serving.json").write_text(half)
    assert paths.find_serving(tmp_path) is None


def test_a_writer_whose_note_is_half_written_is_an_unknown_one(tmp_path: Path) -> None:
    with paths.write_lock(tmp_path):
        (tmp_path / "writer.json").write_text('{"pro')
        with pytest.raises(WorkspaceError, match="process \\?"), paths.write_lock(tmp_path):
            pass
