"""Records of an index to the passages of a text, and the query cache made of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.book_index.anchors import (
    Anchor,
    CachedQuery,
    IndexRecord,
    anchors,
    query_cache,
    to_metadata_json,
)
from rag_engine.types.document import Block, ExtractedText, Line
from rag_engine.types.passage import Child, Parent

PAGES = [
    "Preface. This report is short.",
    "Climate impacts grow. Loss and damage is the subject of this part. Finance is provided for it by funds. "
    "The funds are new. Nobody knows their size.",
    "The change of climate is measured here. Coral reefs suffer first. Risk-based plans help.",
    "The commit-\ntee met. Its sizes vary. LOSS AND DAMAGE is printed large. § 5 applies.",
]


def extracted_of(pages: list[str]) -> ExtractedText:
    text = "\n\n".join(pages)
    lines, position = [], 0
    for number, page in enumerate(pages, 1):
        for piece in page.split("\n"):
            lines.append(Line(position, position + len(piece), number, None))
            position += len(piece) + 1
        position += 1
    return ExtractedText(text, len(pages), tuple(lines), (Block(0, len(text), 1, "text"),), "application/pdf")


def parents_of(text: str) -> list[Parent]:
    """Each page a parent with overlapping children of 60 characters."""
    parents, position = [], 0
    for index, page in enumerate(text.split("\n\n")):
        starts = range(0, max(1, len(page) - 20), 40)
        children = tuple(Child(n, a, min(len(page), a + 60), page[a : a + 60]) for n, a in enumerate(starts))
        parents.append(Parent(index, position, position + len(page), page, children))
        position += len(page) + 2
    return parents


BOOK = extracted_of(PAGES)
PARENTS = parents_of(BOOK.text)


def anchor_of(term: str, page: int, subterm: str = "") -> Anchor:
    (found,) = anchors([IndexRecord(term, subterm, (page,))], BOOK, PARENTS, "en")
    return found


def context(anchor: Anchor) -> str:
    return BOOK.text[anchor.start : anchor.end]


def test_the_context_is_the_sentence_that_names_the_term_and_the_next_two() -> None:
    anchor = anchor_of("loss and damage", 2)
    assert anchor.found
    assert context(anchor) == (
        "Loss and damage is the subject of this part. Finance is provided for it by funds. The funds are new."
    )


def test_the_child_of_an_anchor_holds_the_term() -> None:
    parent, child = anchor_of("loss and damage", 2).child
    assert "Loss and damage" in PARENTS[parent].children[child].text


@pytest.mark.parametrize(
    ("term", "page"),
    [
        ("climate, change of", 3), ("coral reef", 3), ("risk based plan", 3), ("committees", 4), ("Loss and damage", 4),
        ("§ 5", 4), ("size", 4), ("reefs, coral", 3),
    ],
)  # fmt: skip
def test_a_term_is_found_in_other_forms(term: str, page: int) -> None:
    assert anchor_of(term, page).found


def test_a_sub_entry_is_sought_with_its_head_before_the_head_alone() -> None:
    assert context(anchor_of("climate", 3, "change of")).startswith("The change of climate")
    assert anchor_of("loss and damage", 2, "history of").found


def test_a_page_that_does_not_name_the_term_is_anchored_at_its_beginning_and_says_so() -> None:
    anchor = anchor_of("earthquakes", 3)
    assert not anchor.found
    assert anchor.child == (2, 0)
    assert context(anchor) == PARENTS[2].children[0].text


def test_a_record_has_an_anchor_on_each_of_its_pages_and_none_where_there_is_no_text() -> None:
    found = anchors([IndexRecord("loss and damage", pages=(2, 4, 9))], BOOK, PARENTS, "en")
    assert [anchor.page for anchor in found] == [2, 4]


@given(
    st.lists(st.sampled_from(["flood", "drought", "plan", "the", "of", "cities.", "Heat", "§"]), max_size=30),
    st.text(max_size=20),
)
def test_anchors_always_lie_in_the_text_and_in_a_child(words: list[str], term: str) -> None:
    book = extracted_of(["First page here.", " ".join(words) or "x"])
    parents = parents_of(book.text)
    for anchor in anchors(
        [IndexRecord(term, pages=(1, 2)), IndexRecord("flood", "plan of", (2,))], book, parents, "en"
    ):
        assert 0 <= anchor.start < anchor.end <= len(book.text)
        parents[anchor.child[0]].children[anchor.child[1]]


def test_the_query_cache_is_written_with_all_of_its_fields() -> None:
    found = anchors([IndexRecord("loss and damage", "finance for", (2,))], BOOK, PARENTS, "en")
    cache = query_cache(found, BOOK, "book.pdf")
    assert cache[0].file == "book.pdf"
    assert cache[0].context.startswith("Finance is provided for it")
    assert [CachedQuery(**one) for one in json.loads(to_metadata_json(cache))] == cache


def test_an_empty_cache_is_one() -> None:
    assert json.loads(to_metadata_json([])) == []
    assert to_metadata_json([CachedQuery("a", "", "f.pdf", 1, "é", True)]).count("é") == 1
