"""References of a text are links in its layout where their words tell which is meant."""

from __future__ import annotations

from rag_engine.storage.cross_references import PlacedReference
from rag_engine.types.document import Box
from rag_engine.viewer.layout_place import layout_links

TEXT = "See Article 2 and paragraph 1. By Article\n2 and by paragraph 1 of it."
LINES = [("See Article 2 and Article 25, as", Box(0, 0, 320, 10)), ("Article", Box(0, 20, 70, 30))]


def reference(words: str, nth: int, target: int) -> PlacedReference:
    start = -1
    for _ in range(nth):
        start = TEXT.index(words, start + 1)
    return PlacedReference(start, start + len(words), words, target, target + 5, 1)


def test_the_words_of_a_reference_are_a_link_where_they_stand() -> None:
    [(found, boxes)] = layout_links(LINES, TEXT, [reference("Article 2", 1, 50), reference("Article\n2", 1, 50)])
    assert found.target_start == 50
    assert boxes == [Box(40, 0, 130, 10)]


def test_words_that_lead_to_several_places_are_no_link() -> None:
    several = [reference("paragraph 1", 1, 50), reference("paragraph 1", 2, 60)]
    assert list(layout_links([("paragraph 1", Box(0, 0, 110, 10))], TEXT, several)) == []
