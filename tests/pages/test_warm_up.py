"""Models and pages are ready before a server answers its first visitor."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

SCRIPT = """
import gc
import os
import sys
import app
from pages._shared import resources

def again(config):
    raise AssertionError("The collection was not open yet.")

resources.open_engine = again
known = set(sys.modules)
print(len(resources.engine().collection.documents()))
import pages._admin.source_detail, pages._ask.answer, pages._evaluation.results, pages._library.documents
print([name for name in sys.modules if name.startswith("pages.") and name not in known])
print(gc.get_freeze_count() > 4 * len(gc.get_objects()))
print(oct(os.umask(0)))
"""


def test_a_server_is_ready_before_the_first_visitor_and_what_it_writes_is_its_owners_alone(
    small_workspace: Path,
) -> None:
    environment = os.environ | {"SEXTANT_WORKSPACE": str(small_workspace), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        umask=0o022,
        check=False,
    )
    assert done.stdout.splitlines() == ["3", "[]", "True", "0o77"], done.stderr
