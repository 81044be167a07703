from __future__ import annotations

import string

import pytest

from ingestion.extraction.layout.text_layer_check import is_scrambled

PROSE = {
    "en": "The Parties shall report to the secretariat on the measures that they have taken and on those still open. ",
    "it": "La protezione civile informa la popolazione sui rischi e sulle misure che devono essere prese in casa. ",
    "de": "Die Behörde kann die Entnahme von Wasser untersagen, wenn der Pegel unter die Marke fällt. ",
    "tr": "Belediye ormana girişi yasaklar ve bunu herkes için ilan eder, ama bu yasak çok kısa gibi görünür. ",
    # Neither its function words nor its pairs of letters are listed.
    "so": "Waxaa loo baahan yahay in dadka laga digo daadadka iyo abaarta ka hor inta aysan imaan xilliga roobka. ",
}
PLACES = "Adana Ankara Bursa Edirne Konya Groningen Utrecht Zwolle Potosí Oruro Pando Tarija Kraków Gdynia Radom"
REFERENCES = "FCCC/SBI/2010/27 UNEP/CBD/COP/DEC/X/2 A/RES/64/236 Brown RM, Nguyen TT, Kowalczyk ZW. Am J Epidemiol 2004"


def _by_glyph_numbers(text: str) -> str:
    """Return a text as a font without names shows it: numbers of its glyphs, the blank among the controls."""
    return "".join(chr(ord(letter) - 29) for letter in text if ord(letter) - 29 >= 32)


def _exchanged(text: str, by: int) -> str:
    small = string.ascii_lowercase
    return text.translate(
        str.maketrans(small + small.upper(), (small[by:] + small[:by]) + (small[by:] + small[:by]).upper())
    )


@pytest.mark.parametrize("language", PROSE)
def test_prose_is_legible(language: str) -> None:
    assert not is_scrambled([PROSE[language]] * 10)


@pytest.mark.parametrize("by", [1, 3, 13, 23])
@pytest.mark.parametrize("language", ["en", "it", "de"])
def test_letters_that_a_font_has_exchanged_are_scrambled(language: str, by: int) -> None:
    assert is_scrambled([_exchanged(PROSE[language], by)] * 10)


@pytest.mark.parametrize("language", PROSE)
def test_numbers_of_glyphs_are_scrambled_on_a_page_of_a_few_lines(language: str) -> None:
    assert is_scrambled([_by_glyph_numbers(PROSE[language])] * 3)


def test_a_page_with_one_font_of_two_in_order_is_scrambled() -> None:
    heading = "Decision of the Conference of the Parties on capacity-building in developing countries"
    assert is_scrambled([heading, *[_by_glyph_numbers(PROSE["en"])] * 4, heading])


def test_letters_set_one_by_one_and_signs_in_place_of_letters_are_scrambled() -> None:
    assert is_scrambled([" ".join(PROSE["en"])] * 4)
    assert is_scrambled(["".join(chr(33 + ord(letter) % 14) for letter in PROSE["en"])] * 4)


def test_one_short_word_met_by_chance_again_and_again_does_not_make_text_legible() -> None:
    assert is_scrambled(["àrpétüvôr och rsrhpr qhåvô och phyàr és vütâéàç "] * 30)


@pytest.mark.parametrize(
    "line", [PLACES, REFERENCES, "1.234,50 | (12,5 %) | 2019/20 | +3,1", "Contents ........... 12"]
)
def test_tables_of_names_references_and_numbers_are_legible(line: str) -> None:
    assert not is_scrambled([line] * 30)


def test_another_script_is_judged_where_its_function_words_are_known() -> None:
    greek = "Η αρχή δημοσιεύει τους χάρτες κινδύνου και ενημερώνει για τα μέτρα που πρέπει να λάβουν οι δήμοι με την "
    assert not is_scrambled([greek] * 20)
    assert not is_scrambled(["Орган публикует карты опасности наводнений каждый год и сообщает о мерах "] * 20)
    # English in a font of symbols.
    assert is_scrambled(
        ["Τηε Παρτιεσ σηαλλ ρεπορτ το τηε σεχρεταριατ ον τηε μεασυρεσ τηατ τηεψ ηαϖε τακεν ανδ οπεν "] * 20
    )
