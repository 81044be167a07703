"""References and index entries are the document's own: they come, move and go with it, and lead to its passages."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sql

from rag_engine import catalog as tables
from rag_engine.config import ChunkingConfig
from rag_engine.indexing import Indexer
from rag_engine.links import (
    Listed,
    Reference,
    anchors,
    anchors_of_children,
    insert_references,
    linked_passages,
    listed_places,
    read_anchor_terms,
    replace_anchors,
)
from rag_engine.rebuilding import encode_again
from rag_engine.removal import erase, recover
from rag_engine.stores import Stores
from rag_engine.types import DocumentRecord
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.test_indexing import HEAT, add, make_document

ARTICLES = "\n\n".join(
    f"Topic {n} of the plan.\n" + f"The {word} authority shall publish its {word} maps every year. " * 30
    for n, word in enumerate(["flood", "wildfire", "drought"], start=1)
)
SMALLER = ChunkingConfig(strategy="fixed", fixed_words=60, fixed_overlap=0)


def listed(term: str, source: str = "own", subterm: str = "") -> Listed:
    start = ARTICLES.index(f"{term} authority")
    return Listed(term, subterm, f"listed in the index under “{term}”", source, start, start + len(term))


def add_listed(stores: Stores, embedder: CountingEmbedder, *places: Listed) -> DocumentRecord:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", places)
    indexer.finish()
    return stores.catalog.active_documents()[-1]


def left(stores: Stores, table: sql.Table) -> int:
    [(count,)] = stores.catalog.read(sql.select(sql.func.count()).select_from(table))
    return int(count)


def test_a_listed_term_leads_to_the_passage_that_treats_it(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_listed(stores, embedder, listed("wildfire"), listed("drought", subterm="maps of"))

    terms = read_anchor_terms(stores.catalog)
    assert set(terms.terms) == {("wildfire", ""), ("drought", "maps of")}
    [anchor] = anchors(stores.catalog, terms.terms["wildfire", ""])
    assert anchor.entry == "listed in the index under “wildfire”"
    child = stores.catalog.children([anchor.child_key])[anchor.child_key]
    assert "wildfire authority" in child.text
    assert child.parent_key == anchor.parent_key
    assert anchors_of_children(stores.catalog, [child.key, 999]) == {child.key: (anchor,)}
    assert anchor.document_key == record.key


def test_a_place_longer_than_a_passage_leads_to_the_passage_that_it_begins_in(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    start = ARTICLES.index("wildfire authority")
    add_listed(stores, embedder, Listed("wildfire", "", "listed", "own", start, start + 5000))

    [key] = read_anchor_terms(stores.catalog).terms["wildfire", ""]
    [anchor] = anchors(stores.catalog, [key])
    child = stores.catalog.children([anchor.child_key])[anchor.child_key]
    assert child.parent_start + child.start <= start < child.parent_start + child.end


def test_the_terms_are_read_again_only_when_the_collection_has_changed(
    stores: Stores,
    embedder: CountingEmbedder,
) -> None:
    record = add_listed(stores, embedder, listed("wildfire"))
    first = read_anchor_terms(stores.catalog)
    assert read_anchor_terms(stores.catalog, first) is first

    replace_anchors(stores.catalog, record, "terms.xlsx", [listed("flood", "terms.xlsx")])
    second = read_anchor_terms(stores.catalog, first)
    assert set(second.terms) == {("wildfire", ""), ("flood", "")}

    replace_anchors(stores.catalog, record, "terms.xlsx", [])
    assert set(read_anchor_terms(stores.catalog, second).terms) == {("wildfire", "")}


def test_no_term_of_a_document_that_is_not_visible_yet_is_known(stores: Stores, embedder: CountingEmbedder) -> None:
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.add(make_document(stores, ARTICLES), "1", [listed("flood")])
    assert read_anchor_terms(stores.catalog).terms == {}
    indexer.flush()
    assert set(read_anchor_terms(stores.catalog).terms) == {("flood", "")}


def test_a_document_cut_anew_is_listed_at_the_same_places(stores: Stores, embedder: CountingEmbedder) -> None:
    before = add_listed(stores, embedder, listed("flood"), listed("drought"))
    places = listed_places(stores.catalog, before.key)

    indexer = Indexer(stores, embedder, SMALLER)
    encode_again(stores, indexer, lambda *_: None)
    indexer.finish()

    [after] = stores.catalog.active_documents()
    assert after.children > before.children
    assert (after.strategy, bool(after.why)) == ("fixed", True)
    assert listed_places(stores.catalog, after.key) == places
    assert left(stores, tables.anchors) == 2
    for terms in read_anchor_terms(stores.catalog).terms.values():
        for anchor in anchors(stores.catalog, terms):
            child = stores.catalog.children([anchor.child_key])[anchor.child_key]
            assert f"{anchor.term} authority" in child.text


def test_what_another_file_lists_stays_when_a_document_is_described_anew(
    stores: Stores,
    embedder: CountingEmbedder,
) -> None:
    record = add_listed(stores, embedder, listed("flood"))
    replace_anchors(stores.catalog, record, "terms.xlsx", [listed("drought", "terms.xlsx")])
    indexer = Indexer(stores, embedder, ChunkingConfig())
    indexer.redescribe(record, replace(record.metadata, title="Another title"), "2")
    indexer.finish()
    assert set(read_anchor_terms(stores.catalog).terms) == {("flood", ""), ("drought", "")}

    add_listed(stores, embedder, listed("wildfire"))
    assert set(read_anchor_terms(stores.catalog).terms) == {("wildfire", ""), ("drought", "")}


def test_a_passage_brings_what_it_refers_to_once(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_listed(stores, embedder)
    keys = sorted({child.parent_key for child in stores.catalog.document_children(record.key)})
    assert len(keys) > 1
    with stores.catalog.begin() as connection:
        found = [Reference(0, 1, 50, 59, "Article 2"), Reference(0, 1, 90, 99, "Article 2")]
        insert_references(connection, record.key, keys[0], found)

    passages = linked_passages(stores.catalog, dict.fromkeys(keys, record))

    assert list(passages) == [keys[0]]
    [linked] = passages[keys[0]]
    assert (linked.label, linked.document, linked.parent_index) == ("Article 2", record, 1)
    assert linked.text == ARTICLES[linked.start : linked.end]


def test_nothing_of_an_erased_document_leads_anywhere(stores: Stores, embedder: CountingEmbedder) -> None:
    add(stores, embedder, make_document(stores, HEAT, "/in/b.txt", "it"))
    record = add_listed(stores, embedder, listed("flood"))
    first = min(child.parent_key for child in stores.catalog.document_children(record.key))
    with stores.catalog.begin() as connection:
        insert_references(connection, record.key, first, [Reference(0, 1, 50, 59, "Article 2")])

    assert erase(stores, record).left_behind == ()

    assert left(stores, tables.anchors) == left(stores, tables.references) == 0


def test_what_was_listed_by_an_interrupted_addition_is_undone(stores: Stores, embedder: CountingEmbedder) -> None:
    Indexer(stores, embedder, ChunkingConfig()).add(make_document(stores, ARTICLES), "1", [listed("flood")])
    assert left(stores, tables.anchors) == 1
    recover(stores)
    assert left(stores, tables.anchors) == left(stores, tables.parents) == left(stores, tables.texts) == 0
