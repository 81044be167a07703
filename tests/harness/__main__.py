"""`make harness`: every part in full, a line for each kind of case, exit code 0 if all survived."""

from __future__ import annotations

import argparse
import sys
import time

from tests.harness.parts import PARTS


def main() -> int:
    """Run the named parts, or all, and return 1 where something was lost or nothing was tried."""
    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all without a name")
    parser.add_argument("--short", action="store_true", help="in a few minutes, as CI does")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.parts) - set(PARTS)):
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    tallies = []
    for name in chosen.parts or PARTS:
        started = time.monotonic()
        for tally in PARTS[name]("short" if chosen.short else "whole"):
            tallies.append(tally)
            print(tally, flush=True)
        print(f"    {name}: {time.monotonic() - started:.0f} s", flush=True)
    tried, survived = sum(one.tried for one in tallies), sum(one.survived for one in tallies)
    print(f"{survived} of {tried} survived" + ("; nothing was lost" if survived == tried else ""))
    return 0 if tallies and survived == tried and all(one.tried or one.left_out for one in tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
