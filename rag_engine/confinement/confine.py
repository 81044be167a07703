"""Confinement of a process to the foreign files that it opens and the interpreter's own."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import stat
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from rag_engine.confinement.landlock import landlock_version, restrict_files
from rag_engine.confinement.seccomp import refuse_calls
from rag_engine.installation import IS_CHECKOUT, ROOT

# "nobody" of every Linux and macOS that has not renamed it; owns nothing.
_NOBODY = 65534
_NO_NEW_PRIVILEGES = 38
_CAPABILITIES_VERSION = 0x20080522

# Where the interpreter finds its libraries, the system its fonts, languages and time, and a runtime the processors.
_SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store", "/var/lib/libreoffice", "/var/spool/libreoffice",
    "/var/cache/fontconfig", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
    "/etc/fonts", "/etc/localtime", "/etc/mime.types", "/etc/libreoffice", "/etc/papersize", "/etc/locale.alias",
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/devices/system/node",
    "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
)  # fmt: skip
# Variables that a reader of files has a use for. Whatever else is set, by us or others, may be a secret.
_VARIABLES = (
    "PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "FONTCONFIG_PATH",
    "FONTCONFIG_FILE", "TESSDATA_PREFIX", "OMP_NUM_THREADS",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reach:
    """Paths to read and to write, programs and user of a process, in addition to the interpreter.

    A process of root becomes `user`, unless it is 0.
    """

    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    programs: bool = False
    user: int = 0

    def to_argument(self) -> str:
        """Return the reach as an argument of the process.

        >>> Reach(readable=("plan.pdf",)).to_argument()
        '{"readable": ["plan.pdf"], "writable": [], "programs": false, "user": 0}'
        """
        return json.dumps(asdict(self))

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Return the reach of an argument."""
        return cls(**json.loads(argument))


@dataclass(frozen=True, slots=True)
class Confinement:
    """Rights that a process gave up: files (version of Landlock, 0 for none), calls, and its user."""

    files: int
    calls: bool
    user: int


def confine(reach: Reach, *, landlock: bool = True) -> Confinement:
    """Give up everything beyond a reach, for good, as far as the system can; return what was given up.

    To be called before the first thread is started, and before the first foreign byte is read. Without `landlock` it
    acts as on a kernel that has no Landlock.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return Confinement(0, calls=False, user=os.getuid())
    if os.getuid() == 0 and reach.user:
        os.setgroups([])
        os.setresgid(reach.user, reach.user, reach.user)
        os.setresuid(reach.user, reach.user, reach.user)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    readable = (*_SYSTEM, *interpreter_paths(), *reach.readable)
    writable = ("/dev/null", *reach.writable)
    files = landlock and restrict_files(readable, writable, execute=reach.programs)
    # The capabilities of root: reading and writing others' files, and mounting.
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)())
    calls = refuse_calls(programs=reach.programs)
    return Confinement(landlock_version() if files else 0, calls, os.getuid())


def interpreter_paths() -> tuple[str, ...]:
    """Return the paths of the interpreter and its packages; of a checkout the code, no workspace."""
    packages = (path for path in sys.path if path and not (IS_CHECKOUT and Path(path).resolve() == ROOT))
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return (sys.prefix, sys.base_prefix, *packages, *filter(None, libraries), str(ROOT / "rag_engine"))


def child_environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that opens foreign files: an allow-list, and `more`."""
    modules = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    # One thread, whose stack is all that numpy then reserves. The confinement holds for later threads too.
    return {"PATH": os.defpath, **kept, "PYTHONPATH": os.pathsep.join(modules), "OPENBLAS_NUM_THREADS": "1", **more}


def unprivileged_user(needed: Iterable[str] = ()) -> int:
    """Return the user for a child of root: `nobody`, or 0 if only root can read the needed files."""
    if os.getuid() != 0 or sys.platform != "linux":
        return 0
    return _NOBODY if all(_open_to_all(Path(path)) for path in (*interpreter_paths(), *needed)) else 0


def _open_to_all(path: Path) -> bool:
    """Return whether anybody may read a file, or look into a folder, and reach it."""
    real = path.resolve()
    if not real.exists():
        return True
    folders = [*([real] if real.is_dir() else []), *real.parents]
    return bool(real.stat().st_mode & stat.S_IROTH) and all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
