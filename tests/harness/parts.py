"""Parts of the harness, each a function from the effort to tallies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.harness.addresses import addresses
from tests.harness.failing.faults import faults
from tests.harness.files import files
from tests.harness.fuzzing.fuzz import fuzz
from tests.harness.injections import injected
from tests.harness.killing.kills import kills
from tests.harness.killing.moments import moments
from tests.harness.scripts import scripts
from tests.harness.tally import Effort, Tally
from tests.harness.visitors import visitors

# "short" takes seconds and is run in CI; "whole" is bounded by the minutes that `make harness` has.
PARTS: dict[str, Callable[[Effort], Iterator[Tally]]] = {
    "kills": kills,
    "moments": moments,
    "faults": faults,
    "files": files,
    "addresses": addresses,
    "fuzz": fuzz,
    "injections": injected,
    "scripts": scripts,
    "visitors": visitors,
}
