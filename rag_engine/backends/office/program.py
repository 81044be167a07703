"""LibreOffice: a file in another format, made without macros, links and dialogs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from rag_engine.types.finding import Finding

_PROGRAMS = ("soffice", "libreoffice")
# No macro runs, nothing is fetched that a document links to, and no recovery or first-start dialog waits for anyone.
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse">
<value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks"
oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Recovery/RecoveryInfo"><prop oor:name="Enabled" oor:op="fuse">
<value>false</value></prop></item>
</oor:items>
"""


def office_program() -> str | None:
    """Return the path of LibreOffice; None when it is not installed."""
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


def office_folders() -> tuple[str, ...]:
    """Return the folders outside of the system's that LibreOffice needs to read."""
    program = office_program()
    if program is None:
        return ()
    folder = Path(program).resolve().parent
    # Its other files are next to the folder of that name.
    return str(folder), *([str(folder.parent)] if folder.name == "program" else [])


@contextmanager
def office_copy(program: str, path: Path, target: str, seconds: float) -> Iterator[tuple[Path | None, str]]:
    """Yield a copy of the file in another format ("docx", "pdf"), and the printed message.

    The copy is None if none was made, and is gone afterwards. TimeoutError if it takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="sextant-office-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        profile = home / "profile"
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
        # LibreOffice writes its lock next to the file, and names the result after it.
        (home / "in").mkdir()
        shutil.copyfile(path, home / "in" / path.name)
        command = [
            program, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nolockcheck",
            "--nodefault", "--nofirststartwizard", "--convert-to", target, "--outdir", str(home / "out"),
            str(home / "in" / path.name),
        ]  # fmt: skip
        message = _run(command, home, seconds)
        made = home / "out" / f"{path.stem}.{target}"
        yield made if made.is_file() else None, message


def _run(command: list[str], home: Path, seconds: float) -> str:
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
    # In our own process group, so that it ends with us.
    with (home / "message").open("wb") as output:
        child = psutil.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=home
        )
        try:
            child.wait(seconds)
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            raise TimeoutError from None
        finally:
            _end(child)
    return (home / "message").read_text(encoding="utf-8", errors="replace")


def _end(child: psutil.Popen) -> None:
    """End the program and all it started, and wait until they are gone."""
    try:
        family = [*child.children(recursive=True), child]
    except psutil.NoSuchProcess:
        return
    for process in family:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(family, timeout=5)


def check() -> Finding:
    """Say whether LibreOffice is there."""
    found = office_program()
    if found:
        return Finding(
            "LibreOffice", "good", f"{found}, for DOC, PPT, XLS and OpenDocument, and to draw office files as they look"
        )
    missing = "none; DOC, PPT and XLS files are refused with the reason, office files shown as extracted text"
    return Finding("LibreOffice", "note", missing, "apt-get install libreoffice-core libreoffice-writer")
