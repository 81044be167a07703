"""A question that names an entry of an index is led to the passages that the index lists, and told why."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.book_index import IndexRecord
from rag_engine.collection_index import CollectionIndex, named_passages, read_collection_index
from rag_engine.config import ChunkingConfig
from rag_engine.indexing import Indexer
from rag_engine.snapshot import read_snapshot
from rag_engine.stores import Stores
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.test_indexing import make_document
from tests.rag_engine.test_listings import ARTICLES

RECORDS = (
    IndexRecord("wildfire authority", pages=(1, 2)),
    IndexRecord("maps", "drought", pages=(2,)),
    IndexRecord("forest fire", see=("wildfire authority",)),
)


def read(stores: Stores, before: CollectionIndex | None = None) -> CollectionIndex:
    return read_collection_index(stores.catalog, read_snapshot(stores.catalog), before)


def add(stores: Stores, embedder: CountingEmbedder, records: Sequence[IndexRecord] = RECORDS) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", records)
    indexer.finish()


def test_a_named_term_leads_to_its_passages_and_says_so(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)

    found = named_passages(read(stores), "What does the wildfire authority publish?", "en")

    assert set(found.values()) == {("listed in the index under “wildfire authority”",)}
    children = stores.catalog.children(found)
    assert set(children) == set(found)
    assert any("wildfire authority" in child.text for child in children.values())


def test_an_entry_that_refers_to_another_leads_there(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)
    direct = named_passages(read(stores), "wildfire authority", "en")

    found = named_passages(read(stores), "Who deals with a forest fire?", "en")

    assert set(found) == set(direct)
    assert all("to which “forest fire” refers" in why for those in found.values() for why in those)


def test_a_question_that_names_no_term_is_led_nowhere(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)
    assert named_passages(read(stores), "What does the council pay?", "en") == {}


def test_the_indexes_are_read_again_only_when_the_collection_has_changed(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    add(stores, embedder)
    first = read(stores)
    assert read(stores, first) is first
    add(stores, embedder, ())
    assert len(read(stores, first).terms) == 0
