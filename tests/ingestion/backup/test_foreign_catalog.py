"""Of a catalog from elsewhere the rows are taken over, and nothing that does something."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.acts.backups import restore
from tests.ingestion.backup.test_restore import changed_catalog, refuse
from tests.ingestion.backup.workspaces import found, place

QUESTION = "Who keeps the rules of the harbour?"
# What a stranger may add to a catalog, also under a kind of which SQLite takes no notice.
ADDED = (
    "CREATE TABLE hoard (file)",
    "INSERT INTO hoard VALUES ('hoarded')",
    "CREATE TRIGGER first_spy AFTER UPDATE ON documents BEGIN DELETE FROM state; END",
    "CREATE TRIGGER queue AFTER UPDATE ON jobs BEGIN UPDATE jobs SET status = 'queued'; END",
    "CREATE TRIGGER keep AFTER DELETE ON documents BEGIN INSERT INTO hoard VALUES (old.file); END",
    "CREATE VIEW seen AS SELECT file FROM documents",
    "CREATE VIRTUAL TABLE words USING fts5 (text)",
    "CREATE INDEX by_small ON documents (lower(file))",
    "ALTER TABLE documents ADD COLUMN computed AS (status || '/../..')",
    "ALTER TABLE documents RENAME TO other",
    "ALTER TABLE other RENAME TO DOCUMENTS",
    "PRAGMA writable_schema=ON",
    "UPDATE sqlite_master SET type = upper(type) WHERE name IN ('queue', 'keep', 'seen', 'words')",
)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "restored" / "workspace"


def _schema(workspace: Path) -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(workspace / "catalog.sqlite")) as connection:
        return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


def _rows(workspace: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(workspace / "catalog.sqlite")) as connection:
        tables = [name for kind, name, *_ in sorted(_schema(workspace)) if kind == "table"]
        return {name: connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid').fetchall() for name in tables}


def test_every_row_of_a_backup_of_ours_comes_back(archive: Path, workspace: Path, target: Path) -> None:
    restore(place(target), archive)
    assert _schema(target) == _schema(workspace)
    ours, restored = _rows(workspace), _rows(target)
    assert len(ours) > 15
    # Numbers go on behind the last row that came back.
    del ours["sqlite_sequence"], restored["sqlite_sequence"]
    # The id of the workspace and the generation of its indexes are its own.
    for state in (ours.pop("state"), restored.pop("state")):
        assert ("schema", "1") in state
    assert restored == ours


def test_of_a_foreign_schema_nothing_comes_back(archive: Path, workspace: Path, target: Path) -> None:
    assert restore(place(target), changed_catalog(archive, *ADDED)).documents == 2
    assert _schema(target) == _schema(workspace)
    assert found(target, QUESTION) == found(workspace, QUESTION)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (("ALTER TABLE documents RENAME TO other", "CREATE VIEW documents AS SELECT * FROM other"), "as a view"),
        (('DROP TABLE "references"', 'CREATE VIRTUAL TABLE "references" USING fts5 (text)'), "as a virtual"),
        (
            ("ALTER TABLE documents DROP COLUMN why", "ALTER TABLE documents ADD COLUMN why AS (status || '/../..')"),
            "no stored column why in documents",
        ),
    ],
)
def test_a_known_name_that_computes_what_it_says_is_refused(
    archive: Path, target: Path, statements: tuple[str, ...], words: str
) -> None:
    refuse(changed_catalog(archive, *statements), target, words)
