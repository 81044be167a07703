"""One number is one number, however a language groups its digits."""

import pytest

from rag_engine.text.words.key_words import holds_words, wanted_words

WRITTEN = ["10000", "10 000", "10\u202f000", "10,000", "10.000", "10'000", "10’000", "١٠٠٠٠", "١٠٬٠٠٠"]


def holds(text: str, words: str, language: str = "en") -> bool:
    return holds_words(text, language, wanted_words(words, "", {language}))


@pytest.mark.parametrize("typed", WRITTEN)
@pytest.mark.parametrize("printed", WRITTEN)
@pytest.mark.parametrize("language", ["en", "de", "fr", "tr", "ar"])
def test_ten_thousand_is_found_in_each_spelling(typed: str, printed: str, language: str) -> None:
    assert holds(f"x {printed} x", typed, language)
    assert holds(f"x {printed} houses x", f"“{typed} houses”", language)


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "The wall is 1.500 m thick.", False),
        ("en", "They pay 1,500 pounds.", True),
        ("de", "Die Mauer ist 1,500 m dick.", False),
        ("de", "Sie zahlen 1.500 Euro.", True),
        ("es", "Pagan 1,500 pesos.", True),
        ("en", "About 211 500 houses.", False),
        ("en", "About 1 500 250 houses.", False),
        ("en", "About 1,500.50 pounds.", False),
        ("en", "Between 1,500-2,500 pounds.", True),
        ("en", "Regulation 1500/2021", True),
    ],
)
def test_a_number_is_read_in_the_language_of_the_text(language: str, text: str, *, found: bool) -> None:
    assert holds(text, "1500", language) == found


def test_decimals_belong_to_the_number() -> None:
    assert holds("They pay 1.500,50 Euro.", "1,500.50", "de")
    assert not holds("They pay 1.500,50 Euro.", "1,500.60", "de")
