"""A search is in its address, and the address in the search."""

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.filters import FACETS
from rag_engine.passage_search.passage_query import SORT_ORDERS, PassageQuery, read_query

_TEXT = st.text(min_size=1, max_size=20)


@given(
    words=st.lists(st.text(alphabet="abcé?&=+“”", min_size=1, max_size=8), max_size=4).map(" ".join),
    wanted=st.dictionaries(st.sampled_from(FACETS), st.lists(_TEXT, min_size=1, max_size=3, unique=True).map(tuple)),
    sort=st.sampled_from(SORT_ORDERS),
    words_only=st.none() | st.booleans(),
    anywhere=st.booleans(),
)
def test_a_link_reproduces_the_search(
    words: str, wanted: dict[str, tuple[str, ...]], sort: str, words_only: bool | None, *, anywhere: bool
) -> None:
    query = PassageQuery(words, wanted, sort, words_only, anywhere=anywhere)  # type: ignore[arg-type]
    assert read_query(query.parameters()) == query


def test_what_an_address_has_besides_counts_as_not_named() -> None:
    address = {"words": ["  flood   plan "], "sort": ["colour"], "colour": ["red"], "country": ["", "Italy"]}
    address["as_of"] = ["yesterday"]
    assert read_query(address) == PassageQuery("flood plan", {"country": ("Italy",)})


def test_the_usual_is_left_out_of_the_address() -> None:
    assert PassageQuery().parameters() == {}
    assert PassageQuery("flood").parameters() == {"words": ["flood"]}


def test_a_value_is_chosen_and_left_out_again() -> None:
    chosen = PassageQuery("flood").toggled("country", "Italy").toggled("country", "Spain")
    assert chosen.wanted == {"country": ("Italy", "Spain")}
    assert chosen.toggled("country", "Italy").toggled("country", "Spain").wanted == {}
    assert chosen.without("country") == PassageQuery("flood")


def test_a_phrase_alone_leaves_out_what_is_near_in_meaning() -> None:
    assert PassageQuery("“sea walls”").by_words
    assert not PassageQuery("sea walls").by_words
    assert not PassageQuery("sea -“sea walls”").by_words
    assert not PassageQuery("“sea walls”", words_only=False).by_words
