import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.quantities import calendar_dates, quantities


def values(text: str, language: str) -> list[set[float]]:
    return [set(one.values) for one in quantities(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("twenty-four members", "en", 24),
        ("two hundred and four pages", "en", 204),
        ("on the thirtieth day", "en", 30),
        ("cinquecentomila elettori", "it", 500_000),
        ("entro quarantotto ore", "it", 48),
        ("quatre-vingt-dix jours", "fr", 90),
        ("soixante et onze pages", "fr", 71),
        ("treinta y dos días", "es", 32),
        ("zehntausend Euro", "de", 10_000),
        ("vierundzwanzig Mitglieder", "de", 24),
        ("vinte e quatro horas", "pt", 24),
        ("cinquenta milhões de reais", "pt", 50_000_000),
        ("on beş gün", "tr", 15),
        ("onbeş gün", "tr", 15),
        ("yüzde beş", "tr", 5),
        ("USD 4 trillion", "en", 4e12),
        ("70,6 millones", "es", 70.6e6),
        ("üçte bir", "tr", 1 / 3),
    ],
)
def test_a_number_in_words_has_its_value(text: str, language: str, expected: float) -> None:
    (found,) = values(text, language)
    assert found == {expected}


@pytest.mark.parametrize("written", ["1,107", "1.107", "1 107", "1\u202f107", "1'107", "1107"])
def test_thousands_are_one_number_however_they_are_set_apart(written: str) -> None:
    (found,) = values(f"EUR {written} per student", "en")
    assert 1107 in found


@given(number=st.integers(2, 999_999_999), mark=st.sampled_from([",", ".", "\u00a0", "'"]))
def test_any_number_is_found_again_in_another_spelling(number: int, mark: str) -> None:
    grouped = f"{number:,}".replace(",", mark)
    (plain,), (other,) = values(f"of {number} in", "en"), values(f"von {grouped} in", "de")
    assert plain & other


@given(text=st.text(max_size=200), language=st.sampled_from(["en", "it", "fr", "es", "de", "pt", "tr", "xx"]))
def test_any_text_is_read_without_an_error(text: str, language: str) -> None:
    assert all(one.values for one in quantities(text, language))
    calendar_dates(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("N2O and CO2", "en"),
        ("section 12A", "en"),
        ("one of a kind", "en"),
        ("un solo caso", "it"),
        ("per cento", "it"),
        ("eine Stadt", "de"),
    ],
)
def test_what_states_no_number_gives_none(text: str, language: str) -> None:
    assert values(text, language) == []


def test_two_numbers_that_an_and_joins_stay_two() -> None:
    assert values("zehntausend und tausend Euro", "de") == [{10_000}, {1000}]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("14.11.2022", "de"),
        ("14/11/2022", "fr"),
        ("2022-11-14", "en"),
        ("14 November 2022", "en"),
        ("November 14, 2022", "en"),
        ("14 de noviembre de 2022", "es"),
        ("14. November 2022", "de"),
        ("14 novembre 2022", "it"),
        ("14 Kasım 2022", "tr"),
    ],
)
def test_a_date_is_the_same_in_every_language(text: str, language: str) -> None:
    (date,) = calendar_dates(f"({text})", language)
    assert (date.day, date.month, date.year) == (14, 11, 2022)


def test_a_date_agrees_with_one_that_gives_less_of_it_and_with_no_other() -> None:
    (whole,), (day,), (other,) = (calendar_dates(text, "en") for text in ("30 July 2022", "July 2022", "30 July 2024"))
    assert whole.agrees(day)
    assert not whole.agrees(other)
