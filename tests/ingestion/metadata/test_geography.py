from __future__ import annotations

import pytest

from ingestion.metadata.authorities import canonical_authority
from ingestion.metadata.geography import Geography, country_of_address, locate
from ingestion.metadata.quotes import document_text
from tests.ingestion.texts import extracted_from


def _locate(title: str = "", text: str = "", *, by: str = "", language: str = "en", url: str = "") -> Geography:
    return locate(
        title, document_text(extracted_from(text), language),
        authority=canonical_authority(by) if by else None, url=url,
    )  # fmt: skip


def _found(geography: Geography) -> tuple[str, list[str]]:
    return (geography.level.value if geography.level else ""), [place.value for place in geography.countries]


def test_a_national_body_writes_for_its_country() -> None:
    assert _found(_locate("Heat plan", "Rome is hot.", by="Dipartimento della Protezione Civile")) == (
        "National",
        ["Italy"],
    )


@pytest.mark.parametrize("body", ["JRC", "EEA", "ECDC", "EFSA", "Cedefop", "European Commission"])
def test_a_body_of_the_union_is_european_however_often_it_says_global(body: str) -> None:
    assert _found(_locate("Heat", "The world is warm. " * 20, by=body)) == ("European region", [])


def test_a_body_of_the_world_is_global_where_its_meeting_was_held_does_not_matter() -> None:
    title = "Report of the conference, held in Kyoto, Japan, in 1997"
    text = "\n\n".join(["The parties met in Japan."] * 3 + ["The parties of the United Nations decide."] * 40)
    assert _found(_locate(title, text, by="UNFCCC")) == ("Global/Supranational", [])


def test_countries_in_the_title_come_before_the_body_and_may_be_several() -> None:
    level, countries = _found(_locate("Floods in Germany, Belgium and the Netherlands in 2021", "", by="JRC"))
    assert level == "National"
    assert set(countries) == {"Germany", "Belgium", "Netherlands"}


def test_a_body_of_many_states_may_write_about_one() -> None:
    text = "\n\n".join(["Schools in Finland are free."] * 20 + ["The ministry pays."] * 10)
    assert _found(_locate("Financing of schools", text, by="Cedefop")) == ("National", ["Finland"])


def test_a_document_that_mentions_many_countries_is_not_about_all_of_them() -> None:
    names = ["France", "Japan", "Kenya", "Peru", "Norway", "Chad", "Nepal", "Cuba", "Chile", "Italy"]
    text = "\n\n".join(f"In {name} the rivers rise." for name in names * 2)
    assert _found(_locate("Rivers", text))[1] == []


@pytest.mark.parametrize(
    ("text", "language", "country"),
    [
        ("Die Gemeinden in Baden-Württemberg und das Land Baden-Württemberg. " * 4, "de", "Germany"),
        ("Le SCoT et le PLUi, selon le code de l'urbanisme. " * 4, "fr", "France"),
        (
            "TS EN 1866'ya uygun yangın merdivenleri aranır ve denetlenir. " + "Binalar denetlenir. " * 60,
            "tr",
            "Turkey",
        ),
    ],
)
def test_regions_laws_and_the_language_tell_the_country(text: str, language: str, country: str) -> None:
    assert _found(_locate("", text, language=language)) == ("National", [country])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Binalarda yangın merdivenleri aranır ve denetlenir. " * 40, "tr"),
        ("Il piano prevede che le scuole chiudano quando fa caldo. " * 40, "it"),
        ("Gemeenten maken een plan voor hitte en droogte. " * 40, "nl"),
    ],
)
def test_a_language_alone_tells_no_country(text: str, language: str) -> None:
    assert _found(_locate("", text, language=language)) == ("", [])


def test_an_address_tells_the_country() -> None:
    assert _found(_locate("Plan", "Die Feuerwehr hilft.", language="de", url="https://www.milltown.gv.at/plan")) == (
        "National",
        ["Austria"],
    )


@pytest.mark.parametrize(
    ("address", "country"),
    [("https://x.gov.uk/a", "United Kingdom"), ("https://epa.gov", "United States"), ("https://x.europa.eu", ""),
     ("x.it", "Italy"), ("https://x.org", ""), ("", "")],
)  # fmt: skip
def test_countries_of_top_level_domains(address: str, country: str) -> None:
    assert country_of_address(address) == country


def test_a_text_without_places_has_none() -> None:
    assert _locate("Instructions", "Press the button and wait.") == Geography(None)


def test_a_region_of_several_countries_is_a_level_of_its_own() -> None:
    text = "\n\n".join(["The Mediterranean warms."] * 5)
    assert _found(_locate("Warm water", text)) == ("Supranational/regional", [])
    assert _found(_locate("Políticas en América Latina y el Caribe", "", language="es"))[0] == "Latin-American region"
