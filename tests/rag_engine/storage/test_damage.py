"""A damaged catalog ends in a sentence that names the file, for each place and each question."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sql

from rag_engine.backends.chroma import check_database, collection_name, open_chroma
from rag_engine.backends.sqlite_damage import find_damage
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, SextantError, WorkspaceError
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import SCHEMA, check_databases, open_catalog
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import NOTICE, document_of

TOLD = r"The catalog .*catalog\.sqlite is damaged: .*sextant restore ARCHIVE --workspace NEW"


def open_engine(workspace: Path) -> Engine:
    return Engine(read_config(workspace), embedder=CountingEmbedder())


def read_all(engine: Engine) -> None:
    for record in engine.collection.documents():
        engine.catalog.extracted(record)
        engine.catalog.document_children(record.key)
    view = engine.collection.view()
    assert view.index is not None
    view.sentences(view.snapshot.rows.tolist())


def add_one(engine: Engine) -> None:
    with engine.indexer() as indexer:
        indexer.add(document_of(NOTICE), "again")
        indexer.finish()


def erase_one(engine: Engine) -> None:
    engine.writer.erase(engine.collection.documents()[0])


def rebuild(engine: Engine) -> None:
    engine.rebuild()


def overwrite(path: Path, begin: int, length: int = 512) -> None:
    with path.open("r+b") as file:
        file.seek(begin)
        file.write(b"\xff" * length)


def first_page(database: Path, name: str) -> int:
    """Return where the first page of a table or index begins."""
    with closing(sqlite3.connect(database)) as connection:
        [(size,)] = connection.execute("PRAGMA page_size")
        [(page,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,))
    return (int(page) - 1) * int(size)


@pytest.mark.parametrize("use", [read_all, add_one, erase_one, rebuild])
@pytest.mark.parametrize("part", ["documents", "children"])
def test_a_damaged_page_ends_every_use_of_it_with_file_and_cure(
    workspace: Path, part: str, use: Callable[[Engine], None]
) -> None:
    catalog = workspace / "catalog.sqlite"
    overwrite(catalog, first_page(catalog, part))
    with pytest.raises(WorkspaceError, match=TOLD), closing(open_engine(workspace)) as engine:
        use(engine)
    with pytest.raises(WorkspaceError, match=TOLD):
        check_databases(workspace)


@pytest.mark.parametrize("part", ["ix_children_document_key", "vectors_by_row", "texts", "state"])
def test_a_damaged_page_is_found_where_nobody_has_read_it(workspace: Path, part: str) -> None:
    catalog = workspace / "catalog.sqlite"
    check_databases(workspace)
    overwrite(catalog, first_page(catalog, part))
    with pytest.raises(WorkspaceError, match=TOLD):
        check_databases(workspace)


def test_what_a_killed_process_had_begun_to_write_is_undone_and_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "some.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE words (word)")
        connection.execute("INSERT INTO words VALUES ('whole')")
        connection.commit()
    # Ends as if killed when a part of the change is in the file, and how to undo it in a journal beside.
    killed = (
        f"import os, sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('UPDATE words SET word = 1'); c.executemany('INSERT INTO words VALUES (?)', [('w' * 500,)] * 500)\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", killed], check=True)
    assert Path(f"{path}-journal").stat().st_size
    assert find_damage(path) == []
    assert b"www" not in path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT word FROM words").fetchall() == [("whole",)]


@pytest.mark.parametrize("share", [0.001, 0.5, 0.9])
def test_a_truncated_catalog_is_told(workspace: Path, share: float) -> None:
    catalog = workspace / "catalog.sqlite"
    os.truncate(catalog, int(catalog.stat().st_size * share))
    with pytest.raises(WorkspaceError, match=TOLD):
        check_databases(workspace)
    with pytest.raises(WorkspaceError, match=TOLD), closing(open_engine(workspace)) as engine:
        read_all(engine)


def test_wherever_bytes_are_overwritten_nothing_but_a_sentence_comes_of_it(whole: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    size, told = (whole / "catalog.sqlite").stat().st_size, 0
    for number in range(40):
        chance = random.Random(number)
        shutil.rmtree(workspace, ignore_errors=True)
        shutil.copytree(whole, workspace)
        for _ in range(chance.choice((1, 4, 20))):
            overwrite(workspace / "catalog.sqlite", chance.randrange(size - 64), chance.choice((1, 8, 64)))
        try:
            with closing(open_engine(workspace)) as engine:
                read_all(engine)
        except SextantError:
            told += 1
    assert told > 10


def test_a_text_that_is_not_as_it_was_kept_names_its_document(workspace: Path) -> None:
    with closing(open_engine(workspace)) as engine:
        assert engine.catalog.damaged_documents() == []
        first, second, *_ = engine.collection.documents()
        with engine.catalog.begin() as connection:
            of = tables.texts.c.document_key == first.key
            connection.execute(sql.update(tables.texts).where(of).values(text=b"no text"))
            of = tables.parents.c.document_key == second.key
            connection.execute(sql.update(tables.parents).where(of).values(text="Somebody else's words."))
        with pytest.raises(WorkspaceError, match=r"of a document is damaged.*sextant doctor"):
            engine.catalog.text(first.key)
        assert [one.key for one in engine.catalog.damaged_documents()] == [first.key, second.key]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (str(SCHEMA + 1), "was made by a newer Sextant: .*Install a Sextant at least as new"),
        ("of another program", "was made by a newer Sextant"),
        ("0", "was made by a newer Sextant"),
    ],
)
def test_a_catalog_of_another_sextant_is_refused_before_anything_is_written(
    workspace: Path, schema: str, words: str
) -> None:
    catalog = workspace / "catalog.sqlite"
    with closing(sqlite3.connect(catalog)) as connection:
        connection.execute("UPDATE state SET value = ? WHERE name = 'schema'", (schema,))
        # As if a newer one had another table in its place.
        connection.execute("DROP TABLE anchors")
        connection.commit()
    before = catalog.read_bytes()
    with pytest.raises(WorkspaceError, match=words):
        open_catalog(workspace)
    assert catalog.read_bytes() == before


@pytest.mark.parametrize("part", ["header", "migrations", "collections"])
def test_a_damaged_database_of_chroma_is_told_before_chroma_ends_the_process(workspace: Path, part: str) -> None:
    database = workspace / "index" / "1" / "chroma" / "chroma.sqlite3"
    check_database(database.parent)
    overwrite(database, 0 if part == "header" else first_page(database, part))
    assert find_damage(database)
    name = collection_name("any", 1)
    with pytest.raises(BackendError, match=r"sqlite3 is damaged: .*`sextant rebuild` makes it from the catalog"):
        open_chroma(database.parent, name)
    with pytest.raises(BackendError, match=r"chroma\.sqlite3 is damaged"), closing(open_engine(workspace)) as engine:
        add_one(engine)
    with closing(open_engine(workspace)) as engine:
        engine.rebuild()
        assert engine.collection.dense().filter() == set(engine.collection.snapshot().keys.tolist())
