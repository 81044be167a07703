import pytest

from rag_engine.answering.chances import share_sounding_alike

DECISION = "Establishes the Warsaw international mechanism for loss and damage, see decision 3/CP.18 of the GCF."


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("Varsavia", "it"),
        ("Warschau", "de"),
        ("Varşova'da", "tr"),
        ("mekanizma", "tr"),
        ("mécanisme", "fr"),
        ("GCF", "pt"),
        ("3/CP.18", "nl"),
    ],
)
def test_names_words_of_one_origin_and_numbers_are_shared_across_languages(word: str, language: str) -> None:
    assert share_sounding_alike(word, language, DECISION) == 1.0


@pytest.mark.parametrize("word", ["Genova", "Madrid", "mercato", "GCE", "4/CP.19"])
def test_other_words_names_and_numbers_are_not(word: str) -> None:
    assert share_sounding_alike(word, "it", DECISION) < 1.0


def test_the_share_is_of_the_words_that_say_something() -> None:
    assert share_sounding_alike("Quale meccanismo è del mercato?", "it", DECISION) == 0.5
    assert share_sounding_alike("Quale è?", "it", DECISION) == 0.0
