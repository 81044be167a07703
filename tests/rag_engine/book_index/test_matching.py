"""Which entries of an index a question names."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.book_index.matching import IndexedPassage, IndexTerms


def entry(
    term: str, subterm: str = "", page: int = 1, see: tuple[str, ...] = (), language: str = "en"
) -> IndexedPassage:
    return IndexedPassage(term, subterm, language, "abc", f"abc_p{page}_c0" if page else "", page, see)


ENGLISH = IndexTerms(
    [
        entry("loss and damage", page=3),
        entry("loss and damage", page=9),
        entry("loss and damage", "finance for", page=4),
        entry("loss and damage", "history of", page=5),
        entry("climate, change of", page=6),
        entry("global warming", page=0, see=("climate, change of",)),
        entry("adaptation", page=7, see=("loss and damage, finance for",)),
        entry("damage", page=8),
        entry("a", page=2),
        entry("§", page=2),
        entry("of", page=2),
        entry("flood", "maps", page=10),
        entry("flood", "insurance", page=11),
        entry("\\and", page=12),
    ]
)


def named(question: str, terms: IndexTerms = ENGLISH, language: str = "en") -> list[str]:
    return [f"{one.term}, {one.subterm}".rstrip(", ") for one in terms.match(question, language)]


def test_a_named_term_leads_to_all_its_passages_and_says_where_it_is_listed() -> None:
    (matched,) = ENGLISH.match("What is loss and damage?", "en")
    assert matched.listing(9).explain("page 9") == "listed in the index under “loss and damage”, page 9"
    assert matched.pages == (("abc", 3), ("abc", 9))
    assert matched.children == ("abc_p3_c0", "abc_p9_c0")


def test_a_sub_entry_is_named_by_its_own_words_beside_those_of_its_head() -> None:
    assert named("How is finance provided for loss and damage?")[0] == "loss and damage, finance for"
    assert ENGLISH.match("finance for losses and damages", "en")[0].listing(4).explain("page 4") == (
        "listed in the index under “loss and damage, finance for”, page 4"
    )


def test_a_name_inside_a_longer_one_does_not_count() -> None:
    assert "damage" not in named("What is loss and damage?")


@pytest.mark.parametrize("question", ["LOSS AND DAMAGE", "losses and damages", "loss-and-damage", "the loss & damage"])
def test_case_number_and_hyphens_make_no_difference(question: str) -> None:
    assert "loss and damage" in named(question)


def test_a_turned_entry_is_found_as_it_is_spoken() -> None:
    assert named("change of climate") == ["climate, change of"]


def test_a_reference_is_followed_and_says_from_where() -> None:
    (matched,) = ENGLISH.match("Why global warming?", "en")
    assert matched.listing(6).explain("page 6") == (
        "listed in the index under “climate, change of”, page 6, to which “global warming” refers"
    )
    assert named("adaptation") == ["adaptation", "loss and damage, finance for"]


def test_references_that_lead_back_end() -> None:
    round_about = IndexTerms([entry("heat", page=0, see=("drought",)), entry("drought", page=0, see=("heat",))])
    assert round_about.match("heat", "en") == []


def test_a_head_without_pages_of_its_own_leads_to_what_stands_under_it() -> None:
    assert named("What is a flood?") == ["flood, insurance", "flood, maps"]
    assert named("Where are flood maps?") == ["flood, maps"]


@pytest.mark.parametrize("question", ["What is a plan of the § and?", "Of a", "and", "", "?!", "x y z"])
def test_stop_words_signs_and_single_letters_name_nothing(question: str) -> None:
    assert named(question) == []


def test_a_command_is_named_only_as_it_is_written() -> None:
    assert named("what does \\and do") == ["\\and"]


def test_an_index_in_another_language_is_asked_only_for_shared_names() -> None:
    german = IndexTerms(
        [entry("Kyoto-Protokoll", language="de"), entry("die", language="de"), entry("Gift", language="de")]
    )
    assert named("Was sagt das Kyoto-Protokoll?", german, "de") == ["Kyoto-Protokoll"]
    assert named("the Kyoto Protokoll", german, "en") == ["Kyoto-Protokoll"]
    assert named("Who died?", german, "en") == []


def test_accents_and_inflection_follow_the_language_of_the_index() -> None:
    italian = IndexTerms([entry("alluvione", language="it"), entry("città", "adattamento delle", language="it")])
    assert named("Cosa fare durante le alluvioni?", italian, "it") == ["alluvione"]
    assert named("adattamento della citta", italian, "it") == ["città, adattamento delle"]


@given(st.text(max_size=80))
def test_any_question_can_be_asked(question: str) -> None:
    for matched in ENGLISH.match(question, "en"):
        assert matched.pages


def test_ten_thousand_terms_are_asked_in_a_moment() -> None:
    many = IndexTerms(entry(f"measure{i} programme{i % 97}", page=1 + i % 300) for i in range(10_000))
    question = "How does measure4711 programme55 change the plans of cities for floods and droughts in the next decade?"
    many.match(question, "en")
    start = time.process_time()
    for _ in range(20):
        assert len(many.match(question, "en")) == 1
    assert (time.process_time() - start) / 20 < 0.02


def test_a_listing_is_of_the_glossary_only_where_no_index_has_that_page() -> None:
    explained = IndexedPassage("flood", "", "en", "abc", "abc_p9_c0", 9, glossary=True)
    [found] = IndexTerms([entry("flood", page=3), explained]).match("What is a flood?", "en")
    assert found.listing(9).explain("page 9") == "explained in the glossary under “flood”, page 9"
    assert found.listing(3).explain("page 3") == "listed in the index under “flood”, page 3"
