"""The confinement as it is on this machine, tried from inside by those that open foreign files."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ingestion.sandbox.sandbox import Sandbox
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.confinement.confine import unprivileged_user
from rag_engine.confinement.landlock import landlock_version
from rag_engine.confinement.probe import probe_confinement
from rag_engine.errors import WorkspaceError
from tests.conftest import ROOT

pytestmark = pytest.mark.needs("linux")

# Stands for the library that a document has taken over: it tries what is not to be reached, and says what it got.
TAKEN_OVER = """
import json, os, pathlib, signal, socket, subprocess, sys, tempfile

def attempts():
    yield "passwd", lambda: open("/etc/passwd").read()
    yield "other file", lambda: open(%(other)r).read()
    yield "other file by its neighbour", lambda: os.listdir(os.path.dirname(%(other)r))
    yield "write", lambda: open(%(folder)r + "/written", "w")
    yield "write /tmp", lambda: open("/tmp/sextant-written", "w")
    yield "change rights", lambda: os.chmod(%(other)r, 0o666)
    yield "loopback", lambda: socket.create_connection(("127.0.0.1", %(port)d))
    yield "datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", %(port)d))
    yield "socket of this machine", lambda: socket.socket(socket.AF_UNIX).connect(%(socket)r)
    yield "environment of the parent", lambda: open(f"/proc/{os.getppid()}/environ").read()
    yield "memory of the parent", lambda: open(f"/proc/{os.getppid()}/mem", "rb").read(1)
    yield "signal to the parent", lambda: os.kill(os.getppid(), 0)

def reached():
    found = []
    for name, attempt in attempts():
        try:
            attempt()
        except Exception:
            continue
        found.append(name)
    secrets = [name for name in os.environ if name.startswith("SEXTANT_") and name != "SEXTANT_EASYOCR_MODELS"]
    return json.dumps({"reached": found, "secrets": secrets, "mail": "SMTP_PASSWORD" in os.environ,
                       "threads": len(os.listdir("/proc/self/task")), "user": os.getuid()})
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of modules that come before the real ones, in the children too."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (tmp_path / "other.txt").write_text("A document of somebody else.", encoding="utf-8")
    with socket.socket() as listening, socket.socket(socket.AF_UNIX) as local:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        local.bind(str(tmp_path / "local"))
        local.listen()
        named = {"other": str(tmp_path / "other.txt"), "folder": str(tmp_path), "socket": str(tmp_path / "local")}
        tried = TAKEN_OVER % {**named, "port": listening.getsockname()[1]}
        (folder / "taken_over.py").write_text(tried, encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(folder))
        monkeypatch.setenv("SEXTANT_OPENAI_KEY", "secret")
        monkeypatch.setenv("SMTP_PASSWORD", "secret")
        yield folder


def expected(*, threads: int) -> dict[str, object]:
    """Return what a confined process is to report on a machine that has everything."""
    user = unprivileged_user() or os.getuid()
    return {"reached": [], "secrets": [], "mail": False, "threads": threads, "user": user}


def check(reported: dict[str, object], threads: int) -> None:
    if landlock_version() >= 6:
        assert reported == expected(threads=threads)
    else:
        # Whatever the kernel lacks: no network by seccomp, and none of our variables.
        assert isinstance(reached := reported["reached"], list)
        assert not {"loopback", "datagram", "socket of this machine"} & {*reached}
        assert reported["secrets"] == []
        assert not reported["mail"]


def test_a_document_that_takes_over_the_drawing_of_pages_gets_nowhere(modules: Path, tmp_path: Path) -> None:
    (modules / "pymupdf").mkdir()
    fake = "import taken_over\nclass Base(Exception): pass\nclass mupdf:\n    FzErrorSystem = FzErrorBase = Base\n"
    fake += "class TOOLS:\n    mupdf_display_errors = mupdf_display_warnings = staticmethod(lambda _: None)\n"
    fake += "TEXTFLAGS_TEXT = 0\nclass Page: pass\nclass Rect: pass\nclass Pixmap: pass\n"
    fake += "def open(**_):\n    raise RuntimeError(taken_over.reached())\n"
    (modules / "pymupdf" / "__init__.py").write_text(fake, encoding="utf-8")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4 and more")
    renderer = PageRenderer()
    with pytest.raises(WorkspaceError) as caught:
        renderer.page(tmp_path / "a.pdf", 1, []).result()
    renderer.close()
    message = str(caught.value)
    check(json.loads(message[message.index("{") : message.index("}") + 1]), threads=1)


def test_a_document_that_takes_over_the_reading_of_files_gets_nowhere(modules: Path, tmp_path: Path) -> None:
    (modules / "striprtf").mkdir()
    (modules / "striprtf" / "__init__.py").touch()
    fake = "import taken_over\ndef rtf_to_text(*_, **__):\n    return taken_over.reached()\n"
    (modules / "striprtf" / "striprtf.py").write_text(fake, encoding="utf-8")
    (tmp_path / "a.rtf").write_bytes(rb"{\rtf1\ansi Words}")
    with Sandbox(ocr="none") as sandbox:
        text = sandbox.read(tmp_path / "a.rtf").extracted.text
    # Of its two threads one only listens to us.
    check(json.loads(text), threads=2)


def test_the_probe_reports_what_holds_here() -> None:
    probed = probe_confinement()
    assert probed.given_up.files == landlock_version()
    if probed.given_up.files and probed.given_up.calls:
        assert probed.reached == ()


def test_without_landlock_the_probe_says_what_is_in_reach_and_the_network_is_not() -> None:
    probed = probe_confinement(landlock=False)
    assert probed.given_up.files == 0
    assert "files of the system" in probed.reached
    if probed.given_up.calls:
        assert not {"the network", "other programs"} & {*probed.reached}


@pytest.mark.skipif(os.getuid() != 0 or not Path("/usr/bin/python3").exists(), reason="only root can become nobody")
def test_a_process_of_root_becomes_nobody_where_files_allow() -> None:
    script = (
        "import os\nfrom rag_engine.confinement.confine import Reach, confine, unprivileged_user\n"
        "user = unprivileged_user()\nassert user == 65534, user\nprint(confine(Reach(user=user)).user, os.getuid())\n"
    )
    # With a copy of the code where anybody can read it, as in an installation for all users, unlike folders of pytest.
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        code = Path(
            shutil.copytree(ROOT / "rag_engine" / "confinement", Path(folder, "rag_engine", "confinement"))
        ).parent
        (code / "__init__.py").touch()
        done = subprocess.run(
            ["/usr/bin/python3", "-s", "-c", script],
            env={"PYTHONPATH": folder, "PATH": os.defpath},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.split() == ["65534", "65534"], done.stderr


def test_a_process_of_root_stays_root_where_only_root_reads_the_interpreter(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o700)
    assert unprivileged_user([str(tmp_path / "locked")]) == 0
    assert sys.platform == "linux"
