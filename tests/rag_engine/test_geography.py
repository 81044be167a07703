"""Places are found in seven languages, and documents about them are preferred."""

import time
from typing import Any

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.geography import (
    canonical_country,
    find_places,
    geographic_boost,
    load_gazetteer,
)
from rag_engine.text.tables import read_table
from rag_engine.types.document import Metadata
from rag_engine.types.evidence import GeographicScope

GAZETTEER = load_gazetteer()
TABLE = read_table("geography")
LANGUAGES = {"en", "it", "fr", "es", "de", "pt", "tr"}


def countries(text: str) -> tuple[str, ...]:
    return find_places(text, GAZETTEER).countries


def regions(text: str) -> tuple[str, ...]:
    return find_places(text, GAZETTEER).regions


def boost(scope: GeographicScope, level: str = "", *, named: tuple[str, ...] = (), title: str = "A plan") -> float:
    metadata = Metadata(title=title, language="en", geographical_level=level, countries=named)
    return geographic_boost(scope, metadata, GAZETTEER)


def test_the_table_holds_the_united_nations_and_four_more() -> None:
    assert len(GAZETTEER.countries) == 193 + 4


@pytest.mark.parametrize("country", TABLE["country"], ids=lambda country: country["code"])
def test_every_country_is_found_by_each_of_its_names(country: dict[str, Any]) -> None:
    assert set(country["names"]) == LANGUAGES
    for names in country["names"].values():
        for name in names:
            written = name.split("{")[0]
            assert countries(f"xx {written} xx") == (country["name"],), written


def test_every_region_has_known_members_and_every_body_a_known_region() -> None:
    assert {code for region in TABLE["region"] for code in region.get("members", ())} == set(GAZETTEER.countries)
    assert {body["region"] for body in TABLE["body"]} <= set(GAZETTEER.regions)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Quali leggi italiane e tedesche valgono?", ("Italy", "Germany")),
        ("das österreichische Wasserrecht und die Schweiz", ("Austria", "Switzerland")),
        ("les communes françaises et l'Espagne", ("France", "Spain")),
        ("las políticas brasileñas y las de Nueva Zelanda", ("Brazil", "New Zealand")),
        ("a legislação portuguesa e a dos EUA", ("Portugal", "United States")),
        ("Türkiye'de, Almanya'daki ve Yunanistanda", ("Turkey", "Germany", "Greece")),
        ("TÜRKİYE'DE SEL; TURKIYE; İTALYANLARIN", ("Turkey", "Italy")),
        ("flood policy in italy and peru", ("Italy",)),
        ("Mexico, México, Messico", ("Mexico",)),
        ("Côte d'Ivoire and the DRC", ("Côte d'Ivoire", "Democratic Republic of the Congo")),
    ],
)
def test_names_and_adjectives_are_found_in_their_inflections(text: str, found: tuple[str, ...]) -> None:
    assert countries(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("South Korea", ("South Korea",)),
        ("South Sudan and Guinea-Bissau", ("South Sudan", "Guinea-Bissau")),
        ("New South Wales", ("Australia",)),
        ("New Mexico", ("United States",)),
        ("the Gulf of Mexico and the Indian Ocean", ()),
        ("Michael Jordan", ()),
    ],
)
def test_the_longest_name_wins(text: str, found: tuple[str, ...]) -> None:
    assert countries(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "tell us what it says",
        "polish the china and roast the turkey",
        "a guinea pig",
        "small Island States",
        "the IT department",
        "i mali del secolo",
        "eles irão pagar",
        "que dit ceci",
        "mısır tarlası ve kazak",
        "TELL US WHO IS PAID",
        "global warming",
        "Indianapolis and Romaniote",
    ],
)
def test_ordinary_words_are_no_places(text: str) -> None:
    assert not find_places(text, GAZETTEER)


def test_a_capital_makes_the_difference() -> None:
    assert countries("Poles, Turkey, China, Chad and the US") == ("Poland", "Turkey", "China", "Chad", "United States")


@pytest.mark.parametrize(
    "text",
    [
        "documents in Italian",
        "Documenti in italiano, per favore",
        "auf Deutsch?",
        "the French version",
        "en français et",
    ],
)
def test_a_language_is_no_country(text: str) -> None:
    assert countries(text) == ()


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("Bu belge, afet yönetimini düzenler.", "tr", ()),
        ("Belge No: 12", "tr", ()),
        ("la loi belge sur les inondations", "fr", ("Belgium",)),
        ("Belçika'da sel", "tr", ("Belgium",)),
        ("Mali Tablolar ve mali yıl", "tr", ()),
        ("Mali'de kuraklık", "tr", ("Mali",)),
        ("Asian/Pacific Islander", "en", ()),
        ("die isländische Verordnung der Isländer", "de", ("Iceland",)),
        ("American Indian / Alaska Native", "en", ("United States",)),
        ("Indian tribes and reservations", "en", ()),
        ("Indian states and monsoon floods", "en", ("India",)),
        ("Floods in Indiana", "en", ()),
        ("la civiltà indiana", "it", ("India",)),
        ("STATE of GEORGIA", "en", ("United States",)),
        ("the University of Georgia", "en", ("United States",)),
        ("Georgia, Florida and Alabama were hit", "en", ("United States",)),
        ("Georgia and Armenia were hit", "en", ("Georgia", "Armenia")),
        ("Lebanon, Pennsylvania", "en", ("United States",)),
        ("Panama City, Florida", "en", ("United States",)),
        ("Lebanon, Syria and Jordan", "en", ("Lebanon", "Syria", "Jordan")),
        ("Dane County", "en", ()),
        ("Brazil nuts and Norway spruce", "en", ()),
        ("the North Pole", "en", ()),
    ],
)
def test_a_word_that_a_name_only_shares_is_no_place_in_its_language(
    text: str, language: str, found: tuple[str, ...]
) -> None:
    assert find_places(text, GAZETTEER, language).countries == found


def test_in_running_text_an_abbreviation_that_may_be_anything_is_no_place() -> None:
    assert find_places("The AU and the EU met in GEORGIA.", GAZETTEER, "en", running=True).countries == ("Georgia",)
    assert find_places("The AU and the EU met.", GAZETTEER, "en", running=True).regions == ("European Union",)
    assert find_places("What does the AU recommend?", GAZETTEER, "en").regions == ("Africa",)


def test_an_adjective_before_a_noun_is_a_country() -> None:
    assert countries("duties in Italian law") == ("Italy",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("EU, UE, AB'nin, Europäischen Union", ("European Union",)),
        ("the EEA, the JRC and the ECDC", ("European Union",)),
        ("la Commissione europea", ("European Union",)),
        ("Council of Europe", ("Europe",)),
        ("UNFCCC, IPCC, OMS, Birleşmiş Milletler", ("Global",)),
        ("CEPAL / ECLAC", ("Latin America and the Caribbean",)),
        ("the African Union and ASEAN", ("Africa", "South-East Asia")),
        ("América Latina y el Caribe", ("Latin America and the Caribbean",)),
        ("i paesi del Mediterraneo", ("Mediterranean",)),
    ],
)
def test_bodies_and_regions_are_found(text: str, found: tuple[str, ...]) -> None:
    assert regions(text) == found


def test_a_country_has_one_name_whatever_it_is_called() -> None:
    names = ["Italy", "Italia", "ITALIE", "l'Italia", "İtalya", "IT", " Italien "]
    assert {canonical_country(name, GAZETTEER) for name in names} == {"Italy"}
    assert canonical_country("the Netherlands", GAZETTEER) == "Netherlands"
    assert canonical_country("Atlantis", GAZETTEER) is None
    assert canonical_country("European Union", GAZETTEER) is None
    assert canonical_country("", GAZETTEER) is None


ITALY = GeographicScope(countries=("Italy",))


def test_the_boost_prefers_the_country_then_its_region_then_the_world() -> None:
    assert boost(ITALY, "National", named=("France", "Italy")) == 1.8
    assert boost(ITALY, "European region") == 1.5
    assert boost(ITALY, "Global/Supranational") == 1.0
    assert boost(ITALY, "National", named=("France",)) == 0.8
    assert boost(ITALY, "Latin-American region") == 0.8


def test_the_boost_follows_a_region_to_its_countries_and_parts() -> None:
    union = GeographicScope(regions=("European Union",))
    assert boost(union, "European region") == 1.5
    assert boost(union, "National", named=("Italy",)) == 1.5
    assert boost(union, "National", named=("Norway",)) == 0.8
    america = GeographicScope(regions=("Latin America and the Caribbean",))
    assert boost(america, "Supranational/regional", title="Policies of the Caribbean Community") == 1.5
    assert boost(america, "Supranational/regional", title="Strategy of the African Union") == 0.8


def test_nothing_is_boosted_without_a_place_on_both_sides() -> None:
    assert boost(GeographicScope(), "National", named=("Italy",)) == 1.0
    assert boost(ITALY) == 1.0
    assert boost(ITALY, "Supranational/regional") == 1.0


def test_asking_for_the_world_does_not_punish_one_country() -> None:
    world = GeographicScope(regions=("Global",))
    assert boost(world, "Global/Supranational") == 1.5
    assert boost(world, "National", named=("Italy",)) == 1.0


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    scope = find_places(text, GAZETTEER)
    assert set(scope.countries) <= set(GAZETTEER.countries.values())
    assert set(scope.regions) <= set(GAZETTEER.regions)


def test_five_hundred_hits_are_boosted_in_a_moment() -> None:
    started = time.perf_counter()
    for number in range(500):
        boost(ITALY, "Supranational/regional", title=f"Plan {number} of the Andean Community")
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("word", ["a", "lari", "Italya", "1"])
def test_a_text_of_one_endless_word_takes_no_time(word: str) -> None:
    started = time.process_time()
    find_places(word * (400_000 // len(word)), GAZETTEER)
    assert time.process_time() - started < 3


def test_the_longest_turkish_ending_is_taken_off() -> None:
    assert countries("Almanyalarlilardankilar") == ("Germany",)


# Names of the CLDR that are also words or other places, or that nobody writes.
NOT_TAKEN = {
    ("fr", "DM"), ("fr", "MU"), ("es", "MU"), ("pt", "MU"), ("es", "GD"), ("pt", "GD"), ("de", "IS"), ("en", "VC"),
    ("fr", "VA"), ("tr", "CG"), ("tr", "CD"), ("de", "PS"), ("tr", "PS"),
    *((language, "MM") for language in LANGUAGES - {"de"}),
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_country_is_known_by_its_name_in_the_cldr(language: str) -> None:
    territories = Locale(language).territories
    for code, name in GAZETTEER.countries.items():
        if (language, code) not in NOT_TAKEN:
            written = territories[code].replace(" & ", " and ")
            assert canonical_country(written, GAZETTEER) == name, (language, written)


@pytest.mark.parametrize(
    "text",
    [
        "Jordan Smith wrote the plan", "by Chad Brown and Georgia O’Keeffe", "Israel M. Gonzalez, adviser",
        "Anatole France", "Dr. Jordan, chair", "Tom Holland", "Jordan J. Keller-Wirth",
    ],
)  # fmt: skip
def test_the_name_of_a_person_is_no_country(text: str) -> None:
    assert find_places(text, load_gazetteer(), "en").countries == ()


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Jordan's national plan", "Jordan"), ("The Jordan Ministry of Water", "Jordan"),
        ("Jordan: Smith report", "Jordan"), ("Turkey A. Introduction", "Turkey"),
        ("San José Costa Rica", "Costa Rica"), ("San Juan Argentina", "Argentina"),
    ],
)  # fmt: skip
def test_a_country_beside_other_names_is_one(text: str, country: str) -> None:
    assert find_places(text, load_gazetteer(), "en").countries == (country,)
