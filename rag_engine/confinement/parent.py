"""The end of a process with the one that started it."""

from __future__ import annotations

import fcntl
import os
import signal
import sys


def end_with_parent(*, group: bool = False) -> None:
    """Have the kernel kill us once the parent has closed our standard input, whatever we are at.

    With `group` it kills what we have started as well, so far as that stays in our group of processes.
    """
    if sys.platform == "linux":
        fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgrp() if group else os.getpid())
        fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(0, fcntl.F_SETFL, os.O_ASYNC)
