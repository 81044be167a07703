"""A destroyed catalog comes back from its second copy, the journal and the originals, as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.backup import read_again
from ingestion.backup.bring_back import CatalogBroughtBack
from ingestion.backup.read_again import ReadAgain
from ingestion.operations import backups, corrections, decisions, documents, indexes, sources
from ingestion.records.erasures import BegunErasures
from ingestion.records.source_record import Decision
from ingestion.records.source_store import now
from ingestion.types import Download, FileReading, Outcome, SeedSource
from rag_engine.backends.sqlite_copy import forget_records, keep_records
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.types import DocumentRecord
from tests.ingestion.backup.workspaces import (
    add,
    desk_of,
    erase,
    found,
    make_workspace,
    open_engine,
    place,
)

QUESTIONS = ("Who keeps the rules of the harbour?", "Which rules has the bay?", "What does the pier cost?")
ERASED = "# The quagga manuscript\n\n" + "Quagga and okapi keep the pier of the manuscript. " * 20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a correction, a licence decision, an erased document and two versions."""
    workspace = make_workspace(tmp_path_factory.mktemp("made") / "workspace")
    add(workspace, "quagga.md", ERASED)
    add(workspace, "pier.md", "# The pier\n\n" + "The pier costs ten crowns a day. " * 20)
    add(workspace, "pier.md", "# The pier\n\n" + "The pier costs eleven crowns a day since the flood. " * 20)
    erase(workspace, "quagga.md")
    with closing(open_engine(workspace)) as engine:
        desk = desk_of(engine)
        sources.add_sources(desk, [SeedSource("A1", "https://example.org/a1.pdf", title="The first plan")])
        decisions.decide(desk, ["A1"], "GREEN", "Ada", "They wrote to us.")
        # Reading again encodes what a correction says; before, the vectors are those of what was there at first.
        indexes.rebuild(desk, encode=True)
        pdf, at = "downloads/A1_plan.pdf", "https://example.org/a1.pdf"
        got = Download(pdf, (at,), "0" * 64, 10, "application/pdf", "file", "2026-11-25T10:00:00+00:00")
        desk.store.record("A1", "acquisition", Outcome("done", "", "", got), fingerprint="made of this")
    keep_records(workspace)
    return workspace


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "workspace"))


def destroy(workspace: Path, how: str) -> None:
    catalog = workspace / "catalog.sqlite"
    for ending in ("-wal", "-shm"):
        Path(f"{catalog}{ending}").unlink(missing_ok=True)
    if how == "missing":
        catalog.unlink()
    elif how == "empty":
        os.truncate(catalog, 0)
    elif how == "truncated":
        os.truncate(catalog, 9000)
    else:
        with catalog.open("r+b") as file:
            file.write(b"\xff" * 4096)


def state(workspace: Path) -> dict[str, object]:
    """Return what people see of a workspace: described documents, sources, and what they said."""
    with closing(open_engine(workspace)) as engine:
        desk = desk_of(engine)
        records = engine.collection.documents()
        return {
            "documents": [
                (one.source, one.sha256, one.added, one.metadata, one.pages, one.children) for one in records
            ],
            "texts": [engine.catalog.text(one.key) for one in records],
            "sources": desk.store.sources(),
            "decisions": desk.store.decisions(),
            "corrections": desk.store.journal.entries(),
            "history": desk.store.history("A1"),
            "outcomes": desk.store.entries(),
            "described": [corrections.find_described(desk, one).values for one in ("bay.md", "harbour.md")],
        }


def hits(workspace: Path) -> list[list[tuple[str, float, str]]]:
    return [found(workspace, question) for question in QUESTIONS]


def repair(workspace: Path) -> tuple[CatalogBroughtBack, ReadAgain]:
    brought = backups.bring_back(place(workspace))
    with closing(open_engine(workspace)) as engine:
        backups.take_up_journal(desk_of(engine))
        return brought, backups.read_again(desk_of(engine))


@pytest.mark.parametrize("how", ["missing", "empty", "truncated", "overwritten"])
def test_a_destroyed_catalog_comes_back_with_equal_search_results(workspace: Path, how: str) -> None:
    before, answers = state(workspace), hits(workspace)
    assert all(answers)
    destroy(workspace, how)
    destroyed = (workspace / "catalog.sqlite").read_bytes() if how != "missing" else None
    brought, again = repair(workspace)
    assert state(workspace) == before
    assert hits(workspace) == answers
    assert sorted(again.read) == ["bay.md", "harbour.md", "pier.md", "pier.md"]
    assert (again.unread, brought.unknown) == ((), None)
    # The damaged file is kept as it was.
    assert (brought.aside.read_bytes() if brought.aside else None) == destroyed
    assert b"Quagga" not in b"".join(one.read_bytes() for one in (workspace / "files").rglob("*") if one.is_file())


def test_a_second_copy_that_a_newer_sextant_made_is_refused_with_the_cure(workspace: Path) -> None:
    with closing(sqlite3.connect(workspace / "catalog-copy.sqlite")) as connection:
        connection.execute("UPDATE state SET value = '99' WHERE name = 'schema'")
        connection.commit()
    destroy(workspace, "missing")
    with pytest.raises(WorkspaceError, match=r"was made by a newer Sextant.*at least as new"):
        repair(workspace)
    assert not (workspace / "catalog.sqlite").exists()


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_no_command_begins_an_empty_catalog_where_documents_are(workspace: Path, how: str) -> None:
    destroy(workspace, how)
    with pytest.raises(WorkspaceError, match=r"is missing or empty.*doctor --repair"), closing(open_engine(workspace)):
        pass
    assert len(list((workspace / "files").glob("*/*.md"))) == 4


def test_what_was_said_after_the_last_copy_comes_back_from_the_journal(workspace: Path) -> None:
    with closing(open_engine(workspace)) as engine:
        desk_of(engine).store.decide(Decision("A1", "licence", "RED", "Grace", "They took it back.", now()))
    destroy(workspace, "missing")
    repair(workspace)
    with closing(open_engine(workspace)) as engine:
        assert [one.choice for one in desk_of(engine).store.decisions()] == ["RED"]


def test_a_document_that_was_being_erased_does_not_come_back(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ingestion.operations.documents._carry_out", killed)
        with pytest.raises(KeyboardInterrupt):
            erase(workspace, "bay.md")
    destroy(workspace, "missing")
    _, again = repair(workspace)
    assert "bay.md" not in again.read
    with closing(open_engine(workspace)) as engine:
        assert "bay.md" not in [one.file for one in engine.collection.documents()]
        assert BegunErasures(engine.catalog).all() == []
    kept = [*workspace.glob("*.sqlite*"), *(workspace / "files").rglob("*.md"), workspace / "journal.jsonl"]
    assert [one for one in kept if b"warden keeps" in one.read_bytes() or b"rules of the bay" in one.read_bytes()] == []


def test_an_original_that_the_copy_does_not_know_is_set_aside_and_not_removed(workspace: Path) -> None:
    copy = (workspace / "catalog-copy.sqlite").read_bytes()
    add(workspace, "late.md", "# Late\n\n" + "The late document came after the copy. " * 20)
    (workspace / "catalog-copy.sqlite").write_bytes(copy)
    destroy(workspace, "missing")
    brought, _ = repair(workspace)
    assert brought.unknown is not None
    assert [path.name for path in brought.unknown.rglob("*.md")] == ["late.md"]
    with closing(open_engine(workspace)) as engine:
        [added] = documents.add_files(desk_of(engine), [brought.unknown])
    assert added.status == "indexed"


def test_a_document_whose_original_is_lost_or_changed_is_named(workspace: Path) -> None:
    [bay] = (workspace / "files").glob("*/bay.md")
    bay.write_text("Something else.")
    next((workspace / "files").glob("*/harbour.md")).unlink()
    destroy(workspace, "overwritten")
    _, again = repair(workspace)
    assert dict(again.unread).keys() == {"bay.md", "harbour.md"}
    with closing(open_engine(workspace)) as engine:
        assert [one.file for one in engine.catalog.damaged_documents()] == ["harbour.md", "bay.md"]


def test_a_repair_that_is_broken_off_is_begun_again(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, answers = state(workspace), hits(workspace)
    destroy(workspace, "overwritten")
    with monkeypatch.context() as patch:

        def killed(record: DocumentRecord, *_: object) -> FileReading:
            if record.file == "pier.md":
                raise KeyboardInterrupt
            return read(record, *_)  # type: ignore[arg-type]

        read = read_again._read
        patch.setattr(read_again, "_read", killed)
        with pytest.raises(KeyboardInterrupt):
            repair(workspace)
    with closing(open_engine(workspace)) as engine:
        assert backups.read_again(desk_of(engine)).unread == ()
    assert (state(workspace), hits(workspace)) == (before, answers)


def test_an_erasure_names_the_damaged_database_that_still_holds_the_document(workspace: Path) -> None:
    destroy(workspace, "overwritten")
    repair(workspace)
    with closing(open_engine(workspace)) as engine:
        left = documents.erase(desk_of(engine), "bay.md").left_behind
    [aside] = workspace.glob("damaged/*/catalog.sqlite")
    assert left == (f"its traces in {aside.relative_to(workspace)}, a catalog that was damaged",)
    aside.unlink()
    with closing(open_engine(workspace)) as engine:
        assert documents.erase(desk_of(engine), "harbour.md").left_behind == ()


def files(workspace: Path) -> dict[Path, bytes]:
    """Return the content of every file but locks and audit log, which notes that a repair failed."""
    found = (path for path in workspace.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in found if path.suffix != ".lock" and path.name != "audit.jsonl"}


def test_without_a_whole_copy_nothing_is_touched(workspace: Path) -> None:
    destroy(workspace, "overwritten")
    with (workspace / "catalog-copy.sqlite").open("r+b") as file:
        file.write(b"\xff" * 4096)
    before = files(workspace)
    with pytest.raises(WorkspaceError, match=r"is damaged as well.*sextant restore"):
        repair(workspace)
    forget_records(workspace)
    with pytest.raises(WorkspaceError, match="no second copy"):
        repair(workspace)
    assert files(workspace) == {path: content for path, content in before.items() if path.name != "catalog-copy.sqlite"}


def test_the_copy_holds_no_text_and_is_its_owners_alone(workspace: Path) -> None:
    copy = workspace / "catalog-copy.sqlite"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert b"harbourmaster" not in copy.read_bytes()
    with closing(sqlite3.connect(copy)) as kept, closing(sqlite3.connect(workspace / "catalog.sqlite")) as catalog:
        for table in ("documents", "document_corrections", "decisions", "sources", "history", "state"):
            rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for connection in (kept, catalog)]
            assert sorted(rows[0]) == sorted(rows[1]) != []


def test_a_damaged_copy_is_made_anew_by_the_next_change(workspace: Path) -> None:
    copy = workspace / "catalog-copy.sqlite"
    with copy.open("r+b") as file:
        file.write(b"\xff" * 4096)
    keep_records(workspace)
    before = copy.stat().st_mtime_ns
    keep_records(workspace)
    assert copy.stat().st_mtime_ns == before
    destroy(workspace, "missing")
    repair(workspace)


def test_a_damaged_database_does_not_become_the_copy(workspace: Path) -> None:
    copy = (workspace / "catalog-copy.sqlite").read_bytes()
    destroy(workspace, "overwritten")
    with pytest.raises(SextantError, match="is damaged"):
        keep_records(workspace)
    assert (workspace / "catalog-copy.sqlite").read_bytes() == copy
