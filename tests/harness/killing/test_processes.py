"""A killed harness leaves none of its processes behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tests.conftest import ROOT

# Two processes at work, one of them held at its first write, the one from which they are forked, and a page server.
_HARNESS = """
import sys, time
from benchmarks.page_server import serving
from tests.harness.killing.processes import begin
for held in (False, True):
    process, connection = begin(time.sleep, 600, held=held)
    print(process.pid, flush=True)
with serving(SEXTANT_WORKSPACE=sys.argv[1]):
    print("serving", flush=True)
    time.sleep(600)
"""


@pytest.mark.needs("linux")
def test_the_processes_of_a_harness_that_is_killed_end_with_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HARNESS, str(tmp_path / "workspace")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        begun = [psutil.Process(int(harness.stdout.readline())) for _ in range(2)]
        assert harness.stdout.readline() == b"serving\n"
        processes = [*psutil.Process(harness.pid).children(recursive=True), *begun]
        harness.kill()
    _, left = psutil.wait_procs(processes, timeout=30)
    assert left == []
