"""The database of records as the next process finds it."""

import subprocess
import sys
from pathlib import Path

import pytest

from rag_engine.backends.sqlite_damage import reading as reading_file
from rag_engine.storage.records import bodies, reading, write_record, writing
from rag_engine.workspace import records_file

# A transaction that has begun to reach the file when its process is killed: its journal stays.
_KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("CREATE TABLE IF NOT EXISTS records (kind, id, owner, shared_by, version, body)")
for number in range(400):
    connection.execute("INSERT INTO records VALUES ('note', ?, '', '', 1, ?)", (f"half {number}", "lost " * 200))
os._exit(9)
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Return a workspace of one record, whose next writer was killed while it wrote."""
    with writing(tmp_path) as connection:
        write_record(connection, "note", "one", "kept")
    _kill_a_writer(tmp_path)
    return tmp_path


def _kill_a_writer(workspace: Path) -> None:
    subprocess.run([sys.executable, "-P", "-c", _KILLED, str(records_file(workspace))], check=False)
    assert Path(f"{records_file(workspace)}-journal").stat().st_size


def test_records_are_read_after_a_writer_was_killed(killed: Path) -> None:
    with reading(killed) as connection:
        assert bodies(connection, "note") == {"one": "kept"}


def test_the_file_of_records_is_copied_after_a_writer_was_killed(killed: Path) -> None:
    with reading_file(records_file(killed)) as connection:
        assert connection.execute("SELECT id FROM records").fetchall() == [("one",)]


def test_a_workspace_whose_first_writer_was_killed_has_no_records(tmp_path: Path) -> None:
    _kill_a_writer(tmp_path)
    with reading(tmp_path) as connection:
        assert bodies(connection, "note") == {}
    with writing(tmp_path) as connection:
        write_record(connection, "note", "one", "kept")
    with reading(tmp_path) as connection:
        assert bodies(connection, "note") == {"one": "kept"}
