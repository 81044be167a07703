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
for number in range(400):
    connection.execute("INSERT INTO records VALUES ('note', ?, '', '', 1, ?)", (f"half {number}", "lost " * 200))
os._exit(9)
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Return a workspace of one record, whose next writer was killed while it wrote."""
    with writing(tmp_path) as connection:
        write_record(connection, "note", "one", "kept")
    subprocess.run([sys.executable, "-P", "-c", _KILLED, str(records_file(tmp_path))], check=False)
    assert Path(f"{records_file(tmp_path)}-journal").stat().st_size
    return tmp_path


def test_records_are_read_after_a_writer_was_killed(killed: Path) -> None:
    with reading(killed) as connection:
        assert bodies(connection, "note") == {"one": "kept"}


def test_the_file_of_records_is_copied_after_a_writer_was_killed(killed: Path) -> None:
    with reading_file(records_file(killed)) as connection:
        assert connection.execute("SELECT id FROM records").fetchall() == [("one",)]
