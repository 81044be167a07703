"""A harness that is killed leaves no process of its own behind."""

from __future__ import annotations

import subprocess
import sys

import psutil  # type: ignore[import-untyped]
import pytest

from tests.conftest import ROOT

# Two processes at work, one of them held at its first write, and the one from which they are forked.
_HARNESS = """
import time
from tests.harness.killing.processes import begin
for held in (False, True):
    process, connection = begin(time.sleep, 600, held=held)
    print(process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.needs("linux")
def test_the_processes_of_a_harness_that_is_killed_end_with_it() -> None:
    command = [sys.executable, "-c", _HARNESS]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        begun = [psutil.Process(int(harness.stdout.readline())) for _ in range(2)]
        processes = [*psutil.Process(harness.pid).children(recursive=True), *begun]
        harness.kill()
    _, left = psutil.wait_procs(processes, timeout=30)
    assert left == []
