from __future__ import annotations

import pytest

from ingestion.extraction.layout.text_layer_check import is_scrambled

PROSE = {
    "en": "The Parties shall report to the secretariat on the measures that they have taken and on those still open. ",
    "it": "La protezione civile informa la popolazione sui rischi e sulle misure che devono essere prese in casa. ",
    "de": "Die Behörde kann die Entnahme von Wasser untersagen, wenn der Pegel unter die Marke fällt. ",
    "tr": "Belediye ormana girişi yasaklar ve bunu herkes için ilan eder, ama bu yasak çok kısa gibi görünür. ",
}


@pytest.mark.parametrize("language", PROSE)
def test_prose_is_legible(language: str) -> None:
    assert not is_scrambled(PROSE[language] * 10)


def test_letters_that_a_font_has_exchanged_are_scrambled() -> None:
    exchanged = {ord(c): chr((ord(c) - 97 + 13) % 26 + 97) for c in "abcdefghijklmnopqrstuvwxyz"}
    assert is_scrambled((PROSE["en"] * 10).translate(exchanged))


def test_one_short_word_met_by_chance_again_and_again_does_not_make_text_legible() -> None:
    assert is_scrambled("àrpétüvôr och rsrhpr qhåvô och phyàr és vütâéàç " * 30)


def test_a_list_of_names_is_too_short_and_another_script_is_not_judged() -> None:
    assert not is_scrambled("Adana Ankara Bursa Edirne Konya")
    assert not is_scrambled("Η αρχή δημοσιεύει χάρτες κινδύνου πλημμύρας κάθε χρόνο " * 20)
