"""Cross-references: they are read beside an article, and go with its document."""

import sqlalchemy as sql

from rag_engine.chunking.indexed_text import child_id
from rag_engine.config import ChunkingConfig
from rag_engine.storage import schema as tables
from rag_engine.storage.cross_references import placed_references, references
from rag_engine.storage.erase_document import erase
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.rebuild import encode_again
from rag_engine.storage.recovery import recover
from rag_engine.storage.stores import Stores
from rag_engine.types.document import DocumentRecord
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.storage.test_indexer import make_document

_RULES = {
    "Article 1\nDefinitions": "Dyke means a wall of earth that keeps the water of a river or of the sea from the land.",
    "Article 2\nMaps": "The authority publishes maps of every dyke as defined in Article 1, and reviews them yearly. "
    "What Article 1 leaves open is decided by the minister after hearing the districts along the river.",
    "Article 3\nFees": "The fees for the maps referred to in Articles 1 and 2 are set by the council of the district.",
    "Article 4\nEntry into force": "This act enters into force on the first day of the month after its publication.",
}
STATUTE = "Dyke Act\n\n" + "\n\n".join(f"{heading}\n\n{text * 3}" for heading, text in _RULES.items())
BY_SECTION = ChunkingConfig(strategy="section")


def add_statute(stores: Stores, embedder: CountingEmbedder) -> DocumentRecord:
    indexer = Indexer(stores, embedder, BY_SECTION)
    indexer.add(make_document(stores, STATUTE), "1")
    indexer.finish()
    return stores.catalog.active_documents()[-1]


def linked(stores: Stores, record: DocumentRecord) -> dict[str, list[str]]:
    """Sections that refer to others, each with those."""
    keys = {child.parent.key: child.parent.section for child in stores.catalog.document_children(record.key)}
    found = references(stores.catalog, keys)
    return {keys[key]: [parent.section for _, parent in those] for key, those in found.items()}


def left(stores: Stores) -> int:
    [(count,)] = stores.catalog.read(sql.select(sql.func.count()).select_from(tables.references))
    return int(count)


def test_an_article_brings_those_that_it_refers_to_each_once(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_statute(stores, embedder)
    assert record.strategy == "section"
    assert linked(stores, record) == {"Article 2": ["Article 1"], "Article 3": ["Article 1", "Article 2"]}


def test_each_of_several_articles_named_together_is_called_by_its_own_name(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    record = add_statute(stores, embedder)
    [key] = {
        child.parent.key
        for child in stores.catalog.document_children(record.key)
        if child.parent.section == "Article 3"
    }
    assert [label for label, _ in references(stores.catalog, [key])[key]] == ["Article 1", "Article 2"]


def test_a_passage_from_the_middle_of_an_article_knows_its_place(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_statute(stores, embedder)
    children = stores.catalog.document_children(record.key)
    parents = stores.catalog.parents(child.parent.key for child in children)
    for child in children:
        parent = parents[child.parent.key]
        assert (child.parent.section, child.parent.act, child.parent.headings) == (
            parent.section,
            parent.act,
            parent.headings,
        )
        assert parent.text == STATUTE[parent.start : parent.end]
    assert {child.parent.section for child in children} >= {f"Article {n}" for n in range(1, 5)}
    assert len({child_id(record.sha256, child.parent.index, child.index) for child in children}) == len(children)


def test_references_follow_a_document_that_is_cut_anew_and_leave_with_it(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    before = linked(stores, add_statute(stores, embedder))
    count = left(stores)

    indexer = Indexer(stores, embedder, BY_SECTION)
    encode_again(stores, indexer, lambda *_: None)
    indexer.finish()

    [record] = stores.catalog.active_documents()
    assert linked(stores, record) == before
    assert left(stores) == count > 0
    assert erase(stores, record).left_behind == ()
    assert left(stores) == 0


def test_references_of_an_interrupted_addition_are_undone(stores: Stores, embedder: CountingEmbedder) -> None:
    Indexer(stores, embedder, BY_SECTION).add(make_document(stores, STATUTE), "1")
    assert left(stores) > 0
    recover(stores)
    assert left(stores) == 0


def test_a_reference_is_placed_in_the_text_with_the_section_that_it_leads_to(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    record = add_statute(stores, embedder)
    first = placed_references(stores.catalog, record)[0]
    assert STATUTE[first.start : first.end] == first.label == "Article 1"
    assert STATUTE[first.target_start :].startswith("Article 1\nDefinitions")
    assert first.target_page == 1
