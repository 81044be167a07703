"""Kinds of answer that a question asks for, and texts that look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering.quotations.question_terms import Asked, asked_for, gives


@pytest.mark.parametrize(
    ("question", "language", "asked"),
    [
        ("By when must the EU be climate neutral?", "en", {"time"}),
        ("Hur många fall rapporterades i Finland?", "sv", {"figure"}),
        ("När ska EU vara klimatneutralt?", "sv", {"time"}),
        ("Yangın tüpleri ne sıklıkla kontrol edilir?", "tr", {"figure"}),
        ("Who inspects the dykes?", "en", set()),
        ("Kdy bude EU klimaticky neutrální?", "cs", set()),
    ],
)
def test_a_question_says_by_its_words_what_it_asks_for(question: str, language: str, asked: set[Asked]) -> None:
    assert asked_for(question, language) == asked


@pytest.mark.parametrize(
    ("asked", "text", "language", "given_"),
    [
        ("time", "Emissions are balanced within the Union at the latest by 2050.", "en", True),
        ("time", "The conclusions of 12 December were endorsed.", "en", True),
        ("time", "Das Amt dauert fünf Jahre.", "de", True),
        ("time", "The plan covers 7,106 cases.", "en", False),
        ("time", "Regulation (EU) 2018/1999 should be amended accordingly.", "en", False),
        ("figure", "Country: Finland; Total (n): 4,107", "en", True),
        ("figure", "46. At least three fourths of the members are a quorum.", "en", True),
        ("figure", "Cihazların yılda bir kez genel kontrolleri yapılır.", "tr", True),
        ("figure", "Cihazların kontrolü TS ISO 11602-2 standardına göre yapılır.", "tr", False),
        ("figure", "12. Pursuant to paragraph 73(b) and Article 6, the Party decides.", "en", False),
        ("definition", "“Party” means a Party to this Agreement.", "en", True),
        ("definition", "The Party decides.", "en", False),
    ],
)
def test_a_number_that_only_names_a_text_is_neither_a_figure_nor_a_time(
    asked: Asked, text: str, language: str, given_: bool
) -> None:
    assert gives(frozenset({asked}), text, language, listed=False) == given_


@given(st.text(), st.sampled_from(["en", "tr", "cs", ""]))
def test_any_text_can_be_read_and_nothing_is_given_where_nothing_is_asked(text: str, language: str) -> None:
    assert not gives(frozenset(), text, language, listed=True)
    assert gives(frozenset({"figure", "time"}), text, language, listed=False) in (True, False)
