"""The end of a process: with its parent, and after its processor time."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys


def end_with_parent(*, group: bool = False) -> None:
    """Have the kernel kill this process once the parent has closed its standard input.

    With `group` the kernel also kills the programs that it started, if they stay in its group of processes.
    PR_SET_PDEATHSIG would not do: it fires when the thread that started us ends, and it spares started programs.
    """
    if sys.platform == "linux":
        fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgrp() if group else os.getpid())
        fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(0, fcntl.F_SETFL, os.O_ASYNC)


def limit_processor_time(seconds: float) -> None:
    """Have the kernel end us a little after the parent would: the last guard when it is gone."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
