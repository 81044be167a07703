"""Words and places of a question, and what texts say of them."""

import pytest

from rag_engine.answering.quotations.question_terms import asks_for_several, forms_in, shares_said, terms_of
from rag_engine.geography import load_gazetteer

GAZETTEER = load_gazetteer()


@pytest.mark.parametrize(
    ("question", "asked_in", "text", "language"),
    [
        ("Who elects the board?", "en", "The assembly shall elect its boards.", "en"),
        ("Wer prüft in Finnland?", "de", "Finland inspects and prüft.", "en"),
        ("What does the EU check?", "en", "L’Union européenne check what does.", "fr"),
    ],
)
def test_a_word_is_said_in_another_form_and_a_place_in_another_language(
    question: str, asked_in: str, text: str, language: str
) -> None:
    said = forms_in(text, language, GAZETTEER)
    terms = terms_of(question, asked_in, GAZETTEER)
    content = [term for term in terms if term.isdisjoint({"who", "wer", "the", "what", "does"})]
    assert len(content) >= 2
    assert not [term for term in content if term.isdisjoint(said)]


def test_a_place_is_one_term_however_many_words_it_has() -> None:
    assert len(terms_of("New Zealand", "en", GAZETTEER)) == 1


def test_a_term_that_few_texts_say_counts_for_more() -> None:
    texts = [forms_in(text, "en", GAZETTEER) for text in ("cases in Finland", "cases in Norway", "cases abroad")]
    shares = shares_said(terms_of("cases in Finland", "en", GAZETTEER), texts, [3, 3, 2])
    assert shares[0] > 2 * max(shares[1:])


def test_a_question_without_words_shares_nothing() -> None:
    assert shares_said((), [frozenset({"dyke"})], [1]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("question", "language", "several"),
    [
        ("Which measures does the plan name?", "en", True),
        ("Who inspects the dykes?", "en", False),
        ("Welche Gemeinden stellen Pläne auf?", "de", True),
        ("Yöneticinin görevleri nelerdir?", "tr", True),
        ("Které obce mají plán?", "cs", False),
    ],
)
def test_a_question_asks_for_several_things_by_its_words(question: str, language: str, several: bool) -> None:
    assert asks_for_several(question, language) == several
