"""Old and foreign office files through LibreOffice: turned into what our own readers know, in a folder of their own."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import psutil  # type: ignore[import-untyped]

from ingestion.extraction.assemble import tidy
from ingestion.types import ExtractionLimits, Refusal

_MOST_SECTORS = 4096
_ENTRY = 128
_NONE = 0xFFFFFFFA


def stream_names(path: Path) -> frozenset[str]:
    """The names at the top of the container, not those of documents embedded in it; none when it is damaged.

    After [MS-CFB]: a header, a table of sectors, and a directory whose entries form a tree.
    """
    with path.open("rb") as file:
        try:
            entries = _directory(file)
        except (struct.error, ValueError):
            return frozenset()
    names: set[str] = set()
    seen: set[int] = set()
    ahead = [_links(entries[0])[2]] if entries else []
    while ahead:
        index = ahead.pop()
        if index in seen or index >= len(entries):
            continue
        seen.add(index)
        left, right, _ = _links(entries[index])
        names.add(_name(entries[index]))
        ahead += (left, right)
    return frozenset(names)


def _directory(file: BinaryIO) -> list[bytes]:
    header = file.read(512)
    (shift,) = struct.unpack_from("<H", header, 30)
    if shift not in (9, 12):
        raise ValueError(f"sectors of 2**{shift} bytes")
    size = 1 << shift
    (sector,) = struct.unpack_from("<I", header, 48)
    table = [at for at in struct.unpack_from("<109I", header, 76) if at < _NONE]
    entries: list[bytes] = []
    for _ in range(_MOST_SECTORS):
        content = _sector(file, sector, size)
        entries += [content[at : at + _ENTRY] for at in range(0, len(content) - _ENTRY + 1, _ENTRY)]
        place, offset = divmod(sector, size // 4)
        if place >= len(table):
            break
        (sector,) = struct.unpack_from("<I", _sector(file, table[place], size), 4 * offset)
        if sector >= _NONE:
            break
    return entries


def _sector(file: BinaryIO, index: int, size: int) -> bytes:
    file.seek((index + 1) * size)
    return file.read(size)


def _links(entry: bytes) -> tuple[int, int, int]:
    left, right, child = struct.unpack_from("<3I", entry, 68)
    return left, right, child


def _name(entry: bytes) -> str:
    (length,) = struct.unpack_from("<H", entry, 64)
    return entry[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")


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


def office_program() -> str | None:
    """The path of LibreOffice; None when it is not installed."""
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def converted(path: Path, target: str, limits: ExtractionLimits) -> Iterator[Path]:
    """A copy of the file in another format ("docx", "pptx", "xlsx"), which is gone afterwards.

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
        said = _run(command, home, path, limits.seconds * _SHARE)
        made = home / "out" / f"{path.stem}.{target}"
        if not made.is_file():
            raise Refusal(
                "damaged",
                f"LibreOffice could not read {path.name}: {said or 'it gave no reason'}.",
                help="Open it in the program that made it, save it as DOCX, PPTX, XLSX or PDF and add that.",
            )
        yield made


def _run(command: list[str], home: Path, path: Path, seconds: float) -> str:
    """What the program printed; Refusal "too_slow" when it had to be ended."""
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
    # In our own process group, so that whoever ends us ends it too.
    with (home / "said").open("wb") as output:
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
    return tidy((home / "said").read_text(encoding="utf-8", errors="replace"))[:300]


def _end(child: psutil.Popen) -> None:
    """Nothing; ends the program and all it started, and waits until they are gone."""
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
