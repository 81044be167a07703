"""`sextant serve` as a process: its servers, commands beside it, and its end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import ROOT


@pytest.fixture
def served(small_workspace: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    workspace = Path(shutil.copytree(small_workspace, tmp_path / "workspace"))
    command = [sys.executable, "-m", "cli", "serve", "--port", "0", "-w", str(workspace)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    said = process.stdout.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+", said)
    assert address, said + process.stdout.read()
    yield process, workspace, address[0]
    if process.poll() is None:
        process.terminate()
    process.communicate(timeout=30)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "cli", *words], cwd=ROOT, env=environment, capture_output=True, text=True
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


def test_servers_whose_owner_was_killed_end_too(served: tuple[subprocess.Popen[str], Path, str]) -> None:
    process, _, _ = served
    servers = psutil.Process(process.pid).children()
    process.kill()
    process.wait(10)
    gone, alive = psutil.wait_procs(servers, timeout=20)
    assert not alive
    assert len(gone) == 2
