from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import OutcomeReason, Refusal
from tests.ingestion.documents import pdf
from tests.present import present

ROOT = Path(__file__).resolve().parents[4]


def test_the_child_gives_what_the_parser_gives_and_serves_the_next_file_too(tmp_path: Path, sandbox: Sandbox) -> None:
    paths = [pdf(tmp_path / f"{name}.pdf", [f"Plan {name}", "Second page"]) for name in ("a", "b")]
    first, second = (sandbox.read(path).extracted for path in paths)
    child = sandbox.process_id
    assert [first, second] == [extract(path, ExtractionLimits(), None) for path in paths]
    sandbox.read(paths[0])
    assert sandbox.process_id == child


def test_a_refusal_crosses_the_pipe_and_the_child_lives_on(tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    sandbox.read(pdf(tmp_path / "a.pdf", ["Words"]))
    child = sandbox.process_id
    with pytest.raises(Refusal, match=r"empty\.pdf is empty") as caught:
        sandbox.read(tmp_path / "empty.pdf")
    assert (caught.value.reason, caught.value.status) == ("empty", "refused")
    assert sandbox.process_id == child


def test_a_child_that_hangs_is_replaced_and_the_next_file_is_read(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["Words"])
    with Sandbox(ExtractionLimits(seconds=0.5), ocr="none") as sandbox:
        sandbox.read(path)
        hung = present(sandbox.process_id)
        os.kill(hung, signal.SIGSTOP)
        with pytest.raises(Refusal, match=r"a\.pdf was not read within 0.5 seconds") as caught:
            sandbox.read(path)
        assert (caught.value.reason, caught.value.status) == ("too_slow", "failed")
        assert not psutil.pid_exists(hung)
        assert sandbox.process_id is None


def test_a_child_that_is_killed_is_replaced_and_the_next_file_is_read(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["Words"])
    with Sandbox(ocr="none") as sandbox:
        sandbox.read(path)
        child = present(sandbox.process_id)
        os.kill(child, signal.SIGSTOP)
        killer = threading.Timer(0.2, os.kill, (child, signal.SIGKILL))
        killer.start()
        with pytest.raises(Refusal, match="signal 9") as caught:
            sandbox.read(path)
        killer.join()
        assert caught.value.reason == "crashed"
        assert sandbox.read(path).extracted.text == "Words"
        assert sandbox.process_id != child


def test_a_file_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    path.write_bytes(b"flood plan\n" * 12_000_000)
    with Sandbox(ExtractionLimits(memory_bytes=800_000_000), ocr="none") as sandbox:
        with pytest.raises(Refusal, match="memory") as caught:
            sandbox.read(path)
        assert (caught.value.reason, caught.value.status) == ("too_much_memory", "failed")
        assert sandbox.read(pdf(tmp_path / "a.pdf", ["Words"])).extracted.text == "Words"


@pytest.mark.parametrize("busy", [False, pytest.param(True, marks=pytest.mark.needs("linux"))])
def test_the_child_dies_when_its_parent_is_killed(tmp_path: Path, busy: bool) -> None:
    script = (
        "from pathlib import Path\n"
        "from ingestion.sandbox.sandbox import Sandbox\n"
        "with Sandbox(ocr='none') as sandbox:\n"
        f"    sandbox.read(Path({str(pdf(tmp_path / 'a.pdf', ['Words']))!r}))\n"
        "    print(sandbox.process_id, flush=True)\n"
        "    input()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    if busy:
        # As one whose parser never lets the interpreter look at the pipe.
        child.suspend()
    parent.kill()
    parent.communicate()
    _, alive = psutil.wait_procs([child], timeout=20)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def test_a_child_that_cannot_start_is_refused_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "resource.py").write_text("raise ImportError('no limits')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Sandbox(ocr="none") as sandbox, pytest.raises(Refusal, match="ImportError: no limits") as caught:
        sandbox.read(pdf(tmp_path / "a.pdf", ["Words"]))
    # The file is tried again: it was never looked at.
    assert (caught.value.reason, caught.value.status) == ("unexpected", "failed")


def test_after_an_abort_nothing_is_read_and_nothing_is_held_against_the_next_file(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["Words"])
    with Sandbox(ocr="none") as sandbox:
        sandbox.read(path)
        sandbox.abort()
        # The killed child may still look alive to whoever asks at this moment.
        with pytest.raises(Refusal, match=r"a\.pdf was not read: it was broken off") as caught:
            sandbox.read(path)
        assert (caught.value.reason, caught.value.retryable) == ("unexpected", True)


@pytest.mark.needs("linux")
def test_what_the_machine_lacks_is_not_the_fault_of_the_file(tmp_path: Path) -> None:
    # Met by the same way as a full disk: the child has no descriptor left.
    path = pdf(tmp_path / "a.pdf", ["Words"])
    with Sandbox(ocr="none") as sandbox:
        sandbox.read(path)
        assert sandbox.process_id is not None
        limits = resource.prlimit(sandbox.process_id, resource.RLIMIT_NOFILE)
        resource.prlimit(sandbox.process_id, resource.RLIMIT_NOFILE, (3, limits[1]))
        with pytest.raises(Refusal, match=r"a\.pdf could not be read \(OSError: \[Errno 24\]") as caught:
            sandbox.read(path)
        assert (caught.value.reason, caught.value.retryable) == ("unexpected", True)
        assert sandbox.read(path).extracted.text == "Words"


_READY = b"\0\0\0\x05ready"


@pytest.mark.parametrize(
    ("sent", "said", "reason"),
    [
        (_READY + b"Warning: something printed here", "signal 9", "crashed"),
        (_READY + b"\0\0\0\x0230", "packet is not an object", "crashed"),
        (_READY + b"\0\0\0\xffhalf of an answer", "was not read within", "too_slow"),
        (b"Warning: something printed here", "does not start", "unexpected"),
    ],
)
def test_a_child_that_does_not_keep_to_the_protocol_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes, said: str, reason: OutcomeReason
) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys, time\nos.write(int(sys.argv[-1]), {sent!r})\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    program.chmod(0o700)
    path = pdf(tmp_path / "a.pdf", ["Words"])
    monkeypatch.setattr(sys, "executable", str(program))
    before = psutil.Process().children()
    with Sandbox(ExtractionLimits(seconds=1), ocr="none") as sandbox:
        with pytest.raises(Refusal, match=said) as caught:
            sandbox.read(path)
        assert caught.value.reason == reason
        assert sandbox.process_id is None
        assert psutil.Process().children() == before


def test_the_child_is_gone_after_the_sandbox_is_closed(tmp_path: Path) -> None:
    with Sandbox(ocr="none") as sandbox:
        sandbox.read(pdf(tmp_path / "a.pdf", ["Words"]))
        child = sandbox.process_id
    assert child is not None
    assert not psutil.pid_exists(child)


@pytest.mark.needs("tesseract")
def test_two_sandboxes_in_two_threads_read_text_and_scans_as_one_does(tmp_path: Path, corpus: Path) -> None:
    scan = corpus / "scan_en_linn_typewritten.pdf"
    texts = [pdf(tmp_path / f"{name}.pdf", [f"Plan {name} of the river"] * 5) for name in "abcdef"]
    before = dict(os.environ)
    with Sandbox() as first, Sandbox() as second, ThreadPoolExecutor(2) as pool:
        work = [[scan, *texts], [*texts, scan]]
        found = list(
            pool.map(lambda job: [job[0].read(path) for path in job[1]], zip((first, second), work, strict=True))
        )
        assert first.process_id != second.process_id
    assert found[0] == [found[1][-1], *found[1][:-1]]
    assert found[0][0].extracted.ocr_pages == (1,)
    assert dict(os.environ) == before
