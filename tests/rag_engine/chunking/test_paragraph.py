"""A paragraph chunk is a title with its text, over page breaks, and knows the titles above."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.chunking.paragraph import paragraph_chunks
from rag_engine.config import ChunkSizes
from rag_engine.types.document import Block
from rag_engine.types.passage import Parent
from tests.rag_engine.chunking.covering import CONFIGS, DEFAULT, SMALL, TEXTS, Piece, check, laid_out

BODY = "The plan sets out who does what when the river rises above its banks in the lower town. " * 3
KINDS = st.sampled_from(["heading", "text", "text", "table", "note"])
SIZES = st.sampled_from([None, 8.0, 10.0, 12.0, 16.0])
WORDS = st.one_of(
    st.sampled_from(["1 Floods", "1.1 Warning", "A. Roles", "Annex II", "Chapter 3", "•", "Terms ..... 4", BODY * 9]),
    TEXTS.map(str.strip).filter(bool),
)
LAYOUTS = st.lists(st.tuples(WORDS, KINDS, SIZES, st.integers(1, 3)), max_size=9)


def chunks(text: str, blocks: list[Block], title: str = "", config: ChunkSizes = DEFAULT) -> list[Parent]:
    return paragraph_chunks(text, "en", blocks=blocks, lines=(), title=title, config=config)


@given(LAYOUTS, CONFIGS)
def test_chunks_of_any_layout_cover_the_text(layout: list[Piece], config: ChunkSizes) -> None:
    text, blocks = laid_out(*layout)
    parents = chunks(text, blocks, config=config)
    check(text, parents, config)
    longest = config.parent_split * config.parent_size
    assert all(len(parent.text) <= longest + config.child_minimum for parent in parents)
    assert all(parent.depth == max(0, len(parent.headings) - 1) for parent in parents)
    for before, after in pairwise(parents):
        assert before.end <= after.start


@given(TEXTS, CONFIGS)
def test_chunks_of_a_text_without_layout_cover_it(text: str, config: ChunkSizes) -> None:
    check(text, chunks(text, [], config=config), config)


def test_a_title_and_its_text_are_one_parent_over_pages_and_notes() -> None:
    text, blocks = laid_out(
        ("Floods", "heading", 16.0, 1),
        ("Warning", "heading", 12.0, 1),
        (BODY, "text", 10.0, 1),
        ("1 See the annex.", "note", 8.0, 1),
        (BODY, "text", 10.0, 2),
        ("Rescue", "heading", 12.0, 2),
        (BODY, "text", 10.0, 2),
    )
    warning, rescue = chunks(text, blocks)
    assert warning.text == text[: text.index("Rescue")].strip()
    assert (warning.headings, warning.depth) == (("Floods", "Warning"), 1)
    assert (rescue.headings, rescue.depth) == (("Floods", "Rescue"), 1)


def test_a_short_passage_joins_what_follows_and_both_are_named_by_what_they_share() -> None:
    text, blocks = laid_out(
        ("Terms", "heading", 16.0, 1),
        ("Dyke", "heading", 12.0, 1),
        ("A wall of earth.", "text", 10.0, 1),
        ("Gauge", "heading", 12.0, 1),
        (BODY, "text", 10.0, 1),
    )
    (parent,) = chunks(text, blocks)
    assert parent.headings == ("Terms",)


def test_a_short_passage_at_the_end_of_a_chapter_stays_in_it() -> None:
    text, blocks = laid_out(
        ("Floods", "heading", 16.0, 1),
        ("Warning", "heading", 12.0, 1),
        (BODY, "text", 10.0, 1),
        ("Rescue", "heading", 12.0, 1),
        ("By boat.", "text", 10.0, 1),
        ("Fires", "heading", 16.0, 2),
        (BODY, "text", 10.0, 2),
    )
    floods, fires = chunks(text, blocks)
    assert floods.text.endswith("By boat.")
    assert floods.headings == ("Floods",)
    assert fires.headings == ("Fires",)


def test_a_list_of_contents_stays_apart_from_the_first_chapter() -> None:
    entries: list[Piece] = [(f"{n} Chapter on the rivers of the north", "heading", 12.0, 1) for n in range(1, 9)]
    text, blocks = laid_out(*entries, ("1 Chapter on dykes", "heading", 12.0, 2), (BODY, "text", 10.0, 2))
    contents, chapter = chunks(text, blocks)
    assert contents.headings == ()
    assert chapter.text.startswith("1 Chapter on dykes")
    assert chapter.headings == ("1 Chapter on dykes",)


def test_a_long_passage_is_cut_where_its_paragraphs_end_and_keeps_its_titles() -> None:
    paragraphs: list[Piece] = [(BODY.strip(), "text", 10.0, 1)] * 20
    text, blocks = laid_out(("Floods", "heading", 16.0, 1), *paragraphs)
    parents = chunks(text, blocks)
    assert len(parents) > 2
    assert all(parent.headings == ("Floods",) for parent in parents)
    assert all(parent.text.endswith("town.") and parent.text.startswith(("Floods", "The plan")) for parent in parents)


def test_a_title_stays_with_a_table_that_is_longer_than_a_parent() -> None:
    rows = "\n".join(f"Gauge {n} | 4.{n} metres | the mayor is told" for n in range(40))
    text, blocks = laid_out(("Gauges", "heading", 16.0, 1), (rows, "table", 10.0, 1))
    parents = chunks(text, blocks, config=SMALL)
    assert len(parents) > 2
    assert parents[0].text.startswith("Gauges\n\nGauge 0")


def test_without_titles_parents_are_filled_with_paragraphs() -> None:
    text = "\n\n".join([BODY.strip()] * 20)
    parents = chunks(text, [])
    assert [parent.headings for parent in parents] == [()] * len(parents)
    assert all(parent.text.endswith("town.") for parent in parents)
