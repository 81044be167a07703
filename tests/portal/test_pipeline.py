"""A list of sources through all phases against a real portal, and the dataset that comes out."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from openpyxl import load_workbook

from ingestion.dataset.export import export
from ingestion.jobs.queue import JobQueue
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.read_workbook import read_source_list
from rag_engine.storage.catalog import Catalog, open_catalog
from tests.portal.conftest import Portal
from tests.portal.running import run

pytestmark = [pytest.mark.needs("chromium", "tesseract"), pytest.mark.usefixtures("forked")]

EXPECTED = Path(__file__).parent / "expected.tsv"
# Forked from a process that has imported everything, so that the kills fall on the work and not on imports.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.portal.running"])
_MOST_SECONDS = 300
# The same for every workbook, or what the rules of metadata are tested for elsewhere.
_LEFT_OUT = ("About", "Allowed values", "Field evidence")


def _prepared(workspace: Path, portal: Portal) -> Path:
    """Return a workspace whose list is that of the portal, with a run that waits."""
    catalog = open_catalog(workspace)
    store = SourceStore(catalog)
    report = read_source_list(portal.workbook, store.sources())
    assert len(report.new) == len(portal.branches) >= 60
    assert len(report.refused) == 5
    store.add(report.new)
    JobQueue(catalog).queue("run", {})
    catalog.close()
    return workspace


def _begin(workspace: Path, portal: Portal) -> ForkServerProcess:
    process = _PROCESSES.Process(target=run, args=(str(workspace), portal.intranet))
    process.start()
    return process


def _carry_out(workspace: Path, portal: Portal) -> None:
    process = _begin(workspace, portal)
    process.join(_MOST_SECONDS)
    assert process.exitcode == 0


def _dataset(workspace: Path, portal: Portal) -> list[str]:
    """Return every row of every sheet of the exported workbook, the servers' addresses made equal."""
    catalog = open_catalog(workspace)
    assert {(job.status, job.message) for job in JobQueue(catalog).finished()} == {("done", "")}
    path = workspace / "dataset.xlsx"
    export(path, list(SourceStore(catalog).records().values()), workspace=workspace)
    catalog.close()
    return list(_rows(path, portal))


def _rows(path: Path, portal: Portal) -> Iterator[str]:
    servers = {portal.site.port: "portal", portal.other.port: "other", portal.secure.port: "secure"}
    for sheet in load_workbook(path):
        if sheet.title in _LEFT_OUT or sheet.sheet_state == "hidden":
            continue
        for cells in sheet.iter_rows(values_only=True):
            row = "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in (sheet.title, *cells))
            for port, name in servers.items():
                row = row.replace(f"127.0.0.1:{port}", name).replace(f":{port}", f":{name}")
            yield re.sub(r"\b[0-9a-f]{64}\b", "(hash)", row)


def _wait_for_events(catalog: Catalog, process: ForkServerProcess, more: int) -> None:
    """Wait until `more` events have happened, or the process has ended."""
    store = SourceStore(catalog)
    last = sum(1 for _ in store.latest(10_000)) + more
    deadline = time.monotonic() + _MOST_SECONDS
    while process.is_alive() and time.monotonic() < deadline and sum(1 for _ in store.latest(10_000)) < last:
        process.join(0.02)


def test_the_dataset_of_a_list_with_every_branch_is_the_expected_one(portal: Portal, tmp_path: Path) -> None:
    workspace = _prepared(tmp_path / "workspace", portal)
    _carry_out(workspace, portal)
    dataset = _dataset(workspace, portal)
    if os.environ.get("SEXTANT_WRITE_EXPECTED"):
        EXPECTED.write_text("\n".join(dataset) + "\n", encoding="utf-8")
    assert dataset == EXPECTED.read_text(encoding="utf-8").splitlines()
    assert not portal.other.asked, "a server that is not public and not allowed was asked"
    assert "/private/plan" not in portal.site.asked
    assert [path.name for path in (workspace / "downloads").iterdir() if path.name.startswith(".")] == []


def test_a_run_killed_at_twenty_moments_ends_as_if_it_had_not_been(portal: Portal, tmp_path: Path) -> None:
    moments, killed, number = random.Random(20), 0, 0
    while killed < 20:
        # A quick machine may be done before the twentieth kill; then another list is begun.
        number += 1
        workspace = _prepared(tmp_path / f"workspace {number}", portal)
        killed += _kill_until_done(workspace, portal, moments, 20 - killed)
        _carry_out(workspace, portal)
        if _set_aside(workspace):
            # Killed twice at one source, as by a source that kills its worker: once more on purpose.
            _carry_out(workspace, portal)
        assert not _set_aside(workspace)
        assert _dataset(workspace, portal) == EXPECTED.read_text(encoding="utf-8").splitlines()
    assert number <= 3


def _set_aside(workspace: Path) -> bool:
    """Queue a run of the sources at which a worker ended twice; return whether there are any."""
    catalog = open_catalog(workspace)
    stopped = {code: record.stopped for code, record in SourceStore(catalog).records().items()}
    codes = [code for code, stop in stopped.items() if stop and "is set aside" in stop[1].message]
    if codes:
        JobQueue(catalog).queue("run", {"codes": codes, "which": "all"})
    catalog.close()
    return bool(codes)


def _kill_until_done(workspace: Path, portal: Portal, moments: random.Random, most: int) -> int:
    """How often a run was killed at random moments before it was done, at most so often."""
    catalog = open_catalog(workspace)
    for killed in range(most):
        process = _begin(workspace, portal)
        _wait_for_events(catalog, process, moments.randrange(1, 12))
        process.join(moments.uniform(0.0, 0.15))
        if not process.is_alive():
            catalog.close()
            return killed
        process.kill()
        process.join()
    catalog.close()
    return most
