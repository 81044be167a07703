"""Workspaces of the first two schemas of the catalog are taken over, with documents, decisions and corrections."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.operations.desk import local_person, open_desk
from ingestion.operations.indexes import rebuild
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import Decision
from rag_engine.backends.sqlite_copy import find_record_damage
from rag_engine.engine import Engine
from rag_engine.errors import WorkspaceError
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import SCHEMA, metadata_json, open_catalog
from rag_engine.storage.manifest import manifest_of
from rag_engine.types import Metadata
from rag_engine.workspace import write_lock
from tests.rag_engine.conftest import CountingEmbedder, unread

TEXT = "Flood act\n\n1. Dykes\n\nThe dyke of Oberheim was raised by two metres.\n\n2. Gates\n\nThe mayor has the key.\n"
CONTENT = hashlib.sha256(TEXT.encode()).hexdigest()

# As the catalog's own tables were made at first, and until layout, sections and sentences were kept.
FIRST = """
PRAGMA journal_mode=WAL;
CREATE TABLE state (name VARCHAR NOT NULL, value VARCHAR, PRIMARY KEY (name));
CREATE TABLE documents ("key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, document_id VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL, source VARCHAR NOT NULL, file VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL,
    model VARCHAR NOT NULL, status VARCHAR NOT NULL, media_type VARCHAR NOT NULL, pages INTEGER NOT NULL,
    ocr_pages INTEGER NOT NULL, parents INTEGER NOT NULL, children INTEGER NOT NULL, characters INTEGER NOT NULL,
    added VARCHAR NOT NULL, metadata VARCHAR NOT NULL);
CREATE TABLE texts (document_key INTEGER NOT NULL, text BLOB NOT NULL, lines BLOB NOT NULL, PRIMARY KEY (document_key));
CREATE TABLE parents ("key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, document_key INTEGER NOT NULL,
    "index" INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER NOT NULL,
    last_page INTEGER NOT NULL, text VARCHAR NOT NULL);
CREATE TABLE children ("key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, document_key INTEGER NOT NULL,
    parent_key INTEGER NOT NULL, "index" INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    page INTEGER NOT NULL, last_page INTEGER NOT NULL, vector_row INTEGER NOT NULL);
CREATE TABLE vectors (model VARCHAR NOT NULL, text_hash VARCHAR NOT NULL, "row" INTEGER NOT NULL,
    PRIMARY KEY (model, text_hash));
"""
# The second schema came with the list of sources, what people said of them, and runs.
SECOND = """
CREATE TABLE sources (position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, code VARCHAR NOT NULL, url VARCHAR NOT NULL,
    path VARCHAR NOT NULL, title VARCHAR NOT NULL, authority VARCHAR NOT NULL, notes VARCHAR NOT NULL,
    licence VARCHAR NOT NULL, parent VARCHAR NOT NULL, origin VARCHAR NOT NULL, added VARCHAR NOT NULL, UNIQUE (code));
CREATE TABLE outcomes (code VARCHAR NOT NULL, phase VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL,
    model VARCHAR NOT NULL, status VARCHAR NOT NULL, reason VARCHAR NOT NULL, message VARCHAR NOT NULL,
    evidence VARCHAR NOT NULL, retryable BOOLEAN NOT NULL, attempts INTEGER NOT NULL, "when" VARCHAR NOT NULL,
    PRIMARY KEY (code, phase));
CREATE TABLE history (id INTEGER NOT NULL, code VARCHAR NOT NULL, "when" VARCHAR NOT NULL, event VARCHAR NOT NULL,
    status VARCHAR NOT NULL, reason VARCHAR NOT NULL, message VARCHAR NOT NULL, author VARCHAR NOT NULL,
    seconds FLOAT NOT NULL, PRIMARY KEY (id));
CREATE TABLE decisions (code VARCHAR NOT NULL, phase VARCHAR NOT NULL, choice VARCHAR NOT NULL, author VARCHAR NOT NULL,
    note VARCHAR NOT NULL, "when" VARCHAR NOT NULL, PRIMARY KEY (code, phase));
CREATE TABLE corrections (code VARCHAR NOT NULL, field VARCHAR NOT NULL, "values" VARCHAR NOT NULL,
    author VARCHAR NOT NULL, note VARCHAR NOT NULL, "when" VARCHAR NOT NULL, PRIMARY KEY (code, field));
CREATE TABLE kept (name VARCHAR NOT NULL, code VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL, value VARCHAR NOT NULL,
    PRIMARY KEY (name, code));
CREATE TABLE runs (id INTEGER NOT NULL, action VARCHAR NOT NULL, arguments VARCHAR NOT NULL, status VARCHAR NOT NULL,
    progress VARCHAR NOT NULL, results VARCHAR NOT NULL, message VARCHAR NOT NULL, wish VARCHAR NOT NULL,
    queued VARCHAR NOT NULL, started VARCHAR NOT NULL, heartbeat FLOAT NOT NULL, attempts INTEGER NOT NULL,
    PRIMARY KEY (id));
INSERT INTO sources (code, url, path, title, authority, notes, licence, parent, origin, added) VALUES
    ('A1', 'https://example.org/act.txt', '', 'Flood act', '', '', '', '', 'list.csv', '2026-11-22T02:00:00+00:00');
INSERT INTO outcomes VALUES ('A1', 'licence', 'f', '', 'done', 'licence_unclear', 'It does not say.',
    '{"light":"YELLOW","licence":"","marks":[],"restrictions":[],"language":"","conflict":false}', 0, 1,
    '2026-11-22T02:00:01+00:00');
INSERT INTO history VALUES (1, 'A1', '2026-11-22T02:00:00+00:00', 'added', '', '', 'list.csv, row 1', '', 0.0);
INSERT INTO decisions VALUES ('A1', 'licence', 'GREEN', 'Ada', 'They wrote to us.', '2026-11-22T02:00:02+00:00');
INSERT INTO corrections VALUES
    ('A1', 'title', '["Flood act of 1954"]', 'Ada', 'So it says.', '2026-11-22T02:00:03+00:00');
INSERT INTO runs VALUES (1, 'run', '{"codes": ["A1"]}', 'done', '', '[]', '', '', '2026-11-22T02:00:00+00:00',
    '2026-11-22T02:00:00+00:00', 0.0, 1);
"""


def make_workspace(folder: Path, schema: int) -> Path:
    """Return a workspace as a Sextant of this schema left it, with one document."""
    copy = folder / "files" / CONTENT[:12] / "act.txt"
    copy.parent.mkdir(parents=True)
    copy.write_text(TEXT)
    # An index and vectors of a form that nobody reads any more.
    for name in ("index/1/keywords/meta.json", "vectors/counting-256.f32"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(b"\0" * 1024)
    described = metadata_json(Metadata(title="Flood act", language="en"))
    source = "list:A1" if schema == 2 else "/home/ada/act.txt"
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as connection:
        connection.executescript(FIRST + (SECOND if schema == 2 else ""))
        named = {"schema": str(schema), "workspace": "a75522a7", "encoder": manifest_of(CountingEmbedder()).to_json()}
        named |= {"last parent": "1", "last child": "1", "change": "1"}
        connection.executemany("INSERT INTO state VALUES (?, ?)", named.items())
        connection.execute(
            "INSERT INTO documents VALUES "
            "(1, ?, ?, ?, 'act.txt', 'f', 'counting', 'active', 'text/plain', 1, 0, 1, 1, ?, '2026-11-22T02:00', ?)",
            (CONTENT[:12], CONTENT, source, len(TEXT), described),
        )
        packed = zlib.compress(TEXT.encode()), zlib.compress(b"")
        connection.execute("INSERT INTO texts VALUES (1, ?, ?)", packed)
        connection.execute("INSERT INTO parents VALUES (1, 1, 0, 0, ?, 1, 1, ?)", (len(TEXT), TEXT))
        connection.execute("INSERT INTO children VALUES (1, 1, 1, 0, 0, ?, 1, 1, 0)", (len(TEXT),))
        connection.execute("INSERT INTO vectors VALUES ('counting', 'h', 0)")
        connection.commit()
    return folder


def open_engine(workspace: Path) -> Engine:
    return Engine(unread(workspace), embedder=CountingEmbedder())


@pytest.mark.parametrize("schema", [1, 2])
def test_a_workspace_of_an_older_schema_answers_once_its_texts_are_encoded_again(tmp_path: Path, schema: int) -> None:
    workspace = make_workspace(tmp_path / "workspace", schema)
    with closing(open_engine(workspace)) as engine:
        [record] = engine.collection.documents()
        assert (record.file, record.metadata.title, record.added) == ("act.txt", "Flood act", "2026-11-22T02:00")
        assert engine.catalog.extracted(record).text == TEXT
        assert engine.catalog.damaged_documents() == []
        assert engine.catalog.state("schema") == str(SCHEMA)
        assert workspace.stat().st_mode & 0o077 == 0
        with pytest.raises(WorkspaceError, match=r"sextant rebuild --encode"):
            engine.search("When was the dyke raised?")
        rebuild(open_desk(engine, local_person("Ada")), encode=True)
    with closing(open_engine(workspace)) as engine:
        [record] = engine.collection.documents()
        assert (record.file, record.added, record.strategy != "") == ("act.txt", "2026-11-22T02:00", True)
        assert "Oberheim" in engine.search("When was the dyke of Oberheim raised?").hits[0].text
        assert engine.collection.damaged_vectors() == []
    assert not (workspace / "index" / "1").exists()
    assert (workspace / "files" / CONTENT[:12] / "act.txt").read_text() == TEXT
    assert find_record_damage(workspace) == []


def test_what_people_said_in_a_workspace_of_schema_2_still_counts(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "workspace", 2)
    with closing(open_engine(workspace)) as engine:
        desk = open_desk(engine, local_person("Ada"))
        assert desk.store.decisions() == [
            Decision("A1", "licence", "GREEN", "Ada", "They wrote to us.", "2026-11-22T02:00:02+00:00")
        ]
        assert desk.store.corrections() == [
            Correction("A1", "title", ("Flood act of 1954",), "Ada", "So it says.", "2026-11-22T02:00:03+00:00")
        ]
        record = desk.store.records()["A1"]
        assert record.metadata.title == "Flood act of 1954"
        assert record.verdict is not None
        assert record.verdict.light == "GREEN"
        assert [one.event for one in desk.store.history("A1")] == ["added"]
        assert [run.request.codes for run in desk.jobs.runs()] == [("A1",)]
        # They are in the journal too, once it is held against the catalog.
        assert desk.store.complete_journal() == 2


def test_the_tables_of_a_migrated_catalog_are_those_of_a_new_one(tmp_path: Path) -> None:
    made = make_workspace(tmp_path / "older", 1), tmp_path / "new"
    columns = []
    for workspace in made:
        open_catalog(workspace).close()
        with closing(sqlite3.connect(workspace / "catalog.sqlite")) as connection:
            told = ((name, connection.execute(f"PRAGMA table_info('{name}')")) for name in tables.TABLES.tables)
            columns.append({name: {row[1]: (row[2], row[3], row[5]) for row in rows} for name, rows in told})
    assert columns[0] == columns[1]


def test_a_workspace_that_is_being_written_is_not_migrated_meanwhile(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "workspace", 1)
    before = (workspace / "catalog.sqlite").read_bytes()
    with write_lock(workspace), pytest.raises(WorkspaceError, match=r"is being written by process \d+"):
        open_catalog(workspace)
    assert (workspace / "catalog.sqlite").read_bytes() == before
