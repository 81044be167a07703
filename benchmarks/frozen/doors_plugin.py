"""A plugin of pytest that keeps the state each act leaves through each door, as test_doors reads it.

FROZEN_FILE is the file of the states, FROZEN_LIMIT the number of tests to run, 0 for all.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

DOORS = "tests.ingestion.test_doors"
LEFT_BEHIND = "tests.ingestion.left_behind"
# In the log.
_PROCESS = re.compile(r"'process': \d+, 'started': [\d.]+")
_NUMBER = re.compile(r"'id': \d+, ")
_states: dict[str, Any] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the doors keep each state, under the test's name and the door."""
    del items[int(os.environ["FROZEN_LIMIT"]) or len(items) :]
    doors: Any = sys.modules[DOORS].Doors
    through = doors.through

    def keep(self: object, door: str, act: object) -> object:
        state: Any = through(self, door, act)
        test = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].partition(" (call)")[0]
        kept = asdict(state)
        # Rows are numbered in the order in which threads wrote them.
        kept["rows"] = {table: sorted(_NUMBER.sub("", row) for row in rows) for table, rows in kept["rows"].items()}
        _states[f"{test} {door}"] = kept
        return state

    doors.through = keep
    left: Any = sys.modules[LEFT_BEHIND]
    left._VOLATILE += ((_PROCESS, "PROCESS"),)


def pytest_sessionfinish() -> None:
    """Write the states."""
    file = Path(os.environ["FROZEN_FILE"])
    file.write_text(json.dumps(_states, ensure_ascii=False, default=sorted), encoding="utf-8")
