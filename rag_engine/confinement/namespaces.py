"""Namespaces: a process gives up, for good, all files but those named, where the kernel has no Landlock.

It makes a user namespace, in which it may mount, and in that a root folder of its own with nothing but the paths, those
that it may only read bound read-only (Linux 5.12 and later, where whoever is not root may make such namespaces). No
other process is started and nothing of the system is changed; what is mounted goes with the process. See
user_namespaces(7), pivot_root(2) and mount_setattr(2). By ctypes: Python knows `unshare` alone, and that since 3.12.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from rag_engine.confinement.seccomp import CALLS

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x20000
_BIND, _RECURSIVE, _PRIVATE, _DETACH = 0x1000, 0x4000, 0x40000, 2
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4
_HERE, _ALL_BELOW = -100, 0x8000
# Over this folder the new root is mounted: every system has it, and nobody is given all of it.
_ROOT = "/sys"
_TEMPORARY = f"{_ROOT}/tmp"  # noqa: S108 - of its own root
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def enter_own_root(readable: Iterable[str], writable: Iterable[str], *, programs: bool) -> bool:
    """Give up all files but those in and below the paths; return whether the kernel lets this process do so.

    What is `writable` can be read too; `programs` find a folder of temporary files of their own. Holds for this process
    and whatever it starts, so that it is to be called before there are other threads; the rights that it then has in
    its namespace are to be given up afterwards. Paths that are not there are left out. Files that are open stay so.
    """
    if sys.platform != "linux" or os.uname().machine not in CALLS:
        return False
    try:
        _separate()
        _mount(b"none", "/", _RECURSIVE | _PRIVATE)
        # Opened first: the new root covers some of them. Parents come before what is in them.
        read, written = (
            {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in sorted(paths) if Path(path).exists()}
            for paths in ({*readable}, {*writable})
        )
        _mount(b"tmpfs", _ROOT, _NO_SETUID | _NO_DEVICES, kind=b"tmpfs")
        if programs:
            # LibreOffice does not start where it may not write there.
            Path(_TEMPORARY).mkdir()
            _mount(b"tmpfs", _TEMPORARY, _NO_SETUID | _NO_DEVICES, kind=b"tmpfs", options=b"size=1m")
        for path, source in read.items():
            # What is in a folder that was bound before is there already.
            if not Path(f"{_ROOT}{path}").exists():
                _bind(source, f"{_ROOT}{path}")
                _make_read_only(f"{_ROOT}{path}", _ALL_BELOW)
        for path, source in written.items():
            _bind(source, f"{_ROOT}{path}")
        for source in (*read.values(), *written.values()):
            os.close(source)
        os.chdir(_ROOT)
        # The new root comes over the old one, which is then taken from below it.
        _call("pivot_root", b".", b".")
        _checked(_libc().umount2(b".", _DETACH))
        os.chdir("/")
        _make_read_only("/", 0)
    except OSError:
        return False
    return True


def _separate() -> None:
    """Make the namespaces, in which this user is who it was."""
    user, group = os.getuid(), os.getgid()
    _checked(_libc().unshare(_NEW_USER | _NEW_MOUNTS))
    dumpable = _libc().prctl(_GET_DUMPABLE, 0, 0, 0, 0)
    # The files of a process that has become another user are root's otherwise.
    _libc().prctl(_SET_DUMPABLE, 1, 0, 0, 0)
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")
    finally:
        _libc().prctl(_SET_DUMPABLE, int(dumpable == 1), 0, 0, 0)


def _bind(source: int, target: str) -> None:
    """Bind what is open to a place, which is made where it is not there."""
    place = Path(target)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISDIR(os.fstat(source).st_mode):
            place.mkdir()
        else:
            place.touch()
    _mount(f"/proc/self/fd/{source}".encode(), target, _BIND | _RECURSIVE)


def _mount(source: bytes, target: str, flags: int, kind: bytes | None = None, options: bytes | None = None) -> None:
    _checked(_libc().mount(source, os.fsencode(target), kind, ctypes.c_ulong(flags), options))


def _make_read_only(path: str, depth: int) -> None:
    attributes = _MountAttributes(set=_READ_ONLY)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    _call("mount_setattr", ctypes.c_int(_HERE), os.fsencode(path), depth, ctypes.byref(attributes), size)


def _call(name: str, *arguments: object) -> None:
    _checked(_libc().syscall(ctypes.c_long(CALLS[os.uname().machine][name]), *arguments))


def _checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
