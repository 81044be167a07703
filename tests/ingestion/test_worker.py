"""Queued work, carried out in this process or by a worker of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
import sqlalchemy as sql

from ingestion.adding import Progress
from ingestion.ledger import DEAD_AFTER_SECONDS, Ledger, runs
from ingestion.uploading import keep_upload
from ingestion.worker import work
from rag_engine import workspace as places
from rag_engine.config import read_config
from rag_engine.engine import Engine
from tests.conftest import ROOT
from tests.rag_engine.conftest import CountingEmbedder


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(read_config(tmp_path / "workspace"), embedder=CountingEmbedder())
    yield engine
    engine.close()


def test_an_addition_and_a_removal_are_carried_out_in_order(engine: Engine, small_documents: Path) -> None:
    ledger = Ledger(engine.catalog)
    ledger.queue("add", {"paths": [str(small_documents)]})
    assert work(engine) == 1
    [done] = ledger.runs()
    assert done.status == "done"
    assert [one["status"] for one in done.results] == ["indexed"] * 3
    ledger.queue("erase", {"document_id": engine.documents()[0].document_id})
    work(engine)
    assert ledger.runs()[0].results[0]["left_behind"] == []
    assert len(engine.documents()) == 2


def test_an_upload_is_known_by_its_name_and_does_not_stay_behind(engine: Engine) -> None:
    for text in ("The first edition of the rules. " * 20, "The second edition of the rules. " * 20):
        path = keep_upload(engine.config.workspace, "rules.txt", io.BytesIO(text.encode()))
        Ledger(engine.catalog).queue("add", {"paths": [str(path)]})
        work(engine)
    [record] = engine.documents()
    assert record.source == "upload:rules.txt"
    assert "second" in engine.catalog.text(record.key)
    assert list(places.uploads(engine.config.workspace).iterdir()) == []


def test_a_run_that_cannot_be_done_fails_with_its_reason_and_the_next_goes_on(engine: Engine) -> None:
    ledger = Ledger(engine.catalog)
    ledger.queue("erase", {"document_id": "ffffffffffff"})
    ledger.queue("add", {"paths": ["/nowhere/at/all.pdf"]})
    assert work(engine) == 2
    second, first = ledger.runs()
    assert (first.status, second.status) == ("failed", "done")
    assert "ffffffffffff" in first.message
    assert second.results[0]["status"] == "failed"


def test_a_waiting_run_can_be_cancelled(engine: Engine) -> None:
    ledger = Ledger(engine.catalog)
    ledger.cancel(ledger.queue("add", {"paths": ["/nowhere"]}))
    assert work(engine) == 0
    assert ledger.runs()[0].status == "cancelled"


def test_a_running_run_learns_that_it_is_cancelled_and_shows_how_far_it_is(engine: Engine) -> None:
    ledger = Ledger(engine.catalog)
    run = ledger.queue("add", {"paths": []})
    ledger.next()
    progress = Progress(1, 4, 100, 900, "plan.pdf")
    assert ledger.beat(run, progress) is False
    ledger.cancel(run)
    assert ledger.beat(run, progress) is True
    [now] = ledger.runs()
    assert now.alive
    assert asdict(now.progress or Progress(0, 0, 0, 0, "")) == asdict(progress)


def test_a_run_whose_worker_died_is_taken_up_again(engine: Engine, small_documents: Path) -> None:
    ledger = Ledger(engine.catalog)
    ledger.queue("add", {"paths": [str(small_documents)]})
    ledger.next()
    assert ledger.next() is None
    with engine.catalog.begin() as connection:
        connection.execute(sql.update(runs).values(heartbeat=time.time() - DEAD_AFTER_SECONDS - 1))
    assert not ledger.runs()[0].alive
    assert work(engine) == 1
    assert ledger.runs()[0].status == "done"


def test_a_worker_of_its_own_does_the_work_with_the_real_encoder(tmp_path: Path, small_documents: Path) -> None:
    workspace = tmp_path / "workspace"
    engine = Engine(read_config(workspace))
    Ledger(engine.catalog).queue("add", {"paths": [str(small_documents / "flood.md")]})
    command = [sys.executable, "-m", "ingestion.worker", str(workspace)]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"HF_HUB_OFFLINE": "1"}, check=True, timeout=120)
    assert [record.file for record in engine.documents()] == ["flood.md"]
    engine.close()
