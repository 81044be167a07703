"""A question that names an entry of an index is led to its passages, and told why."""

from collections.abc import Sequence

from rag_engine.book_index.anchors import IndexRecord
from rag_engine.config import ChunkingConfig, ChunkSizes
from rag_engine.retrieval.book_index_boost import (
    MOST_CONTEXTS,
    Listed,
    ListedPlace,
    match_index,
    missing_contexts,
)
from rag_engine.storage.index_entries import CollectionIndex, read_collection_index
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.snapshot import read_snapshot
from rag_engine.storage.stores import Stores
from rag_engine.types.passage import IndexListing
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


def explained(found: Listed) -> set[str]:
    return {one.listing.explain(f"page {one.listing.page}") for places in found.values() for one in places}


def add(stores: Stores, embedder: CountingEmbedder, records: Sequence[IndexRecord] = RECORDS) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", records)
    indexer.finish()


def test_a_place_is_that_of_the_sentences_that_name_the_entry(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder)
    [record] = stores.catalog.active_documents()
    text = stores.catalog.text(record.key)

    found = match_index(read(stores), "Which drought maps are there?", "en").passages

    [[place]] = found.values()
    assert text[place.start : place.end].startswith("The drought authority shall publish its drought maps")


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
    assert found.same_page == on_page - found.passages.keys()
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
    why = explained(match_index(read(stores), "maps", "en").passages)
    assert "listed in the index under “wildfire authority”, page 1, to which “maps” refers" in why


def place(entry: str, page: int) -> ListedPlace:
    return ListedPlace(IndexListing(entry, page), 100 * page, 100 * page + 50)


def test_of_an_entry_that_leads_to_nothing_that_is_read_the_best_place_is_added() -> None:
    listed = {1: (place("dyke", 4),), 2: (place("dyke", 7), place("sluice", 7)), 3: (place("sluice", 9),)}

    assert missing_contexts([3, 2, 1], listed, lambda *_: False) == {
        3: (place("sluice", 9),),
        2: (place("dyke", 7),),
    }


def test_an_entry_that_leads_into_what_is_read_adds_nothing() -> None:
    listed = {1: (place("dyke", 4),), 2: (place("dyke", 7),)}

    assert missing_contexts([1, 2], listed, lambda key, _: key == 2) == {}


def test_no_more_than_a_few_places_are_added_however_many_entries_are_named() -> None:
    listed = {key: (place(f"entry {key}", key),) for key in range(1, 9)}

    assert len(missing_contexts(list(listed), listed, lambda *_: False)) == MOST_CONTEXTS
