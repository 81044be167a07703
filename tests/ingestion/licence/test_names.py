from __future__ import annotations

import pytest

from ingestion.licence.names import UNSTATED, name_of_address, name_of_text, restrictions_of, with_restrictions


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", "CC BY 4.0"),
        ("//creativecommons.org/licenses/by-nc-nd/3.0/de/deed.en", "CC BY-NC-ND 3.0"),
        ("http://www.creativecommons.org/licenses/by-nc-sa/3.0/igo/", "CC BY-NC-SA 3.0 IGO"),
        ("https://web.archive.org/web/2016/http://creativecommons.org/licenses/by-sa/2.0/", "CC BY-SA 2.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0 1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "Public domain"),
        ("https://creativecommons.org/licenses/", UNSTATED),
        ("http://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", "OGL 3.0"),
        ("https://www.govdata.de/dl-de/zero-2-0", "dl-de/zero 2.0"),
        ("https://data.norge.no/nlod/no/2.0", "NLOD"),
        ("https://creativecommons.org.example.com/licenses/by/4.0/", ""),
        ("https://example.com/creativecommons.org/licenses/by/4.0/", ""),
        ("https://example.com/?to=https://creativecommons.org/licenses/by/4.0/", ""),
        ("https://creativecommons.org@example.com/licenses/by/4.0/", ""),
        ("https://creativecommons.org/about", ""),
        ("not an address", ""),
        ("https://creativecommons.org/" + "a" * 5000, ""),
    ],
)
def test_an_address_names_its_licence_only_on_the_licence_s_own_host(url: str, name: str) -> None:
    assert name_of_address(url) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CC-BY-4.0", "CC BY 4.0"),
        ("cc by nc nd", "CC BY-NC-ND"),
        ("Creative Commons Namensnennung – Weitergabe unter gleichen Bedingungen 4.0", "CC BY-SA 4.0"),
        ("Creative Commons Reconocimiento-NoComercial-SinObraDerivada 3.0", "CC BY-NC-ND 3.0"),
        ("Creative Commons Atıf-GayriTicari-AynıLisanslaPaylaş 4.0", "CC BY-NC-SA 4.0"),
        ("Creative Commons Navngivelse-IkkeKommersiell 4.0", "CC BY-NC 4.0"),
        ("Creative Commons Naamsvermelding-GelijkDelen 3.0", "CC BY-SA 3.0"),
        ("CC0", "CC0 1.0"),
        ("Licence Ouverte / Open Licence", "Licence Ouverte"),
        ("Datenlizenz Deutschland – Namensnennung – Version 2.0", "dl-de/by 2.0"),
        ("Italian Open Data License v2.0", "IODL 2.0"),
        ("OGL v3", "OGL 3.0"),
        ("GNU Free Documentation License", "GFDL"),
        ("a driving licence", ""),
        ("CC BY 4.0 or CC BY-NC 4.0", ""),
        ("copied to (cc) by mail", ""),
    ],
)
def test_a_text_names_its_licence_in_many_languages(text: str, name: str) -> None:
    assert name_of_text(text) == name


def test_restrictions_are_read_from_the_name_and_survive_in_it() -> None:
    assert restrictions_of("CC BY-NC-SA 3.0 IGO") == ("NC", "SA")
    assert restrictions_of("CC BY-NC-ND") == ("NC", "ND")
    assert restrictions_of("CC BY 4.0") == ()
    assert restrictions_of("ODbL 1.0") == ("SA",)
    assert restrictions_of(with_restrictions("Reproduction authorised", ("ND", "NC"))) == ("NC", "ND")
