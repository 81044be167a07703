"""A question that names an entry of an index is led to the passages that the index lists, and told why."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.book_index.anchors import IndexRecord
from rag_engine.config import ChunkingConfig, ChunkSizes
from rag_engine.retrieval.book_index_boost import match_index
from rag_engine.storage.index_entries import CollectionIndex, read_collection_index
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.snapshot import read_snapshot
from rag_engine.storage.stores import Stores
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.storage.test_index_entries import ARTICLES
from tests.rag_engine.storage.test_indexer import make_document

RECORDS = (
    IndexRecord("wildfire authority", pages=(1, 2)),
    IndexRecord("maps", "drought", pages=(2,)),
    IndexRecord("forest fire", see=("wildfire authority",)),
)


def read(stores: Stores) -> CollectionIndex:
    return read_collection_index(stores.catalog, read_snapshot(stores.catalog).documents)


def add(stores: Stores, embedder: CountingEmbedder, records: Sequence[IndexRecord] = RECORDS) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", records)
    indexer.finish()


def test_a_named_term_leads_to_its_passages_and_says_so(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)

    found = match_index(read(stores), "What does the wildfire authority publish?", "en").passages

    assert set(found.values()) == {("listed in the index under “wildfire authority”",)}
    children = stores.catalog.children(found)
    assert set(children) == set(found)
    assert any("wildfire authority" in child.text for child in children.values())


def test_an_entry_that_refers_to_another_leads_there(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)
    direct = match_index(read(stores), "wildfire authority", "en").passages

    found = match_index(read(stores), "Who deals with a forest fire?", "en").passages

    assert set(found) == set(direct)
    assert all("to which “forest fire” refers" in why for those in found.values() for why in those)


def test_a_question_that_names_no_term_is_led_nowhere(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)
    assert match_index(read(stores), "What does the council pay?", "en").passages == {}


def test_other_passages_of_a_named_page_are_kept_apart_from_the_one_it_names(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig("fixed", sizes=ChunkSizes(fixed_words=65, fixed_overlap=0)))
    indexer.add(make_document(stores, ARTICLES), "1", [IndexRecord("wildfire authority", pages=(1,))])
    indexer.finish()

    found = match_index(read(stores), "the wildfire authority", "en")

    [record] = stores.catalog.active_documents()
    children = {child.key: child for child in stores.catalog.document_children(record.key)}
    assert len(found.passages) == 1
    assert all("wildfire authority" in children[key].text for key in found.passages)
    on_page = {key for key, child in children.items() if child.page <= 1 <= child.last_page}
    assert found.same_page.keys() == on_page - found.passages.keys()
    assert set(found.same_page.values()) == {("listed in the index under “wildfire authority”",)}
    assert match_index(read(stores), "the wildfire authority", "en").passages == found.passages


def test_a_reference_of_an_entry_that_stands_in_several_rows_is_kept(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    rows = (
        IndexRecord("maps", pages=(1,), see=("wildfire authority",)),
        IndexRecord("maps", pages=(2,)),
        IndexRecord("wildfire authority", pages=(1,)),
    )
    add(stores, embedder, rows)
    why = {one for those in match_index(read(stores), "maps", "en").passages.values() for one in those}
    assert "listed in the index under “wildfire authority”, to which “maps” refers" in why
