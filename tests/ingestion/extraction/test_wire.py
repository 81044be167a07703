from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.extraction.wire import decode, encode, from_json, to_json
from rag_engine.types.document import Block, Box, ExtractedText, Line

edges = st.floats(allow_nan=False)
places = st.integers(0, 2**31 - 1)
lines = st.builds(Line, places, places, places, st.none() | st.builds(Box, edges, edges, edges, edges))
pages = st.lists(st.integers(1), max_size=3).map(tuple)
extracted = st.builds(
    ExtractedText,
    lines=st.lists(lines, max_size=3).map(tuple),
    blocks=st.lists(st.builds(Block, font_size=st.none() | edges), max_size=3).map(tuple),
    ocr_pages=pages,
    unread_pages=pages,
    warnings=st.lists(st.text(), max_size=2).map(tuple),
)


@settings(max_examples=50)
@given(extracted)
def test_a_text_survives_the_connection(text: ExtractedText) -> None:
    assert from_json(decode(encode(to_json(text)))) == text


@pytest.mark.parametrize("damage", [{"starts": "AAAA"}, {"ends": ""}, {"edges": "AAAAAAAA8D8="}, {"edges": [1, 2]}])
def test_a_message_that_lost_something_is_no_text(damage: dict[str, object]) -> None:
    sent = to_json(ExtractedText("a", 1, (Line(0, 1, 1, None), Line(0, 1, 1, None)), (), "text/plain", ""))
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_json(sent | damage)
