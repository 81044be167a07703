"""Landlock: a process gives up, for good, all but the named files.

Three system calls of Linux 5.13 and later, called by ctypes: the bindings on PyPI are pre-releases or know the first
version of the interface only. Structures, flags and versions follow the kernel's documentation,
https://docs.kernel.org/userspace-api/landlock.html, and include/uapi/linux/landlock.h. The numbers of the calls are the
same on all architectures.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_WANT_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
# By the version that brought them: everything to do with folders, moving between them, truncating, device commands.
_FILES = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL}
# Binding and connecting of TCP; sockets without a name in the file system and signals to processes outside.
_NETWORK, _SCOPES = {4: 0b11}, {6: 0b11}


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def landlock_version() -> int:
    """Return the version of Landlock in this kernel, or 0 if it has none or does not use it."""
    if sys.platform != "linux":
        return 0
    return max(_call(_CREATE_RULESET, None, 0, _WANT_VERSION), 0)


def restrict_files(readable: Iterable[str], writable: Iterable[str], *, execute: bool) -> bool:
    """Give up the network and all files outside the paths; return whether the kernel does so.

    A `writable` path can be read too; with `execute` programs may be started from `readable` paths. The restriction
    holds for this thread and everything that it starts, so call it before there are other threads. Missing paths are
    left out. Open connections and files stay open. `PR_SET_NO_NEW_PRIVS` must be set.
    """
    version = landlock_version()
    if not version:
        return False
    handled = _of(_FILES, version)
    ruleset = _Ruleset(handled, _of(_NETWORK, version), _of(_SCOPES, version))
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    descriptor = _call(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if descriptor < 0:
        return False
    try:
        looking = _READ_FILE | _READ_DIR | (_EXECUTE if execute else 0)
        rules = [*((path, looking) for path in readable), *((path, handled & ~_EXECUTE) for path in writable)]
        return all(_allow(descriptor, path, allowed) for path, allowed in rules) and not _call(
            _RESTRICT_SELF, descriptor, 0
        )
    finally:
        os.close(descriptor)


def _allow(ruleset: int, path: str, allowed: int) -> bool:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        rights = allowed if stat.S_ISDIR(os.fstat(beneath).st_mode) else allowed & _OF_FILES
        rule = _PathBeneath(rights, beneath)
        return not _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(beneath)


def _of(rights: dict[int, int], version: int) -> int:
    """Return the rights that a version of Landlock knows."""
    return sum(right for since, right in rights.items() if since <= version)


def _call(number: int, *arguments: object) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))
