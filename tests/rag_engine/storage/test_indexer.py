"""Indexing and removal through the real stores, with an encoder of counted words."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sql
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.config import ChunkingConfig
from rag_engine.protocols import StorageBackends
from rag_engine.retrieval.exact_search import nearest
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import open_catalog
from rag_engine.storage.erase_document import erase
from rag_engine.storage.indexer import Indexer, page_at
from rag_engine.storage.rebuild import refill
from rag_engine.storage.recovery import recover
from rag_engine.storage.snapshot import Snapshot, read_snapshot
from rag_engine.storage.stores import Stores, stored_name
from rag_engine.storage.vector_file import VectorFile
from rag_engine.storage.vector_rows import sweep
from rag_engine.types.document import Block, Box, Document, ExtractedText, Line, Metadata
from tests.rag_engine.conftest import CountingEmbedder

FLOOD = "The river authority shall publish flood maps every year. " * 40
HEAT = "Il piano caldo prevede tre livelli di allerta per le ondate di calore. " * 40


def make_document(stores: Stores, text: str, source: str = "/in/a.txt", language: str = "en") -> Document:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    half = len(text) // 2
    lines = (Line(0, half, 1, Box(10, 10, 500, 20)), Line(half, len(text), 2, Box(10, 30, 500, 40)))
    extracted = ExtractedText(text, 2, lines, (), "text/plain")
    copy = stored_name(stores.files, sha256, Path(source).name)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)
    return Document(source, Path(source).name, sha256, Metadata("A plan", language), extracted)


def add(stores: Stores, embedder: CountingEmbedder, *documents: Document) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    for document in documents:
        indexer.add(document, document.sha256)
    indexer.finish()


def copies(stores: Stores) -> list[str]:
    return sorted(str(path.relative_to(stores.files)) for path in stores.files.rglob("*") if path.is_file())


def held(stores: Stores) -> tuple[set[int], set[int], set[int]]:
    return set(read_snapshot(stores.catalog).keys.tolist()), stores.dense.filter(), stores.sparse.keys()


def test_a_document_is_in_the_catalog_and_both_indexes_with_pages_and_parents(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    [record] = stores.catalog.active_documents()
    children = stores.catalog.document_children(record.key)
    known, dense, sparse = held(stores)
    assert known == dense == sparse == {child.key for child in children}
    assert record.children == len(children) > 1
    assert children[0].page == 1
    assert children[-1].last_page == 2
    for child in children:
        assert FLOOD[child.parent.start + child.start : child.parent.start + child.end] == child.text
    assert stores.catalog.text(record.key) == FLOOD
    lines = stores.catalog.lines(record.key)
    assert lines[1].box == Box(10, 30, 500, 40)
    offsets = [0, *(line.start for line in lines), *(line.end for line in lines), len(FLOOD)]
    assert [stores.catalog.page_at(record.key, one) for one in offsets] == [page_at(lines, one) for one in offsets]
    assert stores.catalog.page_at(record.key + 1, 0) == 1


def test_the_catalog_keeps_the_layout_so_that_a_document_can_be_cut_anew(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    document = make_document(stores, FLOOD)
    blocks = (Block(0, 30, 1, "heading", 14.04), Block(32, len(FLOOD), 1, "text"))
    document = replace(document, extracted=replace(document.extracted, blocks=blocks))
    add(stores, embedder, document)
    [record] = stores.catalog.active_documents()
    kept = stores.catalog.extracted(record)
    assert (kept.text, kept.lines, kept.blocks) == (FLOOD, document.extracted.lines, blocks)


def labelled(stores: Stores) -> Document:
    document = make_document(stores, FLOOD)
    return replace(document, extracted=replace(document.extracted, page_labels=("", "iv")))


def test_the_printed_numbers_of_a_document_s_pages_are_kept_and_go_with_it(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    add(stores, embedder, labelled(stores))
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    numbered, plain = stores.catalog.active_documents()
    assert [numbered.page_label(page) for page in (1, 2)] == ["", "iv"]
    assert stores.catalog.extracted(numbered).page_labels == ("", "iv")
    assert plain.page_label(2) is None
    erase(stores, numbered)
    assert stores.catalog.read(sql.select(tables.page_labels)) == []


def test_a_catalog_from_before_printed_numbers_were_kept_is_read(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, labelled(stores))
    with stores.catalog.begin() as connection:
        tables.page_labels.drop(connection)
    # As one that lies where nothing can be written, and gets no table.
    assert [record.page_label(2) for record in stores.catalog.active_documents()] == [None]
    reopened = open_catalog(stores.catalog.workspace)
    assert [record.page_labels for record in reopened.active_documents()] == [()]
    reopened.close()


def test_a_document_says_how_it_was_cut_and_why(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    indexer = Indexer(stores, embedder, ChunkingConfig(strategy="newline"))
    indexer.add(make_document(stores, HEAT, "/in/b.txt", "it"), "1")
    indexer.finish()
    automatic, asked = stores.catalog.active_documents()
    assert automatic.strategy != "auto"
    assert automatic.why
    assert asked.strategy == "newline"


def test_a_passage_is_found_by_its_document_s_title_before_and_after_the_keyword_index_is_written_again(
    stores: Stores, embedder: CountingEmbedder, backends: StorageBackends
) -> None:
    titled = make_document(stores, FLOOD)
    add(stores, embedder, replace(titled, metadata=Metadata("Zanzibar plan", "en")))
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    first = stores.sparse.search("zanzibar authority", "en", 50)
    dense, sparse = backends.new_indexes(2)
    refill(replace(stores, dense=dense, sparse=sparse), lambda *_: None)

    assert len(first) == stores.catalog.active_documents()[0].children
    assert dict(sparse.search("zanzibar authority", "en", 50)) == pytest.approx(dict(first))
    erase(stores, stores.catalog.active_documents()[1])
    assert {key for key, _ in stores.sparse.search("zanzibar", "en", 50)} == {key for key, _ in first}


def test_nothing_is_visible_before_the_group_is_whole(stores: Stores, embedder: CountingEmbedder) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, FLOOD), "1")
    assert len(read_snapshot(stores.catalog)) == 0
    indexer.flush()
    assert len(read_snapshot(stores.catalog)) > 0


def test_a_changed_file_takes_the_place_of_its_older_version_everywhere(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    add(stores, embedder, make_document(stores, HEAT))
    [record] = stores.catalog.active_documents()
    known, dense, sparse = held(stores)
    assert known == dense == sparse
    assert stores.catalog.text(record.key) == HEAT
    assert copies(stores) == [f"{record.document_id}/a.txt"]
    assert stores.sparse.search("river authority flood maps", "en", 10) == []


def test_new_metadata_for_the_same_content_replaces_without_a_gap(stores: Stores, embedder: CountingEmbedder) -> None:
    document = make_document(stores, FLOOD)
    add(stores, embedder, document)
    add(stores, embedder, replace(document, metadata=replace(document.metadata, hazards=("Flood",))))
    [record] = stores.catalog.active_documents()
    assert record.metadata.hazards == ("Flood",)
    known, dense, sparse = held(stores)
    assert known == dense == sparse
    assert stored_name(stores.files, document.sha256, "a.txt").exists()


def test_a_document_described_anew_keeps_its_passages_and_encodes_nothing(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    (before,) = stores.catalog.active_documents()
    encoded = embedder.encoded
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.redescribe(before, replace(before.metadata, description="A plan.", tags=("Gender",)), "described")
    indexer.finish()
    [(after, print_)] = stores.catalog.fingerprints()
    assert (after.key, after.metadata.description, print_) == (before.key, "A plan.", "described")
    assert embedder.encoded == encoded
    assert held(stores)[0] == held(stores)[1] == held(stores)[2]


def test_a_new_title_is_read_by_the_encoder_and_takes_the_place_of_the_old(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    (before,) = stores.catalog.active_documents()
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.redescribe(before, replace(before.metadata, title="Another title"), "described")
    indexer.finish()
    (after,) = stores.catalog.active_documents()
    assert after.metadata.title == "Another title"
    assert after.children == before.children
    assert held(stores)[0] == held(stores)[1] == held(stores)[2]


def test_erasing_leaves_nothing_behind(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, FLOOD), make_document(stores, HEAT, "/in/b.txt", "it"))
    flood, heat = stores.catalog.active_documents()
    rows = read_snapshot(stores.catalog).rows[read_snapshot(stores.catalog).owners == flood.key]
    erasure = erase(stores, flood)
    assert erasure.left_behind == ()
    assert erasure.children == flood.children
    known, dense, sparse = held(stores)
    assert known == dense == sparse == {child.key for child in stores.catalog.document_children(heat.key)}
    assert not np.array(stores.vectors.all()[rows]).any()
    assert copies(stores) == [f"{heat.document_id}/b.txt"]


def test_what_was_interrupted_is_undone_at_the_next_start(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    before = held(stores)
    interrupted = Indexer(stores, embedder, ChunkingConfig())
    interrupted.add(make_document(stores, FLOOD), "1")
    assert recover(stores) == 1
    assert held(stores) == before
    assert len(copies(stores)) == 1


def test_the_same_text_is_never_encoded_twice(stores: Stores, embedder: CountingEmbedder) -> None:
    document = make_document(stores, FLOOD)
    add(stores, embedder, document)
    [record] = stores.catalog.active_documents()
    sentences = 1  # all sentences of the text are the same
    before = embedder.encoded
    add(stores, embedder, replace(document, source="/in/copy.txt"))
    assert embedder.encoded - before == sentences
    assert record.children > sentences


def test_what_a_broken_off_addition_has_encoded_is_found_again_and_swept_when_nobody_comes_for_it(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    document = make_document(stores, FLOOD + HEAT)
    children = Indexer(stores, embedder, ChunkingConfig()).add(document, "1")
    recover(stores)
    before = embedder.encoded
    Indexer(stores, embedder, ChunkingConfig()).add(make_document(stores, FLOOD + HEAT), "1")
    assert embedder.encoded - before == 2  # its two kinds of sentences, but no child
    recover(stores)
    assert 2 < sweep(stores) <= children
    assert sweep(stores) == 0


def test_vectors_that_were_lost_are_encoded_again_and_never_taken_for_others(
    stores: Stores, embedder: CountingEmbedder, tmp_path: Path
) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    stores = replace(stores, vectors=VectorFile(tmp_path / "lost", embedder.name, embedder.dimension))
    recover(stores)
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    snapshot = read_snapshot(stores.catalog)
    flood, heat = stores.catalog.active_documents()
    assert not set(snapshot.rows[snapshot.owners == flood.key]) & set(snapshot.rows[snapshot.owners == heat.key])


def test_chroma_and_the_exact_scan_agree_and_a_filter_holds_on_both(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, FLOOD), make_document(stores, HEAT, "/in/b.txt", "it"))
    snapshot, vectors = read_snapshot(stores.catalog), stores.vectors.all()
    heat = stores.catalog.active_documents()[1].key
    query = embedder.encode_queries(["allerta per ondate di calore e flood maps"])
    [(exact, cosines)] = nearest(snapshot, vectors, query, 3, None)
    [(approximate, others)] = stores.dense.search(query, 3)
    assert cosines == pytest.approx(others, abs=1e-4)
    assert len(exact) == len(approximate) == 3
    [(allowed, _)] = nearest(snapshot, vectors, query, 50, {heat})
    [(where, _)] = stores.dense.search(query, 50, documents={heat})
    mine = set(snapshot.keys[snapshot.owners == heat].tolist())
    assert set(allowed.tolist()) == set(where.tolist()) == mine
    assert nearest(snapshot, vectors, query, 50, set())[0][0].size == 0


def test_a_reader_sees_only_what_changed_since(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, FLOOD))
    first = read_snapshot(stores.catalog)
    assert read_snapshot(stores.catalog, first) is first
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    second = read_snapshot(stores.catalog, first)
    fresh = read_snapshot(stores.catalog)
    assert second.keys.tolist() == fresh.keys.tolist()
    assert second.rows.tolist() == fresh.rows.tolist()
    assert second.positions(np.array([10_000, *fresh.keys[:2]])).tolist() == [0, 1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 9000), st.integers(1, 60), st.sampled_from([0.05, 0.3, 1.0]))
@settings(max_examples=40, deadline=None)
def test_the_scan_finds_what_sorting_every_cosine_finds(seed: int, count: int, top_k: int, share: float) -> None:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count + 5, 8)).astype(np.float32)
    queries = random.standard_normal((3, 8)).astype(np.float32)
    owners = random.integers(1, 40, count)
    snapshot = Snapshot(1, {}, {}, np.arange(1, count + 1), owners, owners, random.permutation(count + 5)[:count])
    documents = {int(owner) for owner in range(1, 40) if owner <= 40 * share}
    allowed = np.isin(owners, list(documents))
    found = nearest(snapshot, vectors, queries, top_k, None if share == 1.0 else documents)
    for query, (keys, cosines) in zip(queries, found, strict=True):
        scores = vectors[snapshot.rows] @ query
        expected = np.sort(scores[allowed | (share == 1.0)])[::-1][:top_k]
        assert cosines == pytest.approx(expected, abs=1e-4)
        assert scores[keys - 1] == pytest.approx(cosines, abs=1e-4)
