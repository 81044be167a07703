"""A collection over both stores: views, generations, rebuilding."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_engine.book_index.anchors import IndexRecord
from rag_engine.config import ChunkingConfig
from rag_engine.errors import WorkspaceError
from rag_engine.protocols import StorageBackends
from rag_engine.storage.catalog import open_catalog
from rag_engine.storage.collection import Collection
from rag_engine.storage.collection_writer import CollectionWriter
from rag_engine.storage.generations import Generations
from rag_engine.types.document import Document
from tests.rag_engine.conftest import CountingEmbedder, OtherEmbedder
from tests.rag_engine.small_collection import GUIDE, NOTICE, document_of


@pytest.fixture
def collection(tmp_path: Path, backends: StorageBackends) -> Iterator[Collection]:
    opened = Collection(tmp_path, open_catalog(tmp_path), backends)
    yield opened
    opened.close()


def add(collection: Collection, embedder: CountingEmbedder, *documents: Document) -> None:
    with CollectionWriter(collection).open_indexer(lambda: embedder, ChunkingConfig()) as indexer:
        for document in documents:
            indexer.add(document, document.sha256, [IndexRecord("sandbags", pages=(1,))])
        indexer.finish()


def rebuild(collection: Collection, **options: Any) -> int:
    return Generations(CollectionWriter(collection)).rebuild(**options)


def assert_whole(collection: Collection) -> None:
    """Assert that the catalog and both indexes hold the same children, each with its vector."""
    known = set(collection.snapshot().keys.tolist())
    assert collection.dense().filter() == collection.sparse().keys() == known
    assert collection.missing_vectors() == 0


def test_an_empty_collection_has_no_view_and_says_what_to_do(collection: Collection) -> None:
    assert collection.documents() == []
    with pytest.raises(WorkspaceError, match="sextant add"):
        collection.view()


def test_the_view_changes_only_with_the_collection(collection: Collection, embedder: CountingEmbedder) -> None:
    add(collection, embedder, document_of(NOTICE))
    first = collection.view()
    assert collection.view() is first
    assert first.index.terms.match("Where are the sandbags?", "en")
    assert set(first.samples.vectors) == {"en"}
    add(collection, embedder, document_of(GUIDE))
    second = collection.view()
    assert second is not first
    assert len(second.snapshot) > len(first.snapshot)
    assert second.file is first.file


def test_a_rebuilt_collection_answers_from_a_new_generation_without_encoding(
    collection: Collection, embedder: CountingEmbedder
) -> None:
    add(collection, embedder, document_of(NOTICE), document_of(GUIDE))
    before, encoded = dict(collection.sparse().search("sandbags", "en", 9)), embedder.encoded
    assert rebuild(collection) == len(collection.snapshot())
    assert (collection.generation(), embedder.encoded) == (2, encoded)
    assert dict(collection.sparse().search("sandbags", "en", 9)) == pytest.approx(before)
    assert_whole(collection)


def test_another_encoder_is_refused_until_everything_is_encoded_again(
    collection: Collection, embedder: CountingEmbedder
) -> None:
    add(collection, embedder, document_of(NOTICE))
    other = OtherEmbedder()
    with pytest.raises(WorkspaceError, match="indexed with counting"):
        add(collection, other, document_of(GUIDE))
    rebuild(collection, embedder=other)
    manifest = collection.manifest()
    assert manifest is not None
    assert manifest.name == collection.view().file.model == "another"
    add(collection, other, document_of(GUIDE))
    assert_whole(collection)


@pytest.mark.parametrize("encoded_again", [False, True])
def test_a_new_generation_is_read_whole_before_it_answers(
    collection: Collection, embedder: CountingEmbedder, encoded_again: bool
) -> None:
    add(collection, embedder, document_of(NOTICE), document_of(GUIDE))
    before = collection.snapshot()
    seen: list[Collection] = []

    def look(candidate: Collection) -> bool:
        assert_whole(candidate)
        assert [one.file for one in candidate.documents()] == [one.file for one in collection.documents()]
        assert (collection.generation(), candidate.generation()) == (1, 2)
        assert collection.snapshot() is before
        assert candidate.view().manifest.name == ("another" if encoded_again else "counting")
        seen.append(candidate)
        return True

    rebuild(collection, embedder=OtherEmbedder() if encoded_again else None, check=look)
    assert seen
    assert collection.generation() == 2
    assert_whole(collection)


@pytest.mark.parametrize("encoded_again", [False, True])
def test_a_generation_that_fails_its_check_leaves_the_old_one_as_it_was(
    collection: Collection, embedder: CountingEmbedder, encoded_again: bool
) -> None:
    add(collection, embedder, document_of(NOTICE), document_of(GUIDE))
    before = set(collection.snapshot().keys.tolist())

    def refuse(_: Collection) -> bool:
        raise WorkspaceError("The figures fell.")

    with pytest.raises(WorkspaceError, match="figures fell"):
        rebuild(collection, embedder=OtherEmbedder() if encoded_again else None, check=refuse)
    assert collection.generation() == 1
    assert set(collection.snapshot().keys.tolist()) == before
    assert_whole(collection)
    add(collection, embedder, document_of(GUIDE))
    assert rebuild(collection) == len(collection.snapshot())
