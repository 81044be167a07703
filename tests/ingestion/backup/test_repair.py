"""A destroyed catalog comes back from the log and the originals; destroyed records leave it whole."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.acts import backups, corrections, decisions, documents, indexes, sources
from ingestion.acts.people import audit_entries
from ingestion.backup import repair as read_again
from ingestion.backup.repair import CatalogRenewed, ReadAgain
from ingestion.file_reading import FileReading
from ingestion.records.erasures import begun_erasures
from ingestion.records.source_record import EXCLUDED, Decision
from ingestion.records.source_store import now
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES
from ingestion.types.source import Download, ListedSource
from rag_engine.conversations.store import list_conversations
from rag_engine.errors import WorkspaceError
from rag_engine.messages import Message
from rag_engine.notebook.store import create_notebook, is_unnamed, list_notebooks
from rag_engine.storage.log import read_lines
from rag_engine.types.document import DocumentRecord
from tests.ingestion.backup.workspaces import (
    add,
    context_of,
    erase,
    found,
    make_workspace,
    open_engine,
    place,
)

HOW = ["missing", "empty", "truncated", "overwritten"]
_REPAIRS = ("repair_catalog", "repair_records", "read_again")
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
        context = context_of(engine)
        sources.add_sources(context, [ListedSource("A1", "https://example.org/a1.pdf", title="The first plan")])
        decisions.decide(context, ["A1"], "GREEN", "Ada", "They wrote to us.")
        # Reading again encodes what a correction says; before, the vectors are those of what was there at first.
        indexes.rebuild(context, encode=True)
        pdf, at = "downloads/A1_plan.pdf", "https://example.org/a1.pdf"
        got = Download(pdf, (at,), "0" * 64, 10, "application/pdf", "file", "2026-11-25T10:00:00+00:00")
        context.store.record("A1", "acquisition", Outcome("done", "", Message(), got), fingerprint="made of this")
    create_notebook(workspace, "For the council")
    return workspace


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "workspace"))


def destroy(database: Path, how: str) -> bytes:
    """Destroy a database, and return what is left of its file."""
    for ending in ("-wal", "-shm"):
        Path(f"{database}{ending}").unlink(missing_ok=True)
    if how == "missing":
        database.unlink()
        return b""
    if how == "overwritten":
        with database.open("r+b") as file:
            file.write(b"\xff" * 4096)
    else:
        os.truncate(database, 0 if how == "empty" else 9000)
    return database.read_bytes()


def state(workspace: Path) -> dict[str, object]:
    """Return what people see of a workspace: described documents, sources, and what they said and made."""
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        records = engine.collection.documents()
        return {
            "documents": [
                (one.source, one.sha256, one.added, one.metadata, one.pages, one.children) for one in records
            ],
            "texts": [engine.catalog.text(one.key) for one in records],
            "sources": context.store.sources(),
            "files": context.store.files(),
            "decisions": context.store.decisions(),
            "told": [one for one in context.store.history("A1") if one.event not in PHASES],
            "corrections": context.store.entered_corrections(),
            "described": [corrections.find_described(context, one).values for one in ("bay.md", "harbour.md")],
            "conversations": list_conversations(workspace),
            "notebooks": [one for one in list_notebooks(workspace) if not is_unnamed(one)],
            "audit": [one for one in audit_entries(context) if one.act not in _REPAIRS],
        }


def hits(workspace: Path) -> list[list[tuple[str, float, str]]]:
    return [found(workspace, question) for question in QUESTIONS]


def repair(workspace: Path) -> tuple[CatalogRenewed, ReadAgain]:
    renewed = backups.repair_catalog(place(workspace))
    with closing(open_engine(workspace)) as engine:
        return renewed, backups.read_again(context_of(engine))


@pytest.mark.parametrize("how", HOW)
def test_a_destroyed_catalog_comes_back_with_equal_search_results(workspace: Path, how: str) -> None:
    before, answers = state(workspace), hits(workspace)
    assert all(answers)
    assert all(before.values())
    destroyed = destroy(workspace / "catalog.sqlite", how)
    renewed, again = repair(workspace)
    assert state(workspace) == before
    assert hits(workspace) == answers
    assert sorted(again.read) == ["bay.md", "harbour.md", "pier.md", "pier.md"]
    assert (again.unread, renewed.documents, renewed.unknown) == ((), 4, None)
    # The damaged file is kept as it was.
    assert (renewed.aside.read_bytes() if renewed.aside else b"") == destroyed
    assert b"Quagga" not in b"".join(one.read_bytes() for one in (workspace / "files").rglob("*") if one.is_file())


@pytest.mark.parametrize("how", HOW)
def test_destroyed_records_leave_the_catalog_and_its_decisions(workspace: Path, how: str) -> None:
    before, answers = state(workspace), hits(workspace)
    destroyed = destroy(workspace / "records.sqlite", how)
    renewed = backups.repair_records(place(workspace))
    after = state(workspace)
    same = ("documents", "texts", "sources", "files", "decisions")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert hits(workspace) == answers
    assert [after[name] for name in ("corrections", "conversations", "notebooks", "audit")] == [[], [], [], []]
    assert (renewed.decisions, renewed.aside.read_bytes() if renewed.aside else b"") == (1, destroyed)
    # From the new records the catalog comes back as well.
    destroy(workspace / "catalog.sqlite", how)
    repair(workspace)
    assert {name: state(workspace)[name] for name in same} == {name: before[name] for name in same}


def test_what_was_erased_stays_out_of_every_run_when_the_records_are_gone(workspace: Path) -> None:
    with closing(open_engine(workspace)) as engine:
        context_of(engine).store.decide(Decision("A1", "indexing", EXCLUDED, "Ada", "Withdrawn: by them.", now()))
        before = context_of(engine).store.decisions()
    # Once the one, once the other.
    destroy(workspace / "catalog.sqlite", "missing")
    repair(workspace)
    destroy(workspace / "records.sqlite", "missing")
    backups.repair_records(place(workspace))
    with closing(open_engine(workspace)) as engine:
        assert context_of(engine).store.records()["A1"].is_excluded
        assert context_of(engine).store.decisions() == before


def test_a_correction_of_a_killed_process_is_said_by_the_next(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        with monkeypatch.context() as patch:
            patch.setattr(corrections, "_apply", killed)
            with pytest.raises(KeyboardInterrupt):
                corrections.correct(context, {"bay.md": {"authority": ["The warden"]}}, "Ada")
        corrections.correct(context, {"harbour.md": {"authority": ["The master"]}}, "Ada")
        said = {one.file: one.metadata.authority for one in engine.collection.documents()}
    assert (said["bay.md"], said["harbour.md"]) == ("The warden", "The master")


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_no_command_begins_an_empty_catalog_where_documents_are(workspace: Path, how: str) -> None:
    destroy(workspace / "catalog.sqlite", how)
    with pytest.raises(WorkspaceError, match=r"is missing or empty.*doctor --repair"), closing(open_engine(workspace)):
        pass
    assert len(list((workspace / "files").glob("*/*.md"))) == 4


def test_a_document_that_was_being_erased_does_not_come_back(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ingestion.acts.documents._carry_out", killed)
        with pytest.raises(KeyboardInterrupt):
            erase(workspace, "bay.md")
    destroy(workspace / "catalog.sqlite", "missing")
    _, again = repair(workspace)
    assert "bay.md" not in again.read
    with closing(open_engine(workspace)) as engine:
        assert "bay.md" not in [one.file for one in engine.collection.documents()]
        assert begun_erasures(workspace) == []
    kept = [*workspace.glob("*.sqlite*"), *(workspace / "files").rglob("*.md")]
    assert [one for one in kept if b"warden keeps" in one.read_bytes() or b"rules of the bay" in one.read_bytes()] == []


def test_an_original_that_the_log_does_not_know_is_set_aside_and_not_removed(workspace: Path) -> None:
    late = workspace / "files" / "0123456789ab" / "late.md"
    late.parent.mkdir()
    late.write_text("# Late\n\n" + "The late document came after the log. " * 20, encoding="utf-8")
    destroy(workspace / "catalog.sqlite", "missing")
    renewed, _ = repair(workspace)
    assert renewed.unknown is not None
    assert [path.name for path in renewed.unknown.rglob("*.md")] == ["late.md"]
    with closing(open_engine(workspace)) as engine:
        [added] = documents.add_files(context_of(engine), [renewed.unknown])
    assert added.status == "indexed"


def test_a_document_whose_original_is_lost_or_changed_is_named(workspace: Path) -> None:
    [bay] = (workspace / "files").glob("*/bay.md")
    bay.write_text("Something else.")
    next((workspace / "files").glob("*/harbour.md")).unlink()
    destroy(workspace / "catalog.sqlite", "overwritten")
    _, again = repair(workspace)
    assert dict(again.unread).keys() == {"bay.md", "harbour.md"}
    with closing(open_engine(workspace)) as engine:
        assert [one.file for one in engine.catalog.damaged_documents()] == ["harbour.md", "bay.md"]


def test_a_repair_that_is_broken_off_is_begun_again(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, answers = state(workspace), hits(workspace)
    destroy(workspace / "catalog.sqlite", "overwritten")
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
        assert backups.read_again(context_of(engine)).unread == ()
    assert (state(workspace), hits(workspace)) == (before, answers)


def test_an_erasure_names_the_damaged_database_that_still_holds_the_document(workspace: Path) -> None:
    destroy(workspace / "catalog.sqlite", "overwritten")
    repair(workspace)
    with closing(open_engine(workspace)) as engine:
        left = documents.erase(context_of(engine), "bay.md").left_behind
    [aside] = workspace.glob("damaged/*/catalog.sqlite")
    assert left == (f"its traces in {aside.relative_to(workspace)}, a database that was damaged",)
    aside.unlink()
    with closing(open_engine(workspace)) as engine:
        assert documents.erase(context_of(engine), "harbour.md").left_behind == ()


def files(workspace: Path) -> dict[Path, bytes]:
    """Return the content of every file but locks."""
    found = (path for path in workspace.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in found if path.suffix != ".lock"}


def test_of_two_destroyed_databases_nothing_is_touched(workspace: Path) -> None:
    destroy(workspace / "catalog.sqlite", "overwritten")
    destroy(workspace / "records.sqlite", "overwritten")
    before = files(workspace)
    with pytest.raises(WorkspaceError, match=r"records.*are damaged.*sextant restore"):
        repair(workspace)
    assert files(workspace) == before
    destroy(workspace / "records.sqlite", "missing")
    with pytest.raises(WorkspaceError, match=r"knows no document.*sextant add"):
        repair(workspace)
    assert {path: content for path, content in files(workspace).items() if path.name != "records.sqlite"} == {
        path: content for path, content in before.items() if path.name != "records.sqlite"
    }


def test_the_log_holds_no_text_and_is_its_owners_alone(workspace: Path) -> None:
    records = workspace / "records.sqlite"
    assert records.stat().st_mode & 0o777 == 0o600
    assert b"harbourmaster" not in b"".join(repr(one).encode() for one in read_lines(workspace, "document"))
    assert {one.file for one in read_lines(workspace, "document")} == {"bay.md", "harbour.md", "pier.md"}
