"""The content of Chroma for a collection, seen by its own client."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import chromadb
import pytest
import sqlalchemy as sql

from rag_engine import workspace as paths
from rag_engine.backends import chroma
from rag_engine.backends.chroma import clear_unused
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.storage.schema import children
from rag_engine.types import Document, Metadata
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import DYKES, REPORT, document_of, statute


def described(document: Document) -> Document:
    metadata = Metadata(
        "Dyke Protection Act", "en", authority="Parliament", hazards=("Flood", "Storm"), quality_score=81.5, year=2019
    )
    return replace(document, metadata=metadata)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace of two documents whose engine is closed."""
    engine = Engine(read_config(tmp_path), embedder=CountingEmbedder())
    with engine.indexer() as indexer:
        for document in (described(document_of(DYKES)), document_of(REPORT)):
            indexer.add(document, document.sha256)
        indexer.finish()
    engine.close()
    return tmp_path


def test_any_client_of_chroma_finds_the_text_and_its_description(workspace: Path) -> None:
    client = chromadb.PersistentClient(str(paths.chroma(workspace)))
    [collection] = client.list_collections()
    found = collection.get(
        where={"$and": [{"hazard": {"$contains": "Storm"}}, {"section": "Article 4"}]},
        where_document={"$contains": "Wardens walk along the crest"},
    )
    assert found["documents"] is not None
    assert found["metadatas"] is not None
    [text], [facets] = found["documents"], found["metadatas"]
    sha256 = hashlib.sha256(DYKES.pages[0].encode()).hexdigest()
    assert text.startswith("Article 4")
    assert str(facets["parent_text"]).startswith("Article 4")
    assert facets["child_id"] == f"{sha256[:12]}_p{facets['parent_idx']}_c{facets['child_idx']}"
    expected: dict[str, object] = {
        "policy_title": "Dyke Protection Act",
        "issuing_authority": "Parliament",
        "hazard": ["Flood", "Storm"],
        "page": 1,
        "section": "Article 4",
        "content_hash": sha256,
        "quality_score": 81.5,
        "language": "en",
        "year": 2019,
    }
    assert {name: facets[name] for name in expected} == expected
    client.close()


def test_an_erased_documents_words_leave_the_files_of_chroma(workspace: Path) -> None:
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    [act] = [one for one in engine.collection.documents() if one.metadata.authority]
    assert engine.collection.erase(act).left_behind == ()
    # Both while the client that erased is open and after it has ended.
    assert words_in_database(workspace) == {"sandbags"}
    engine.close()
    assert words_in_database(workspace) == {"sandbags"}

    again = Engine(read_config(workspace), embedder=CountingEmbedder())
    [left] = again.collection.documents()
    evidence = again.search("Where had sandbags burst?", None, again.retrieval(profile="paper", similarity_floor=0.0))
    assert [hit.document for hit in evidence.hits] == [left]
    assert evidence.hits[0].dense_rank == 1
    again.close()


def test_what_a_reader_leaves_of_its_memory_in_the_files_of_chroma_is_cleared_at_its_end(workspace: Path) -> None:
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    assert engine.collection._backends.dense(engine.collection.generation()).keys()
    [vectors] = paths.chroma(workspace).glob("*/data_level0.bin")
    layout = chroma._layout(vectors.parent)
    assert layout is not None
    with vectors.open("r+b") as file:
        # As Chroma does where it writes room that it has not filled.
        file.seek(layout[1])
        file.write(b"Wardens")
    engine.close()
    assert b"Wardens" not in vectors.read_bytes()


def words_in_database(workspace: Path) -> set[str]:
    """Return which of the words of both documents stand in Chroma's database."""
    content = (paths.chroma(workspace) / "chroma.sqlite3").read_bytes()
    return {word for word in ("Wardens", "Parliament", "sandbags") if word.encode() in content}


def test_the_vectors_of_an_erased_document_leave_the_files_of_chroma(tmp_path: Path) -> None:
    engine = Engine(read_config(tmp_path), embedder=CountingEmbedder())
    long = statute(
        "Long Act", {f"Article {n}": f"Measure {n} binds office {n * 7} until {n}. " * 5 for n in range(1, 1200)}
    )
    with engine.indexer() as indexer:
        for document in (document_of(REPORT), document_of(long)):
            indexer.add(document, document.sha256)
        indexer.finish()
    erased = next(one for one in engine.collection.documents() if one.metadata.title == "Long Act")
    assert erased.children > 1000
    rows = engine.catalog.read(sql.select(children.c.vector_row).where(children.c.document_key == erased.key))
    vectors = [engine.collection.view().vectors[row].tobytes() for (row,) in rows]
    assert files_with(tmp_path, vectors) > 0
    assert engine.collection.erase(erased).left_behind == ()
    assert files_with(tmp_path, vectors) == 0
    assert engine.collection.dense().keys() == set(engine.collection.snapshot().keys.tolist())
    engine.close()
    assert files_with(tmp_path, vectors) == 0


@pytest.mark.parametrize(
    ("head", "cleared"),
    [((1, 0, 4, 2, 8), True), ((2, 0, 4, 2, 8), False), ((1, 0, 4, 5, 8), False), ((1, 0, 2, 2, 8), False)],
    ids=["known", "another version", "more than there is room for", "a file that is too long"],
)
def test_a_file_of_vectors_is_written_only_where_its_layout_is_the_one_that_is_known(
    tmp_path: Path, head: tuple[int, ...], cleared: bool
) -> None:
    (tmp_path / "header.bin").write_bytes(struct.pack("<i4Q", *head))
    (tmp_path / "data_level0.bin").write_bytes(b"v" * 32)
    (tmp_path / "length.bin").write_bytes(b"l" * 16)
    assert clear_unused(tmp_path) == cleared
    assert (tmp_path / "length.bin").read_bytes() == (b"l" * 8 + bytes(8) if cleared else b"l" * 16)
    assert (tmp_path / "data_level0.bin").read_bytes() == (b"v" * 16 + bytes(16) if cleared else b"v" * 32)


def files_with(workspace: Path, vectors: Sequence[bytes]) -> int:
    """Return how many files hold one of the vectors."""
    files = (path.read_bytes() for path in workspace.rglob("*") if path.is_file())
    return sum(any(vector in content for vector in vectors[:50]) for content in files)
