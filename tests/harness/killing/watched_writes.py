"""System calls that change a folder, each held until a watcher lets it pass, refuses it or kills.

Writes of Python, SQLite, tantivy and Chroma pass here alike: a seccomp filter hands the calls to another process
(https://docs.kernel.org/userspace-api/seccomp_filter.html, "Userspace Notification", Linux 5.5).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path

# How the call names what it changes: by the descriptor or the path at this place among its arguments. A path with a
# folder before it is relative to that folder.
_DESCRIPTOR = {
    "x86_64": {
        "write": (1, 0), "pwrite": (18, 0), "writev": (20, 0), "pwritev": (295, 0), "pwritev2": (328, 0),
        "ftruncate": (77, 0), "fallocate": (285, 0), "sendfile": (40, 0), "copy_file_range": (326, 2),
    },
    "aarch64": {
        "write": (64, 0), "pwrite": (68, 0), "writev": (66, 0), "pwritev": (70, 0), "pwritev2": (287, 0),
        "ftruncate": (46, 0), "fallocate": (47, 0), "sendfile": (71, 0), "copy_file_range": (285, 2),
    },
}  # fmt: skip
_PATH = {
    "x86_64": {
        "truncate": (76, 0), "rename": (82, 1), "mkdir": (83, 0), "rmdir": (84, 0), "creat": (85, 0), "link": (86, 1),
        "unlink": (87, 0), "symlink": (88, 1), "open": (2, 0),
    },
    "aarch64": {"truncate": (45, 0)},
}  # fmt: skip
_PATH_IN_FOLDER = {
    "x86_64": {
        "mkdirat": (258, 1), "unlinkat": (263, 1), "renameat": (264, 3), "renameat2": (316, 3), "linkat": (265, 3),
        "symlinkat": (266, 2), "openat": (257, 1),
    },
    "aarch64": {
        "mkdirat": (34, 1), "unlinkat": (35, 1), "renameat": (38, 3), "renameat2": (276, 3), "linkat": (37, 3),
        "symlinkat": (36, 2), "openat": (56, 1),
    },
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, 317), "aarch64": (0xC00000B7, 277)}
_OPENING = {"open": 1, "openat": 2}
_SHRINKS = ("unlink", "unlinkat", "rmdir", "truncate", "rename", "renameat", "renameat2")
_MAKES = os.O_CREAT | os.O_TRUNC

_LOAD, _AND, _EQUALS, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_NO_NEW_PRIVILEGES, _SET_MODE_FILTER, _NEW_LISTENER = 38, 1, 1 << 3
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_AT_CWD = -100
_MOST_MILLISECONDS = 60_000

# What a watcher may answer beside the number of an error.
PASS, KILL = 0, -1


@dataclass(frozen=True, slots=True)
class Write:
    """A call that changes the folder: its name and the path below the folder.

    `grows` says whether it takes room on the disk.
    """

    call: str
    path: str
    grows: bool = field(default=False, compare=False)


def watchable() -> bool:
    """Return whether the kernel can hand the calls of a process to another one."""
    return os.uname().sysname == "Linux" and os.uname().machine in _MACHINES


def be_watched(connection: Connection) -> None:
    """Let the other end of the connection hold the calls of this thread and its children from now on."""
    # The process that gets it is named by the connection; the number is not looked at.
    send_handle(connection, _install(), 0)
    connection.recv()


def watch(connection: Connection, process: int, folder: Path, decide: Callable[[Write], int]) -> None:
    """Hold each write of a process below a folder until it is decided; return when the process has ended.

    It passes, is answered with the number of an error, or kills the process in its place. A process that writes nothing
    for a minute is killed too.
    """
    with suppress(EOFError):
        # Otherwise it ended before it could be watched.
        listener = recv_handle(connection)
        ended = os.pidfd_open(process)
        try:
            connection.send("watched")
            poll = select.poll()
            poll.register(listener, select.POLLIN)
            poll.register(ended, select.POLLIN)
            while ended not in (ready := [descriptor for descriptor, _ in poll.poll(_MOST_MILLISECONDS)]):
                if ready:
                    _answer(listener, process, folder, decide)
                else:
                    os.kill(process, signal.SIGKILL)
        finally:
            os.close(ended)
            os.close(listener)


def _answer(listener: int, process: int, folder: Path, decide: Callable[[Write], int]) -> None:
    asked = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, asked)
    except (FileNotFoundError, InterruptedError):
        return
    id, thread, _, number, _, _, *arguments = struct.unpack("=QIIiIQ6Q", asked)
    write = _write(thread, number, arguments, folder)
    verdict = PASS if write is None else decide(write)
    if verdict == KILL:
        os.kill(process, signal.SIGKILL)
        return
    with suppress(FileNotFoundError):
        fcntl.ioctl(listener, _SEND, struct.pack("=QqiI", id, 0, -verdict, _CONTINUE if verdict == PASS else 0))


def _write(thread: int, number: int, arguments: list[int], folder: Path) -> Write | None:
    """Return the call as a write, or None where it changes nothing below the folder."""
    call, by_path, place = _CALLS[number]
    try:
        if not by_path:
            path = Path(f"/proc/{thread}/fd/{arguments[place]}").readlink()
        else:
            path = Path(_string(thread, arguments[place]))
            if not path.is_absolute():
                base = ctypes.c_int(arguments[place - 1]).value if call in _IN_FOLDER else _AT_CWD
                path = Path(f"/proc/{thread}/{'cwd' if base == _AT_CWD else f'fd/{base}'}").readlink() / path
    except OSError:
        return None
    if folder not in path.parents:
        return None
    if call in _OPENING and path.exists() and not arguments[_OPENING[call]] & os.O_TRUNC:
        return None
    return Write(call, str(path.relative_to(folder)), _grows(call, arguments, path))


def _grows(call: str, arguments: list[int], path: Path) -> bool:
    """Return whether the call makes a file, or makes it longer; what is written in turn mostly does."""
    if call in ("pwrite", "ftruncate"):
        end = arguments[2] + arguments[3] if call == "pwrite" else arguments[1]
        return not path.exists() or end > path.stat().st_size
    return call not in _SHRINKS


def _string(thread: int, address: int) -> str:
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        found = b""
        while b"\0" not in found and len(found) < 4096:
            # Not beyond the page, after which there may be nothing.
            found += memory.read(4096 - (address + len(found)) % 4096)
    return os.fsdecode(found.partition(b"\0")[0])


def _install() -> int:
    """Install the filter in this thread and return the descriptor from which its calls are answered."""
    architecture, seccomp = _MACHINES[os.uname().machine]
    code = _program(architecture)
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    instructions = ctypes.create_string_buffer(code, len(code))
    filter = struct.pack("@HP", len(code) // 8, ctypes.addressof(instructions))
    listener = int(library.syscall(ctypes.c_long(seccomp), _SET_MODE_FILTER, _NEW_LISTENER, filter))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


def _program(architecture: int) -> bytes:
    opening = {number: _OPENING[call] for number, (call, *_) in _CALLS.items() if call in _OPENING}
    others = sorted(set(_CALLS) - set(opening))
    steps: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, 4), (_EQUALS, 1, 0, architecture), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_LOAD, 0, 0, 0)]
    for number, flags in opening.items():
        steps += [(_EQUALS, 0, 5, number), (_LOAD, 0, 0, 16 + 8 * flags), (_AND, 0, 0, _MAKES)]
        steps += [(_EQUALS, 0, 1, 0), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]
    steps += [(_EQUALS, len(others) - place, 0, number) for place, number in enumerate(others)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]
    return b"".join(struct.pack("=HBBI", operation, yes, no, value) for operation, yes, no, value in steps)


_HERE = os.uname().machine
_IN_FOLDER = _PATH_IN_FOLDER.get(_HERE, {})
_CALLS = {
    number: (call, by_path, place)
    for by_path, calls in ((False, _DESCRIPTOR), (True, _PATH), (True, _PATH_IN_FOLDER))
    for call, (number, place) in calls.get(_HERE, {}).items()
}
