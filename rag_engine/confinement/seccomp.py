"""Seccomp: a process gives up system calls for good.

These are sockets of any kind, rights of files, and the kernel's own doors.

A filter as in https://docs.kernel.org/userspace-api/seccomp_filter.html: a short program over the number of the call,
which answers "permission denied" and lets everything else through. Installed by ctypes: pyseccomp needs a library of
the system and has not been changed since 2022.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable

_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_ALLOW, _REFUSE, _PRETEND = 0x7FFF0000, 0x00050000 | errno.EACCES, 0x00050000
# Instructions: load a word of the call, keep some of its bits, compare, and end.
_LOAD, _AND, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
# Offsets in the call: its number, the architecture that it was made for, and the first two arguments.
_NUMBER, _ARCHITECTURE, _FAMILY, _TYPE = 0, 4, 16, 24
# Calls of x32 on the same architecture, which have other numbers.
_X32 = 0x40000000
_UNIX, _STREAM, _TYPE_BITS = 1, 1, 0xF

# Machine: its name in the kernel (AUDIT_ARCH_*), the number of seccomp(2), and those of the calls that are given up, as
# in the tables of the kernel (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
_MACHINES: dict[str, tuple[int, int]] = {"x86_64": (0xC000003E, 317), "aarch64": (0xC00000B7, 277)}
_SINCE_COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438,
    "mount_setattr": 442, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466,
}  # fmt: skip
CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "connect": 42, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "add_key": 248, "request_key": 249, "keyctl": 250,
        "kexec_load": 246, "init_module": 175, "finit_module": 313, "delete_module": 176,
        "name_to_handle_at": 303, "open_by_handle_at": 304,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198,
        "fremovexattr": 199, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
        **_SINCE_COMMON,
    },
    "aarch64": {
        "connect": 203, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268,
        "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "add_key": 217, "request_key": 218, "keyctl": 219,
        "kexec_load": 104, "init_module": 105, "finit_module": 273, "delete_module": 106,
        "name_to_handle_at": 264, "open_by_handle_at": 265,
        "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "utimensat": 88,
        **_SINCE_COMMON,
    },
}  # fmt: skip
# What only a process needs that starts programs.
_PROGRAMS: dict[str, dict[str, int]] = {
    "x86_64": {"fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "kill": 62, "tkill": 200},
    "aarch64": {"execve": 221, "execveat": 281, "kill": 129, "tkill": 130},
}


# Sockets. LibreOffice does not run without one by which a second start would find it: it gets a socket of this machine
# that connects to nothing, and believes that it is bound to a name and listens.
_SOCKETS: dict[str, tuple[int, tuple[int, int]]] = {"x86_64": (41, (49, 50)), "aarch64": (198, (200, 201))}


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def refuse_calls(*, programs: bool) -> bool:
    """Give up the system calls; return whether the kernel does so.

    Without `programs` the calls that start or end a program are given up too. The filter holds for all threads and
    everything they start. `PR_SET_NO_NEW_PRIVS` must be set.
    """
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in _MACHINES:
        return False
    architecture, seccomp = _MACHINES[machine]
    refused = {*CALLS[machine].values(), *(() if programs else _PROGRAMS[machine].values())}
    code = _program(architecture, refused, *_SOCKETS[machine], sockets=programs)
    filter = _Filter(len(code) // 8, code)
    arguments = (ctypes.c_long(seccomp), _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(filter))
    return not ctypes.CDLL(None, use_errno=True).syscall(*arguments)


def _program(architecture: int, refused: Iterable[int], socket: int, naming: Iterable[int], *, sockets: bool) -> bytes:
    """Return the filter; with `sockets` one may be made that leads nowhere."""
    steps: list[tuple[str, int, int, str, str]] = [
        ("", _LOAD, _ARCHITECTURE, "", ""),
        ("", _EQUALS, architecture, "", "refuse"),
        ("", _LOAD, _NUMBER, "", ""),
        ("", _AT_LEAST, _X32, "refuse", ""),
        *(("", _EQUALS, number, "refuse", "") for number in sorted(refused)),
        *(("", _EQUALS, number, "pretend" if sockets else "refuse", "") for number in naming),
        ("", _EQUALS, socket, "socket" if sockets else "refuse", ""),
        ("", _RETURN, _ALLOW, "", ""),
        ("socket", _LOAD, _FAMILY, "", ""),
        ("", _EQUALS, _UNIX, "", "refuse"),
        ("", _LOAD, _TYPE, "", ""),
        ("", _AND, _TYPE_BITS, "", ""),
        ("", _EQUALS, _STREAM, "", "refuse"),
        ("", _RETURN, _ALLOW, "", ""),
        ("pretend", _RETURN, _PRETEND, "", ""),
        ("refuse", _RETURN, _REFUSE, "", ""),
    ]
    places = {label: place for place, (label, *_) in enumerate(steps) if label}

    def distance(place: int, label: str) -> int:
        return places[label] - place - 1 if label else 0

    return b"".join(
        struct.pack("=HBBI", operation, distance(place, yes), distance(place, no), value)
        for place, (_, operation, value, yes, no) in enumerate(steps)
    )
