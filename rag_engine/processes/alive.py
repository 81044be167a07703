"""Running processes, known by their number and when they began."""

from __future__ import annotations

import psutil  # type: ignore[import-untyped]

# A process that began so much earlier or later than the announced one only bears its number again. Clocks are corrected
# by seconds while a server runs; a number is not given again so soon.
CLOCK_SECONDS = 60.0


def start_of_this_process() -> float:
    """Return when this process began, in seconds since 1970."""
    return float(psutil.Process().create_time())


def is_running(number: int, started: float) -> bool:
    """Return whether the process with this number that began at this time still runs.

    The time is in seconds since 1970.

    >>> import os
    >>> is_running(os.getpid(), start_of_this_process()), is_running(os.getpid(), started=0.0)
    (True, False)
    """
    try:
        process = psutil.Process(number)
        same = abs(process.create_time() - started) <= CLOCK_SECONDS
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
