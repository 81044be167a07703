"""Questions of several parts, taken apart by the rules of seven languages."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.config import DATA
from rag_engine.controller.sub_questions import MOST, named_labels, part_words, sub_questions
from rag_engine.geography import load_gazetteer
from rag_engine.text.languages import READ_LANGUAGES

LANGUAGES = ("en", "it", "fr", "es", "de", "pt", "tr")


def parts(question: str, language: str) -> list[str]:
    return list(sub_questions(question, language, load_gazetteer()))


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("en", "Who pays for them, and when do they open?", ["Who pays for them?", "When do they open?"]),
        ("it", "Chi paga i rifugi e quando si provano i piani?", ["Chi paga i rifugi?", "Quando si provano i piani?"]),
        ("fr", "Qui paie les abris et quand ouvrent-ils ?", ["Qui paie les abris ?", "Quand ouvrent-ils ?"]),
        ("es", "¿Quién paga los refugios y cuándo se prueban?", ["¿Quién paga los refugios?", "¿Cuándo se prueban?"]),
        ("de", "Wer zahlt dafür und bis wann ist es zu prüfen?", ["Wer zahlt dafür?", "Bis wann ist es zu prüfen?"]),
        ("pt", "Quem paga os abrigos e quando são testados?", ["Quem paga os abrigos?", "Quando são testados?"]),
        ("tr", "Bunları kim öder ve planlar ne zaman denenir?", ["Bunları kim öder?", "Planlar ne zaman denenir?"]),
    ],
)  # fmt: skip
def test_questions_that_follow_one_another_are_asked_apart(language: str, question: str, expected: list[str]) -> None:
    assert parts(question, language) == expected


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        pytest.param("en", "In the flood act, who gives the warning and what must operators do?",
                     ["In the flood act, who gives the warning?", "In the flood act, what must operators do?"],
                     id="what comes before the first asking word belongs to every part"),
        pytest.param("de", "Wie warnen Frankreich und Spanien vor Hitze?",
                     ["Wie warnen Frankreich vor Hitze?", "Wie warnen Spanien vor Hitze?"],
                     id="several countries are asked about one by one"),
        pytest.param("it", "In Italia e in Germania chi decide e chi paga?",
                     ["In Italia chi decide?", "In Germania chi decide?",
                      "In Italia chi paga?", "In Germania chi paga?"],
                     id="countries and parts are crossed"),
        pytest.param("en", "How many homes were flooded in 2007 and 2009?",
                     ["How many homes were flooded in 2007?", "How many homes were flooded in 2009?"],
                     id="several years are asked about one by one"),
        pytest.param("de", "Was sagen Artikel 35 des Grundgesetzes und § 12 des Zivilschutzgesetzes?",
                     ["Was sagen Artikel 35 des Grundgesetzes?", "Was sagen § 12 des Zivilschutzgesetzes?"],
                     id="sections of two acts stay with their act"),
        pytest.param("es", "¿Qué se decidió sobre bosques, sobre océanos y sobre la ciencia?",
                     ["¿Qué se decidió sobre bosques?", "¿Qué se decidió sobre océanos?",
                      "¿Qué se decidió sobre la ciencia?"],
                     id="a list whose items begin with the same preposition is taken apart"),
    ],
)  # fmt: skip
def test_a_question_of_several_parts_is_taken_apart(language: str, question: str, expected: list[str]) -> None:
    assert parts(question, language) == expected


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What do Articles 5, 8 and 11 of the treaty say?"),
        ("it", "Cosa prevedono gli articoli 5, 8 e 11 della legge?"),
        ("fr", "Que disent les articles 5, 8 et 11 de la loi ?"),
        ("es", "¿Qué establecen los artículos 5, 8 y 11 de la ley?"),
        ("de", "Was regeln die Artikel 5, 8 und 11 des Gesetzes?"),
        ("pt", "O que dizem os artigos 5, 8 e 11 da lei?"),
        ("tr", "Kanunun 5, 8 ve 11. maddeleri ne diyor?"),
    ],
)
def test_each_named_section_gets_a_question_that_names_it(language: str, question: str) -> None:
    labels = [named_labels(part, language) for part in parts(question, language)]
    assert labels == [("article 5",), ("article 8",), ("article 11",)]


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What are the duties of fire and rescue services?"),
        ("en", "What is the difference between the plan and the act?"),
        ("en", "Which plan, which was adopted in 2010, covers heat?"),
        ("fr", "Quelle est la distance entre la Terre et la Lune ?"),
        ("de", "Wie lange gilt ein Bescheid?"),
        ("tr", "Yangın güvenliğinden kim sorumludur?"),
        ("pl", "Kto płaci i kiedy?"),
        ("", "Who pays, and when?"),
    ],
)
def test_a_question_with_one_part_or_in_another_language_stays_as_it_is(language: str, question: str) -> None:
    assert parts(question, language) == [question]


@given(st.text(alphabet="abc ,;?und¿ and e y ve 12.§'Art", max_size=120), st.sampled_from(LANGUAGES))
def test_no_question_makes_more_parts_than_are_searched(question: str, language: str) -> None:
    assert 1 <= len(parts(question, language)) <= MOST


def test_every_language_that_is_read_has_its_words() -> None:
    table = tomllib.loads((DATA / "sub_questions.toml").read_text(encoding="utf-8"))
    assert set(table) == set(LANGUAGES) == set(READ_LANGUAGES)
    assert all(part_words(language) for language in LANGUAGES)
