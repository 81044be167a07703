"""A place in a document has an address, and an address that cannot be read names no place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.viewer.address import DocumentPlace, read_address

_PASSAGES = st.tuples(st.integers(0, 1000), st.integers(1, 1000)).map(lambda one: (one[0], one[0] + one[1]))


@given(st.text("0123456789abcdef", min_size=12, max_size=12), st.integers(0, 9999), st.none() | _PASSAGES)
def test_a_place_is_read_back_from_its_address(document_id: str, page: int, passage: tuple[int, int] | None) -> None:
    place = DocumentPlace(document_id, page, passage)
    assert read_address(place.parameters()) == place


@pytest.mark.parametrize("page", ["", "-1", "x", "1.5", "9" * 40, "٣"])
def test_a_page_that_is_no_number_is_not_named(page: str) -> None:
    assert read_address({"document": "a", "page": page}).page == 0


@pytest.mark.parametrize("passage", ["", "5", "9-5", "5-5", "-3-5", "a-b", f"1-{'9' * 40}"])
def test_a_passage_that_is_no_span_is_not_named(passage: str) -> None:
    assert read_address({"document": "a", "passage": passage}).passage is None


@given(st.dictionaries(st.sampled_from(["document", "page", "passage"]), st.text("0123456789-٣x ", max_size=20)))
def test_every_address_can_be_read(parameters: dict[str, str]) -> None:
    place = read_address(parameters)
    assert place.page >= 0
    assert place.passage is None or place.passage[0] < place.passage[1]
