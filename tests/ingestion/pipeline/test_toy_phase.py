"""A new phase is a file of ingestion/phases/ and its name in the ordered list, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_engine.config import ROOT

_PHASE = """
from pathlib import Path

from ingestion.phases.definition import SourcePhase
from ingestion.types.outcome import Outcome


def run(record, tools):
    words = len(tools.read(record).extracted.text.split())
    if words < 10:
        return Outcome("refused", "too_little_text", f"{words} words")
    return Outcome("done", "", f"{words} words")


PHASE = SourcePhase(run=run, inputs=lambda record, tools: {"text": record.extraction.text_hash}, VERSION_AND_TABLES)
"""

_RUN = """
import json, sys
from pathlib import Path
from ingestion.config import IngestionConfig
from ingestion.pipeline.run import run_phases
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.status.source_status import funnel
from ingestion.tools import open_tools
from ingestion.types.run import RunRequest
from rag_engine.config import read_config
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder

workspace, folder = map(Path, sys.argv[1:])
engine = Engine(read_config(workspace), embedder=CountingEmbedder())
store = SourceStore(engine.catalog)
store.add(read_source_list(folder, store.sources()).new)
with open_tools(engine, IngestionConfig(use_model=False)) as tools:
    summaries = run_phases(store, engine, tools, RunRequest())
records = store.records().values()
stopped = {Path(one.source.path).stem: one.stopped[0] for one in records if one.stopped}
print(json.dumps({
    "ran": {one.phase: [one.done, one.refused] for one in summaries},
    "stopped": stopped,
    "funnel": {one.name: one.reached for one in funnel(records)},
    "documents": len(engine.collection.documents()),
}))
engine.close()
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Copy ingestion and add a phase `counting` after extraction: a folder, and a name in the list."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "ingestion", tree / "ingestion", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("rag_engine", "data", "tests"):
        (tree / name).symlink_to(ROOT / name)
    types = tree / "ingestion" / "types" / "run.py"
    listed = types.read_text(encoding="utf-8")
    assert listed.count('    "extraction",\n') == 1
    types.write_text(listed.replace('    "extraction",\n', '    "extraction",\n    "counting",\n'), encoding="utf-8")
    return tree


def _run(tree: Path, tmp_path: Path, version_and_tables: str) -> dict[str, Any]:
    phase = _PHASE.replace("VERSION_AND_TABLES", version_and_tables)
    (tree / "ingestion" / "phases" / "counting.py").write_text(phase, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", _RUN, str(tmp_path / "workspace"), str(tmp_path / "plans")],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_phase_is_added_by_its_folder_and_its_name_in_the_list(tree: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "long.md").write_text("# Flood plan\n\n" + "The river rises after a week of rain. " * 40, encoding="utf-8")
    (plans / "short.md").write_text("# Heat plan\n\nStay indoors.", encoding="utf-8")

    first = _run(tree, tmp_path, 'version=1, tables=("pages.toml",)')
    assert first["ran"]["counting"] == [1, 1]
    assert first["stopped"] == {"short": "counting"}
    assert first["funnel"]["counting"] == 1
    assert first["documents"] == 1

    assert _run(tree, tmp_path, 'version=1, tables=("pages.toml",)')["ran"] == {}
    assert _run(tree, tmp_path, 'version=2, tables=("pages.toml",)')["ran"] == {"counting": [1, 1]}
    assert _run(tree, tmp_path, 'version=2, tables=("quality.toml",)')["ran"] == {"counting": [1, 1]}
