"""Old and foreign office files: their OLE containers, and their conversion by LibreOffice to what our readers know."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import olefile
import psutil  # type: ignore[import-untyped]

from ingestion.extraction.assemble import one_line
from ingestion.types import ExtractionLimits, Refusal

_PROGRAMS = ("soffice", "libreoffice")
_INSTALL = (
    "Install LibreOffice (Debian: apt-get install --no-install-recommends libreoffice-writer libreoffice-calc "
    "libreoffice-impress), or save the file as DOCX, PPTX, XLSX or PDF and add that."
)
# What is left of the file's time for reading the result.
_SHARE = 0.8
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


def stream_names(path: Path) -> frozenset[str]:
    """Return the names at the top of an OLE container, not those of documents embedded in it; none when damaged."""
    try:
        with olefile.OleFileIO(path) as container:
            return frozenset(entry.name for entry in container.root.kids)
    except (OSError, ValueError, IndexError, AttributeError, struct.error):
        return frozenset()


def office_program() -> str | None:
    """Return the path of LibreOffice; None when it is not installed."""
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def converted(path: Path, target: str, limits: ExtractionLimits) -> Iterator[Path]:
    """Yield a copy of the file in another format ("docx", "pptx", "xlsx"), which is gone afterwards.

    Refusal "office_missing" without LibreOffice, "too_slow" when it takes longer than the file's time,
    "damaged" when it makes nothing of the file.
    """
    program = office_program()
    if program is None:
        raise Refusal(
            "office_missing", f"{path.name} can only be read with LibreOffice, which is not installed.", help=_INSTALL
        )
    with tempfile.TemporaryDirectory(prefix="sextant-office-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        profile = home / "profile"
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
        # LibreOffice writes its lock beside the file, and names the result after it.
        (home / "in").mkdir()
        shutil.copyfile(path, home / "in" / path.name)
        command = [
            program, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nolockcheck",
            "--nodefault", "--nofirststartwizard", "--convert-to", target, "--outdir", str(home / "out"),
            str(home / "in" / path.name),
        ]  # fmt: skip
        message = _run(command, home, path, limits.seconds * _SHARE)
        made = home / "out" / f"{path.stem}.{target}"
        if not made.is_file():
            raise Refusal(
                "damaged",
                f"LibreOffice could not read {path.name}: {message or 'it gave no reason'}.",
                help="Open it in the program that made it, save it as DOCX, PPTX, XLSX or PDF and add that.",
            )
        yield made


def _run(command: list[str], home: Path, path: Path, seconds: float) -> str:
    """Return what the program printed; Refusal "too_slow" when it had to be ended."""
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
    # In our own process group, so that whoever ends us ends it too.
    with (home / "message").open("wb") as output:
        child = psutil.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=home
        )
        try:
            child.wait(seconds)
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            raise Refusal(
                "too_slow",
                f"{path.name} was not converted by LibreOffice within {seconds:g} seconds.",
                help="Save it as DOCX, PPTX, XLSX or PDF and add that.",
            ) from None
        finally:
            _end(child)
    return one_line((home / "message").read_text(encoding="utf-8", errors="replace"))[:300]


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
