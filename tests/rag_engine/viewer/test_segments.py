"""The segments of a document cover it, as they are stored and as another strategy cuts them."""

from rag_engine.config import ChunkingConfig
from rag_engine.storage.stores import Stores
from rag_engine.viewer.segments import Segment, cut_document, segments_within, stored_segments
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.storage.test_cross_references import STATUTE, add_statute


def test_the_stored_segments_are_the_sections_that_are_searched(stores: Stores, embedder: CountingEmbedder) -> None:
    record = add_statute(stores, embedder)
    segments = stored_segments(stores.catalog.document_children(record.key))
    assert [one.section for one in segments if one.section] == ["Article 1", "Article 2", "Article 3", "Article 4"]
    assert len(segments) == record.parents
    assert sum(len(one.children) for one in segments) == record.children
    assert STATUTE[segments[-1].start :].startswith("Article 4")


def test_another_strategy_cuts_the_same_text_otherwise_and_loads_no_encoder(
    stores: Stores, embedder: CountingEmbedder
) -> None:
    record = add_statute(stores, embedder)

    def load() -> CountingEmbedder:
        raise AssertionError("fixed chunks need no encoder")

    segments = cut_document(stores.catalog, record, "fixed", load, ChunkingConfig())
    assert {one.section for one in segments} == {""}
    assert (segments[0].start, segments[-1].end) == (0, len(STATUTE))


def test_a_page_has_the_segments_that_share_characters_with_it() -> None:
    segments = [Segment(a, a + 10, "", (), ()) for a in (0, 10, 20)]
    assert segments_within(segments, (10, 20)) == (segments[1],)
    assert segments_within(segments, (9, 21)) == tuple(segments)
