"""Backups that a page asks for: the worker makes them beside the workspace."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from ingestion import workspace as folders
from ingestion.acts.backups import backup_bytes, list_backups, queue_backup, restore
from ingestion.acts.people import audit_entries
from ingestion.jobs.queue import JobQueue
from ingestion.worker import work
from tests.ingestion.backup.workspaces import HARBOUR, add, context_of, found, open_engine, place


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    add(tmp_path / "workspace", "harbour.md", HARBOUR)
    return tmp_path / "workspace"


def test_a_backup_that_was_asked_for_is_made_beside_the_workspace_and_restores_it(
    workspace: Path, tmp_path: Path
) -> None:
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        job = queue_backup(context)
        assert queue_backup(context).id == job.id
        work(engine)
        done = context.jobs.find(job.id)
        [kept] = list_backups(context)
        assert done is not None
        assert (done.status, done.results[0]["file"], done.results[0]["documents"]) == ("done", str(kept.file), 1)
        assert backup_bytes(context, kept.file.name) == kept.file.read_bytes()
        assert [(one.act, one.on) for one in audit_entries(context)][:1] == [("backup", kept.file.name)]
    assert kept.file.parent == folders.backups(workspace)
    assert (kept.file.parent.stat().st_mode & 0o777, kept.file.stat().st_mode & 0o777) == (0o700, 0o600)
    restored = restore(place(tmp_path / "restored"), kept.file).workspace
    assert found(restored) == found(workspace) != []
    with closing(open_engine(restored)) as engine:
        # The archive holds the run that made it, which is not made again there.
        assert [one.status for one in JobQueue(engine.catalog).latest() if one.kind == "backup"] == ["done"]
        work(engine)
    assert not folders.backups(restored).exists()


def test_a_folder_that_cannot_be_made_is_named_with_the_cure(workspace: Path) -> None:
    folders.backups(workspace).write_text("not a folder")
    with closing(open_engine(workspace)) as engine:
        job = queue_backup(context_of(engine))
        work(engine)
        failed = context_of(engine).jobs.find(job.id)
    assert failed is not None
    assert failed.status == "failed"
    assert "workspace-backups cannot be made" in failed.message
    assert "sextant backup FILE" in failed.message
