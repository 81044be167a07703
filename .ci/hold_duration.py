"""Limit on the duration of the whole run: 1.5 times the median of the kept runs.

Only kept runs on the same kind of machine count.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

# Seconds of earlier runs by kind of machine, the newest last; a run that is to count is added by hand.
KEPT = Path(__file__).parent / "durations.json"
MOST = 1.5


def kind_of_machine(processor: Path = Path("/proc/cpuinfo")) -> str:
    """Return "amx", "avx512" or "avx2" by the widest instructions, which decide how fast the models run."""
    flags = processor.read_text(encoding="utf-8")
    return "amx" if "amx_bf16" in flags else "avx512" if "avx512f" in flags else "avx2"


def judged(seconds: float, kept: list[float]) -> tuple[str, bool]:
    """Return a sentence on a run, and whether it took too long."""
    if not kept:
        return f"The run took {seconds:.0f} s; no run is kept for this kind of machine.", False
    median = statistics.median(kept)
    return f"The run took {seconds:.0f} s; the median of {len(kept)} kept is {median:.0f} s.", seconds > MOST * median


def main() -> int:
    """Print the sentence on the seconds given, and return 1 where they are too many."""
    seconds, kind = float(sys.argv[1]), kind_of_machine()
    sentence, too_long = judged(seconds, json.loads(KEPT.read_text(encoding="utf-8"))[kind])
    print(f"{kind}: {sentence}" + (f" That is more than {MOST} times as long." if too_long else ""))
    return int(too_long)


if __name__ == "__main__":
    sys.exit(main())
