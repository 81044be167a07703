"""A copy of the small collection, and replies whose shape is fixed."""

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT

CONTRACT = json.loads((ROOT / "data" / "contract.schema.json").read_text())


@pytest.fixture
def workspace(small_workspace: Path, tmp_path: Path) -> Path:
    """Return a copy of the small collection, which a test may change."""
    return Path(shutil.copytree(small_workspace, tmp_path / "workspace"))


def fixed(kind: str, printed: str) -> Any:
    """Return the JSON that a command printed, checked against the shape of the contract."""
    reply = json.loads(printed)
    jsonschema.validate(reply, {"$ref": f"#/$defs/{kind}", "$defs": CONTRACT["$defs"]})
    return reply
