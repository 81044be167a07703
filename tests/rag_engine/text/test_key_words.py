"""Key words are known in every form of their language, and marked exactly where they stand."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_engine.text.analyzer import analyse, located_words
from rag_engine.text.words.key_words import find_key_words, holds_words, wanted_words


def marked(text: str, words: str, language: str = "en", of_query: str = "") -> list[str]:
    wanted = wanted_words(words, of_query or language, {language})
    return [text[start:end] for start, end in find_key_words(text, language, wanted)]


@pytest.mark.parametrize(
    ("language", "words", "text", "found"),
    [
        ("en", "flood plan", "Floods: the plans of flooded cities.", ["Floods", "plans", "flooded"]),
        ("it", "alluvione", "L'alluvione e le alluvioni.", ["L'alluvione", "alluvioni"]),
        ("fr", "canicule", "Le plan canicule, l’été des canicules.", ["canicule", "canicules"]),
        ("es", "inundación", "Las inundaciones de 2019.", ["inundaciones"]),
        ("de", "Hochwasser", "Das Hochwasserrisiko des Hochwassers.", ["Hochwasserrisiko", "Hochwassers"]),
        ("tr", "yangın", "Yangınlar ve yangına karşı.", ["Yangınlar", "yangına"]),
        ("pl", "Łódź", "W LODZ i w Łodzi.", ["LODZ", "Łodzi"]),
        ("en", "CO2", "CO₂ and CO2 emissions", ["CO₂", "CO2"]),
        ("en", "2021/1119", "Regulation 2021/1119 of 2021", ["2021/1119", "2021"]),
        ("de", "Hochwasser", "Das Hoch\u00adwasser kam.", ["Hoch\u00adwasser"]),
        ("ja", "洪水", "川の洪水です", ["洪水"]),
        ("en", "café", "The cafe\u0301 was closed.", ["cafe\u0301"]),
    ],
)
def test_a_word_is_marked_in_its_forms(language: str, words: str, text: str, found: list[str]) -> None:
    assert marked(text, words, language) == found


def test_a_short_stem_does_not_stand_for_longer_words() -> None:
    assert marked("Der See und die Seele.", "See", "de") == ["See"]


def test_a_phrase_is_marked_as_a_whole_and_in_this_order_alone() -> None:
    text = "Climate-neutrality is not neutrality of the climate, but climate\nneutrality."
    assert marked(text, "“climate neutrality”") == ["Climate-neutrality", "climate\nneutrality"]


def test_stop_words_of_the_query_are_not_asked_of_other_languages() -> None:
    wanted = wanted_words("the Kyoto Protocol", "en", {"en", "it"})
    assert [word.stems["it"][0] for word in wanted.words] == [("kyot",), ("protocol",)]


def test_a_query_of_stop_words_alone_wants_nothing() -> None:
    assert not wanted_words("to be or not to be", "en", {"en"})


@given(st.text(max_size=200))
def test_located_words_stand_where_they_say(text: str) -> None:
    places = list(located_words(text))
    assert all(0 <= start < end <= len(text) for start, end, _ in places)
    assert all(before[0] <= after[0] for before, after in pairwise(places))


@example("a.字", "en")
@given(st.text(alphabet="abc é’-./& \u00ad²ﬁŁ§1(),漢字", max_size=60), st.sampled_from(["en", "it", "de", "tr", ""]))
def test_every_word_of_a_text_is_marked_when_the_text_itself_is_sought(text: str, language: str) -> None:
    wanted = wanted_words(text.replace("“", ""), language, {language})
    marks = find_key_words(text, language, wanted)
    assert bool(marks) == bool(wanted)
    assert all(before[1] < after[0] for before, after in pairwise(marks))


def test_the_terms_of_the_index_hold_the_stems_that_are_wanted() -> None:
    text = "Hochwasserrisiken nach § 73 Abs. 5 und 1/CP.21"
    wanted = [word.stems["de"][0] for word in wanted_words(text, "de", {"de"}).words if word.stems]
    assert {stem for stems in wanted for stem in stems} <= set(analyse(text, "de"))


@pytest.mark.parametrize(
    ("language", "typed", "text"),
    [
        ("fr", "SECURITE", "la sécurité civile"),
        ("fr", "sécurité", "PLAN DE SECURITE CIVILE"),
        ("fr", "inondes", "les quartiers inondés"),
        ("pt", "evacuacao", "a evacuação"),
        ("pt", "evacuacoes", "uma evacuação"),
        ("pt", "EVACUACAO", "as evacuações"),
        ("es", "evacuacion", "las evacuaciones y la evacuación"),
        ("it", "siccita", "la siccità"),
        ("tr", "siginak", "Sığınak yapılır"),
        ("tr", "SIGINAK", "sığınak yapılır"),
        ("tr", "yangin", "yangınlar söndürülür"),
        ("de", "durre", "die Dürre"),
        ("en", "risk based", "a risk-based approach"),
        ("en", "risk-based", "this is risk based"),
        ("en", "10km", "a ring of 10 km"),
        ("pt", "art. 5", "Art. 5º O município"),
        ("pt", "“art. 5”", "Art. 5º O município"),
        ("pt", "Art. 5º", "o art. 5 da lei"),
        ("fr", "article 1", "Article 1er"),
        ("pt", "§ 1", "§ 1º O prazo"),
        ("en", "resilien*", "resiliency of roads"),
        ("en", "“early warn*”", "Early warnings"),
        ("es", "*inundaci*", "preinundación"),
    ],
)
def test_a_word_meets_its_other_spellings(language: str, typed: str, text: str) -> None:
    assert marked(text, typed, language)
    assert holds_words(text, language, wanted_words(typed, language, {language}))


@pytest.mark.parametrize(
    ("language", "typed", "text"),
    [
        ("pt", "art. 5", "Art. 50. O estado"),
        ("de", "Art. 5", "Art. 5a gilt."),
        ("de", "§ 5", "Es gilt Satz 5."),
        ("en", "WHO", "those who say"),
        ("en", "resilien*", "a silent town"),
        ("en", "flood -drought", "floods and droughts"),
        ("en", "flood (storm OR heat)", "flood plans"),
    ],
)
def test_other_words_are_not_met(language: str, typed: str, text: str) -> None:
    assert not holds_words(text, language, wanted_words(typed, language, {language}))
