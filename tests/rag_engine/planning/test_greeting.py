"""A greeting is no question."""

import pytest

from rag_engine.planning.greeting import is_greeting


@pytest.mark.parametrize(
    "text",
    ["Hello!", "hi there", "Buongiorno", "Guten Tag", "¡Hola, buenos días!", "Obrigado", "Merhaba", "merci", "Danke"],
)
def test_greetings_and_thanks_are_known_in_each_language(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize(
    "text", ["floods", "Morgen", "day", "Hello, who pays for dykes?", "2019", "Tag des Bevölkerungsschutzes"]
)
def test_words_that_may_be_searched_are_no_greeting(text: str) -> None:
    assert not is_greeting(text)
