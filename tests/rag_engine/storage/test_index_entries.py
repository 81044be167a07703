"""Index entries: they come, move and go with their document, and lead to its passages."""

from dataclasses import replace

import sqlalchemy as sql

from rag_engine.book_index.anchors import IndexRecord
from rag_engine.book_index.matching import IndexedPassage
from rag_engine.config import ChunkingConfig, ChunkSizes
from rag_engine.storage import schema as tables
from rag_engine.storage.erase_document import erase
from rag_engine.storage.index_entries import (
    OWN_GLOSSARY,
    OWN_INDEX,
    IndexedEntry,
    entries_to_keep,
    index_sources,
    indexed_terms,
    replace_index,
    stored_entries,
)
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.rebuild import encode_again
from rag_engine.storage.recovery import recover
from rag_engine.storage.snapshot import read_snapshot
from rag_engine.storage.stores import Stores
from rag_engine.types.document import DocumentRecord
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.storage.test_indexer import HEAT, add, make_document

ARTICLES = "\n\n".join(
    f"Topic {n} of the plan.\n" + f"The {word} authority shall publish its {word} maps every year. " * 30
    for n, word in enumerate(["flood", "wildfire", "drought"], start=1)
)
SMALLER = ChunkingConfig("fixed", sizes=ChunkSizes(fixed_words=60, fixed_overlap=0))


def listed(term: str, source: str = OWN_INDEX, subterm: str = "") -> IndexedEntry:
    start = ARTICLES.index(f"{term} authority")
    return IndexedEntry(term, subterm, source, 1, start, start + len(term))


def add_listed(stores: Stores, embedder: CountingEmbedder, *places: IndexedEntry) -> DocumentRecord:
    add(stores, embedder, make_document(stores, ARTICLES))
    record = stores.catalog.active_documents()[-1]
    replace_index(stores.catalog, OWN_INDEX, {record.key: places})
    return record


def shown(stores: Stores) -> dict[str, IndexedPassage]:
    return {one.term: one for one in indexed_terms(stores.catalog, read_snapshot(stores.catalog).documents)}


def text_of(stores: Stores, one: IndexedPassage) -> str:
    return stores.catalog.children([int(one.child_id)])[int(one.child_id)].text


def left(stores: Stores) -> int:
    [(count,)] = stores.catalog.read(sql.select(sql.func.count()).select_from(tables.anchors))
    return int(count)


def test_a_listed_term_leads_to_the_passage_that_treats_it(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_listed(stores, embedder, listed("wildfire"), listed("drought", subterm="maps of"))

    found = shown(stores)

    assert set(found) == {"wildfire", "drought"}
    assert "wildfire authority" in text_of(stores, found["wildfire"])
    drought = found["drought"]
    assert (drought.subterm, drought.language, drought.document_id) == ("maps of", "en", record.document_id)
    assert drought.page == 1


def test_an_entry_that_only_refers_to_others_leads_to_no_passage(stores: Stores, embedder: CountingEmbedder) -> None:
    add_listed(stores, embedder, IndexedEntry("inundation", "", OWN_INDEX, see=("flood",)))
    [entry] = shown(stores).values()
    assert (entry.child_id, entry.page, entry.see) == ("", 0, ("flood",))


def test_a_place_longer_than_a_passage_leads_to_the_passage_that_it_begins_in(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    start = ARTICLES.index("wildfire authority")
    add_listed(stores, embedder, IndexedEntry("wildfire", "", OWN_INDEX, 1, start, start + 5000))
    assert "wildfire authority" in text_of(stores, shown(stores)["wildfire"])


def test_one_index_is_read_anew_and_the_others_stay(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_listed(stores, embedder, listed("wildfire"))
    change = stores.catalog.change()

    replace_index(stores.catalog, "terms.xlsx", {record.key: [listed("flood", "terms.xlsx")]})
    assert set(shown(stores)) == {"wildfire", "flood"}
    assert stores.catalog.change() > change
    assert index_sources(stores.catalog) == {OWN_INDEX: 1, "terms.xlsx": 1}

    replace_index(stores.catalog, "terms.xlsx", {})
    assert set(shown(stores)) == {"wildfire"}


def test_nothing_of_a_document_that_is_not_visible_yet_is_listed(stores: Stores, embedder: CountingEmbedder) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", [IndexRecord("flood", pages=(1,))])
    assert shown(stores) == {}
    indexer.flush()
    assert set(shown(stores)) == {"flood"}


def test_what_a_document_explains_itself_is_of_its_glossary_and_goes_with_its_index(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    records = [IndexRecord("flood", pages=(1,), definition="Water over land."), IndexRecord("wildfire", pages=(1,))]
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", records)
    indexer.finish()
    assert {term: one.glossary for term, one in shown(stores).items()} == {"flood": True, "wildfire": False}
    assert index_sources(stores.catalog) == {OWN_INDEX: 1, OWN_GLOSSARY: 1}
    again = make_document(stores, ARTICLES)
    assert entries_to_keep(stores.catalog, again) == ()


def test_a_document_without_a_passage_is_listed_nowhere(stores: Stores, embedder: CountingEmbedder) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    assert indexer.add(make_document(stores, "  "), "1", [IndexRecord("flood", pages=(1,))]) == 0
    indexer.finish()
    assert shown(stores) == {}


def test_a_document_cut_anew_is_listed_at_the_same_places(stores: Stores, embedder: CountingEmbedder) -> None:
    before = add_listed(stores, embedder, listed("flood"), IndexedEntry("floods", "", OWN_INDEX, see=("flood",)))
    places = stored_entries(stores.catalog, before.key)

    indexer = Indexer(stores, embedder, SMALLER)
    encode_again(stores, indexer, lambda *_: None)
    indexer.finish()

    [after] = stores.catalog.active_documents()
    assert after.children > before.children
    assert (after.strategy, bool(after.why)) == ("fixed", True)
    assert stored_entries(stores.catalog, after.key) == places
    assert left(stores) == len(places)
    assert "flood authority" in text_of(stores, shown(stores)["flood"])


def test_what_another_file_lists_stays_when_a_document_is_described_anew(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    record = add_listed(stores, embedder, listed("flood"))
    replace_index(stores.catalog, "terms.xlsx", {record.key: [listed("drought", "terms.xlsx")]})
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.redescribe(record, replace(record.metadata, title="Another title"), "2")
    indexer.finish()
    assert set(shown(stores)) == {"flood", "drought"}

    add(stores, embedder, make_document(stores, ARTICLES))
    assert set(shown(stores)) == {"drought"}


def test_nothing_is_listed_of_an_erased_document(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    record = add_listed(stores, embedder, listed("flood"))
    assert erase(stores, record).left_behind == ()
    assert left(stores) == 0


def test_what_was_listed_by_an_interrupted_addition_is_undone(stores: Stores, embedder: CountingEmbedder) -> None:
    Indexer(stores, embedder, ChunkingConfig()).add(
        make_document(stores, ARTICLES), "1", [IndexRecord("flood", pages=(1,))]
    )
    assert left(stores) == 1
    recover(stores)
    assert left(stores) == 0
