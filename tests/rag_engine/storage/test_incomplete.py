"""An index that lacks documents answers nothing, and the next write fills it."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sql

from rag_engine.backends.tantivy import open_sparse_index
from rag_engine.engine import Engine
from rag_engine.errors import WorkspaceError
from rag_engine.storage import schema as tables
from rag_engine.workspace import chroma, sparse_index
from tests.rag_engine.small_collection import Written, document_of
from tests.rag_engine.storage.test_damage import open_engine

ANOTHER = Written("Notice of July", ("The ferry stops at noon when the river stands above the second mark.",))


def begin_anew(folder: Path) -> None:
    """Leave an empty index in the place of one that was there."""
    shutil.rmtree(folder)
    index = open_sparse_index(folder, writable=True)
    index.add([(10_000, 10_000, "en", "nothing that the catalog knows")])
    index.delete_documents([10_000])
    index.commit()


def add(engine: Engine) -> None:
    with engine.indexer() as indexer:
        indexer.add(document_of(ANOTHER), "another")
        indexer.finish()


def erase(engine: Engine) -> None:
    engine.writer.erase(engine.collection.documents()[0])


def relabel(engine: Engine) -> None:
    engine.writer.relabel()


def in_step(engine: Engine) -> bool:
    known = set(engine.collection.snapshot().keys.tolist())
    return engine.collection.sparse().keys() == engine.collection.dense().filter() == known


LOST_KEYWORDS: dict[str, Callable[[Path], None]] = {
    "folder removed": shutil.rmtree,
    "list of its files removed": lambda folder: (folder / "meta.json").unlink(),
    "begun anew": begin_anew,
}


@pytest.mark.parametrize("write", [add, erase, relabel])
@pytest.mark.parametrize("lost", LOST_KEYWORDS)
def test_whoever_writes_fills_a_keyword_index_that_lacks_documents(
    workspace: Path, lost: str, write: Callable[[Engine], None]
) -> None:
    folder = sparse_index(workspace, 1)
    LOST_KEYWORDS[lost](folder)
    with closing(open_engine(workspace)) as engine:
        with pytest.raises(WorkspaceError, match="sextant rebuild"):
            engine.collection.sparse()
        write(engine)
    with closing(open_engine(workspace)) as engine:
        assert in_step(engine)


@pytest.mark.parametrize("write", [add, erase, relabel])
def test_whoever_writes_fills_a_dense_index_that_lacks_documents(
    workspace: Path, write: Callable[[Engine], None]
) -> None:
    shutil.rmtree(chroma(workspace, 1))
    with closing(open_engine(workspace)) as engine:
        with pytest.raises(WorkspaceError, match="sextant rebuild"):
            engine.collection.dense()
        write(engine)
    with closing(open_engine(workspace)) as engine:
        assert in_step(engine)


@pytest.mark.parametrize("also_lost", ["keywords", "chroma"])
def test_vectors_that_are_gone_are_told_after_an_addition_too(workspace: Path, also_lost: str) -> None:
    shutil.rmtree(workspace / "vectors")
    shutil.rmtree(sparse_index(workspace, 1) if also_lost == "keywords" else chroma(workspace, 1))
    with closing(open_engine(workspace)) as engine:
        add(engine)
        with pytest.raises(WorkspaceError, match="sextant rebuild --encode"):
            engine.collection.view()
        engine.rebuild(encode=True)
        assert engine.collection.view()
        assert in_step(engine)


def test_passages_without_the_vectors_of_their_sentences_are_told(workspace: Path) -> None:
    with closing(open_engine(workspace)) as engine:
        rows = engine.collection.snapshot().rows.tolist()
        with engine.catalog.begin() as connection:
            connection.execute(sql.delete(tables.vectors).where(tables.vectors.c.row == rows[0]))
        assert [one.key for one in engine.collection.damaged_vectors()] == [int(engine.collection.snapshot().owners[0])]
        with pytest.raises(WorkspaceError, match="sextant rebuild --encode"):
            engine.collection.view().sentences(rows)
        engine.rebuild(encode=True)
        assert engine.collection.view().sentences(engine.collection.snapshot().rows.tolist())
