"""The content of Chroma for a collection, seen by its own client."""

import hashlib
import platform
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import chromadb
import numpy as np
import pytest
import sqlalchemy as sql
from chromadb.api.types import Where

from ingestion.acts.context import local_person, open_context
from ingestion.acts.corrections import correct
from ingestion.worker import work
from rag_engine import workspace as paths
from rag_engine.backends.chroma import ChromaIndex, open_chroma
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.protocols import ChildFacets
from rag_engine.storage.schema import children
from rag_engine.types.document import Document, Metadata
from tests.conftest import ROOT
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import DYKES, REPORT, document_of, statute


def described(document: Document) -> Document:
    metadata = Metadata(
        "Dyke Protection Act",
        "en",
        authority="Parliament",
        hazards=("Flood", "Storm"),
        countries=("Netherlands",),
        document_type="Act",
        geographical_level="National",
        licence="CC BY 4.0",
        quality_score=81.5,
        year=2019,
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


def test_a_plain_client_filters_passages_and_gets_text_section_and_page(workspace: Path) -> None:
    client = chromadb.PersistentClient(str(paths.chroma(workspace, 1)))
    [collection] = client.list_collections()
    asked: list[Where] = [
        {"hazard": {"$contains": "Storm"}},
        {"country": {"$contains": "Netherlands"}},
        {"language": "en"},
        {"geographical_level": "National"},
        {"document_type": "Act"},
        {"year": {"$gte": 2015}},
        {"licence": "CC BY 4.0"},
    ]
    for where in asked:
        titles = {one["policy_title"] for one in collection.get(where=where)["metadatas"] or ()}
        assert titles == {"Dyke Protection Act"} | ({"Report"} if "language" in where else set())
    found = collection.get(where={"$and": [*asked, {"section": "Article 4"}]})
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
        "year": 2019,
    }
    assert {name: facets[name] for name in expected} == expected
    client.close()


def test_a_correction_is_in_chroma_at_once_and_takes_removed_values_away(workspace: Path) -> None:
    with closing(Engine(read_config(workspace), embedder=CountingEmbedder())) as engine:
        context = open_context(engine, local_person("Ada"))
        [act] = [one for one in engine.collection.documents() if one.metadata.authority]
        correct(context, {act.source: {"licence": [], "hazards": ["Wildfire"]}}, "Ada")
        dense = engine.collection.dense()
        assert dense.filter(facets={"hazard": ["Wildfire"]}) == dense.filter(documents=[act.key]) != set()
        assert dense.filter(facets={"hazard": ["Flood"]}) == set()
    client = chromadb.PersistentClient(str(paths.chroma(workspace, 1)))
    [collection] = client.list_collections()
    assert collection.get(where={"licence": "CC BY 4.0"})["ids"] == []
    client.close()


def test_whoever_reads_chroma_lets_it_go_as_soon_as_another_process_writes(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("The harbour master closes the flood gate at a level of two metres. " * 8)
    add = (
        "from ingestion.acts.documents import add_files; from tests.rag_engine.backends.test_chroma import *\n"
        "with closing(Engine(read_config(Path(sys.argv[1])), embedder=CountingEmbedder())) as engine:\n"
        "    add_files(open_context(engine, local_person('Ada')), [Path(sys.argv[2])])\n"
    )
    with closing(Engine(read_config(workspace), embedder=CountingEmbedder())) as engine:
        paper = engine.retrieval(profile="paper", similarity_floor=0.0)
        compared = "every vector was compared instead"
        assert compared not in str(engine.search("Where had sandbags burst?", None, paper).warnings)
        subprocess.run([sys.executable, "-c", add, str(workspace), str(tmp_path / "new.txt")], cwd=ROOT, check=True)
        found = engine.search("Who closes the flood gate?", None, paper)
        assert (found.hits[0].document.file, compared in str(found.warnings)) == ("new.txt", False)


def test_an_erased_documents_words_leave_the_files_of_chroma(workspace: Path) -> None:
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    [act] = [one for one in engine.collection.documents() if one.metadata.authority]
    assert engine.writer.erase(act).left_behind == ()
    # Both while the client that erased is open and after it has ended.
    assert words_in_chroma(workspace) == {"sandbags"}
    engine.close()
    assert words_in_chroma(workspace) == {"sandbags"}

    again = Engine(read_config(workspace), embedder=CountingEmbedder())
    [left] = again.collection.documents()
    evidence = again.search("Where had sandbags burst?", None, again.retrieval(profile="paper", similarity_floor=0.0))
    assert [hit.document for hit in evidence.hits] == [left]
    assert evidence.hits[0].dense_rank == 1
    again.close()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory of another library than glibc")
def test_new_files_of_chroma_hold_no_words_of_what_was_deleted(tmp_path: Path) -> None:
    first = open_chroma(tmp_path / "0", "any-1")
    for keys in (range(begin, begin + 100) for begin in range(0, 400, 100)):
        put(first, keys, "Wardens")
    first.delete(np.arange(400))
    for number in range(1, 9):
        index = open_chroma(tmp_path / str(number), "any-1")
        put(index, range(20), "Others")
        assert index.search(np.ones((1, 384), np.float32), 1)
        index.close()
    first.close()
    files = [path.read_bytes() for path in tmp_path.glob("[1-9]/*/*.bin")]
    assert len(files) > 1
    assert sum(b"Wardens" in one for one in files) == 0


def put(index: ChromaIndex, keys: range, word: str) -> None:
    vectors = np.random.default_rng(keys.start).standard_normal((len(keys), 384)).astype(np.float32)
    texts = [f"{word} walk along the crest {key} and write down every crack that {word} see. " * 8 for key in keys]
    facets: list[ChildFacets] = [{"document": 1, "parent_text": f"{word} " * 200} for _ in keys]
    index.add(np.array(keys), vectors, texts, facets)


def words_in_chroma(workspace: Path) -> set[str]:
    """Return which of the words of both documents stand in Chroma's files."""
    content = b"".join(path.read_bytes() for path in (workspace / "index").rglob("chroma/**/*") if path.is_file())
    return {word for word in ("Wardens", "Parliament", "sandbags") if word.encode() in content}


def test_of_a_large_collection_the_worker_makes_the_files_anew_once_no_job_waits(tmp_path: Path) -> None:
    engine = Engine(read_config(tmp_path), embedder=CountingEmbedder())
    long = [
        statute(
            f"{name} Act", {f"Article {n}": f"{name} {n} binds office {n * 7} until {n}. " * 5 for n in range(1, 600)}
        )
        for name in ("Zanzibar", "Measure", "Other")
    ]
    with engine.indexer() as indexer:
        for document in map(document_of, long):
            indexer.add(document, document.sha256)
        indexer.finish()
    erased = next(one for one in engine.collection.documents() if one.metadata.title == "Zanzibar Act")
    rows = engine.catalog.read(sql.select(children.c.vector_row).where(children.c.document_key == erased.key))
    vectors = [engine.collection.view().vectors[row].tobytes() for (row,) in rows]
    assert files_with(tmp_path, vectors) > 0
    [left] = engine.writer.erase(erased).left_behind
    assert "until the worker rebuilds them" in left
    # The words leave the database at once; vectors lie in files that Chroma never cuts.
    assert b"Zanzibar" not in (paths.chroma(tmp_path, 1) / "chroma.sqlite3").read_bytes()
    assert engine.collection.dense().filter() == set(engine.collection.snapshot().keys.tolist())
    assert (work(engine), engine.collection.left_by_erasures()) == (0, ())
    assert files_with(tmp_path, vectors) == 0
    assert engine.collection.dense().filter() == set(engine.collection.snapshot().keys.tolist())
    engine.close()
    assert files_with(tmp_path, vectors) == 0


def files_with(workspace: Path, vectors: Sequence[bytes]) -> int:
    """Return how many files hold one of the vectors."""
    files = (path.read_bytes() for path in workspace.rglob("*") if path.is_file())
    return sum(any(vector in content for vector in vectors[:50]) for content in files)
