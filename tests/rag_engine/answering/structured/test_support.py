"""Support by a passage: words, numbers, names, and what it states of a yes or no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering.structured.statements import unknown_names, unknown_numbers, unsupported
from rag_engine.text.claims import stated_values

PASSAGE = (
    "Under section 12A, residents within 300 metres of the dyke leave their homes when the gauge at Milltown passes "
    "4.5 metres. The fine is 1,000 euro. The mayor orders the evacuation and the DRR service carries it out. "
    "Visitors must not enter the levee."
)


@pytest.mark.parametrize(
    "value",
    [
        "residents leave their homes within 300 metres of the dyke",
        "The fine is 1000 euro",
        "section 12A",
        "Mayor ordered the evacuation",
        "DRR service",
        "gauge at Milltown passes 4,5 metres",
        "visitors must not enter the levee",
    ],
)
def test_what_a_passage_says_is_supported_in_its_other_forms(value: str) -> None:
    assert unsupported(value, PASSAGE, "en") == ""


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ("residents within 400 metres", "no number 400"),
        ("section 12", "no number 12"),
        ("the fine is 1.5 euro", "no number 1.5"),
        ("the gauge at Dublin", "not name Dublin"),
        ("the WHO orders the evacuation", "not name WHO"),
        ("the mayor must not order the evacuation", "not deny"),
        ("schools close and pupils stay at home", "words are others"),
    ],
)
def test_another_number_name_word_or_a_denial_is_not_supported(value: str, missing: str) -> None:
    assert missing in unsupported(value, PASSAGE, "en")


@given(st.integers(0, 10**9), st.sampled_from([",", ".", "’", " ", "\u202f"]))
def test_thousands_are_one_number_however_they_are_marked(number: int, mark: str) -> None:
    written = f"{number:,}".replace(",", mark)
    assert unknown_numbers(str(number), f"a fine of {written} euro") == ""
    assert unknown_numbers(str(number + 1), f"a fine of {written} euro") == str(number + 1)


@pytest.mark.parametrize(
    ("number", "passage"),
    [("300", "In 2019 300 residents left."), ("1000.50", "a fine of 1.000,50 euro"), ("2021", "Regulation 2021/1119")],
)
def test_numbers_beside_each_other_stay_apart(number: str, passage: str) -> None:
    assert unknown_numbers(number, passage) == ""


@pytest.mark.parametrize(
    ("value", "passage", "language"),
    [("3 members", "It has three members.", "en"), ("48 ore", "entro quarantotto ore", "it")],
)
def test_a_number_is_the_same_in_words(value: str, passage: str, language: str) -> None:
    assert unknown_numbers(value, passage, language) == ""


def test_a_genitive_is_the_same_name_and_a_longer_name_another() -> None:
    assert unknown_names("plan of Milltown", "Milltown's plan", "en") == ""
    assert unknown_names("plan of Mill", "Milltown's plan", "en") == "Mill"


def test_german_nouns_are_no_names_and_german_acronyms_are() -> None:
    assert unknown_names("Die Behörde untersagt die Bewässerung", "Bewässerungen untersagt die Behörde", "de") == ""
    assert unknown_names("die Daten des DWD", "die Daten des Landes", "de") == "DWD"


@pytest.mark.parametrize(
    ("passage", "values"),
    [
        ("Every offence under this Act is cognizable and bailable.", {True}),
        ("It shall be cognizable and non-bailable.", {False}),
        ("The offence shall not be bailable.", {False}),
        ("The offence is nonbailable.", {False}),
        ("It is neither cognizable nor bailable.", {False}),
        ("It is non-cognizable and bailable.", {True}),
        ("First offences are bailable, second ones are non-bailable.", {True, False}),
        ("The court may release the accused on bail.", set()),
        ("Offence: Theft; Bailable: No; Fine: 300", {False}),
        ("Offence: Theft; Bailable: Yes; Fine: 300", {True}),
        ("Unavailable records are kept.", set()),
        ("This offence isn't bailable.", {False}),
    ],
)
def test_a_yes_or_no_is_stated_where_the_passage_has_its_word(passage: str, values: set[bool]) -> None:
    assert stated_values("bailable", passage) == values


def test_an_attribute_of_several_words_is_found_however_they_are_joined() -> None:
    assert stated_values("legally_binding", "The plan is legally binding.") == {True}
    assert stated_values("legally_binding", "The plan is not legally-binding.") == {False}
    assert stated_values("legally_binding", "The plan is binding.") == set()


@pytest.mark.parametrize(
    ("attribute", "passage"),
    [
        ("verbindlich", "Der Plan ist nicht verbindlich."),
        ("obligatoire", "Le plan n’est pas obligatoire."),
        ("obbligatorio", "Il piano non è obbligatorio."),
        ("obligatorio", "El plan no es obligatorio."),
        ("obrigatório", "O plano não é obrigatório."),
        ("zorunlu", "Plan zorunlu değildir."),
    ],
)
def test_a_denial_is_seen_in_every_language(attribute: str, passage: str) -> None:
    assert stated_values(attribute, passage) == {False}
