"""Names in a workspace that lead out of it: nothing is read, moved or removed by them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.acts.documents import erase
from ingestion.acts.sources import remove_sources
from ingestion.backup.repair import originals_aside
from ingestion.extraction.text_cache import forget_reading
from ingestion.jobs.queue import JobQueue
from ingestion.jobs.uploads import remove_leftovers
from ingestion.records.erasures import begun_erasures, end_erasure
from ingestion.records.quarantine import file_of, remove_file
from ingestion.types.source import Download, ListedSource
from rag_engine.backends.drawing.page_cache import drawings_of
from rag_engine.errors import WorkspaceError
from rag_engine.workspace import inside
from tests.ingestion.backup.workspaces import HARBOUR, add, context_of, open_engine

DOWNLOAD = Download("downloads/a.pdf", (), "0" * 64, 9, "application/pdf", "file", "2026-01-01")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("made") / "workspace"
    add(workspace, "harbour.md", HARBOUR)
    return workspace


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "workspace"))


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "victim.txt"
    path.parent.mkdir()
    path.write_text("mine")
    return path


def change(workspace: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(workspace / "catalog.sqlite", isolation_level=None)) as connection:
        connection.execute(statement, values)


def test_a_document_that_is_named_as_a_file_elsewhere_removes_nothing_there(workspace: Path, victim: Path) -> None:
    for column, value in (("file", str(victim)), ("sha256", str(victim.parent))):
        change(workspace, f"UPDATE documents SET {column} = ?", value)
        with closing(open_engine(workspace)) as engine, pytest.raises(WorkspaceError, match="does not lie in"):
            erase(context_of(engine), engine.collection.documents()[0].document_id)
        # Whoever writes next would finish the deletion.
        with pytest.raises(WorkspaceError, match="does not lie in"):
            add(workspace, "bay.md", "# The bay\n\nThe bay has rules.")
        assert victim.read_text(encoding="utf-8") == "mine"
        change(workspace, f"UPDATE documents SET {column} = 'x', status = 'active'")
        for erasure in begun_erasures(workspace):
            end_erasure(workspace, erasure)


def test_a_folder_of_a_copy_that_is_a_link_is_not_followed(workspace: Path, victim: Path) -> None:
    [copy] = (workspace / "files").glob("*/harbour.md")
    copy.unlink()
    copy.parent.rmdir()
    copy.parent.symlink_to(victim.parent)
    (victim.parent / "harbour.md").write_text("mine too")
    with closing(open_engine(workspace)) as engine, pytest.raises(WorkspaceError, match="does not lie in"):
        erase(context_of(engine), "harbour.md")
    assert (victim.parent / "harbour.md").read_text() == "mine too"


@pytest.mark.parametrize("up", ["../../outside", "x/../../../outside"])
def test_a_source_that_is_said_to_be_kept_here_leaves_what_is_elsewhere(workspace: Path, victim: Path, up: str) -> None:
    (workspace / "sources" / "x").mkdir(parents=True)
    (workspace / "sources" / "plan.md").write_text("a plan")
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        path = f"{workspace}/sources/{up}/victim.txt"
        context.store.add([ListedSource("A1", "", path), ListedSource("A2", "", f"{workspace}/sources/plan.md")])
        remove_sources(context, ["A1", "A2"], "Ada")
    assert victim.read_text(encoding="utf-8") == "mine"
    assert (workspace / "sources" / "plan.md").exists()


def test_a_run_that_is_said_to_have_taken_uploads_removes_no_other_folder(workspace: Path) -> None:
    upload = workspace / "uploads" / "one" / "plan.md"
    upload.parent.mkdir(parents=True)
    upload.write_text("a plan")
    with closing(open_engine(workspace)) as engine:
        jobs = JobQueue(engine.catalog)
        job = jobs.queue("add", {"paths": [f"{workspace}/uploads/../plan.md"]})
        jobs.finish(job, "done", [{"path": "../plan.md", "status": "indexed"}])
        remove_leftovers(workspace, jobs)
    assert (workspace / "catalog.sqlite").exists()
    assert upload.exists()


@pytest.mark.parametrize(
    "act",
    [
        lambda workspace, victim: file_of(workspace, replace(DOWNLOAD, path=str(victim))),
        lambda workspace, _: remove_file(workspace, replace(DOWNLOAD, path="downloads/../../outside/victim.txt")),
        lambda workspace, victim: forget_reading(workspace / "readings", f"{victim.parent}/victim"),
        lambda workspace, victim: drawings_of(workspace / "drawings", str(victim.parent)[:12]),
        lambda workspace, _: drawings_of(workspace / "drawings", ""),
        lambda workspace, _: originals_aside(workspace, "../../outside"),
        lambda workspace, _: inside(workspace, "a\0b"),
    ],
)
def test_a_name_that_leads_out_is_refused(workspace: Path, victim: Path, act: Callable[[Path, Path], object]) -> None:
    (workspace / "damaged" / "2026" / "files").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="does not lie in"):
        act(workspace, victim)
    assert victim.read_text(encoding="utf-8") == "mine"


def test_a_download_without_a_file_has_none(workspace: Path) -> None:
    assert file_of(workspace, replace(DOWNLOAD, path="")) is None
