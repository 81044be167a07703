"""Authorities by name, domain, symbol and formula; and the issuer of a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.metadata.authorities import authority_of_host, canonical_authority, load_authorities, named_authorities
from ingestion.metadata.issuers import find_issuers
from ingestion.metadata.quotes import document_text
from ingestion.metadata.term_matching import cut_words
from rag_engine.errors import InputError
from tests.ingestion.texts import extracted_from


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("JRC", "Joint Research Centre"),
        ("the Joint Research Centre (JRC)", "Joint Research Centre"),
        ("Joint Research Center", "Joint Research Centre"),
        ("Centro comune di ricerca", "Joint Research Centre"),
        ("World Health Organisation, Geneva", "World Health Organization"),
        ("WELTGESUNDHEITSORGANISATION", "World Health Organization"),
        ("Protezione civile nazionale", "Dipartimento della Protezione Civile"),
        ("T.C. Sağlık Bakanlığı", "T.C. Sağlık Bakanlığı"),
        ("European Environment  Agency", "European Environment Agency"),
    ],
)
def test_spellings_of_a_body_become_one_name(written: str, name: str) -> None:
    found = canonical_authority(written)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "written",
    [
        "",
        "who",
        "sec",
        "Ministry of Justice",
        "National Agency",
        "Umweltministerium",
        "European Environment Bureau",
        "?",
    ],
)
def test_what_might_be_several_bodies_or_none_is_not_guessed(written: str) -> None:
    assert canonical_authority(written) is None


def test_similar_names_of_different_bodies_stay_apart() -> None:
    council, european = canonical_authority("Council of Europe"), canonical_authority("Council of the European Union")
    assert council is not None
    assert european is not None
    assert council.name != european.name


@pytest.mark.parametrize("acronym", ["JRC", "EEA", "ECDC", "EFSA", "Cedefop"])
def test_bodies_of_the_union_are_european_and_not_global(acronym: str) -> None:
    found = canonical_authority(acronym)
    assert found is not None
    assert found.level == "European region"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://www.ecdc.europa.eu/en/x.pdf", "European Centre for Disease Prevention and Control"),
        ("publications.jrc.ec.europa.eu", "Joint Research Centre"),
        ("https://ec.europa.eu/x", "European Commission"),
        ("http://www.planalto.gov.br/ccivil_03/lei", "Presidência da República"),
        ("https://www.example.org", None),
        ("https://notepa.gov", None),
        ("http://[broken", None),
    ],
)
def test_the_longest_domain_names_the_body(address: str, name: str | None) -> None:
    found = authority_of_host(address)
    assert (found.name if found else None) == name


def test_a_document_symbol_and_a_formula_name_the_body() -> None:
    text = "Distr. GENERAL FCCC/CP/2011/9/Add.1\nO PRESIDENTE DA REPÚBLICA Faço saber que"
    kinds = {(one.kind, one.authority.name) for one in named_authorities(text, cut_words(text))}
    assert ("symbol", "United Nations Framework Convention on Climate Change") in kinds
    assert ("mark", "Presidência da República") in kinds


def test_a_longer_name_hides_the_shorter_inside_it() -> None:
    text = "Published by the World Health Organization Regional Office for Europe"
    assert [one.authority.name for one in named_authorities(text, cut_words(text))] == [
        "WHO Regional Office for Europe"
    ]


def test_the_publisher_on_the_first_page_beats_a_body_that_is_mentioned() -> None:
    extracted = extracted_from(
        "Heat and health in cities\n\nPublished by the European Environment Agency\n\n"
        "The World Health Organization has shown that heat kills. The figures come from the World Bank."
    )
    assert find_issuers(document_text(extracted, "en"), "")[0].value == "European Environment Agency"


def test_what_the_file_declares_beats_the_text() -> None:
    extracted = extracted_from("A study for the World Bank on floods.")
    found = find_issuers(document_text(extracted, "en"), "", declared=[("publisher", "JRC"), ("author", "Jane Doe")])
    assert found[0].value == "Joint Research Centre"


def test_a_person_or_a_program_is_no_authority() -> None:
    words = document_text(extracted_from("Some words."), "en")
    assert find_issuers(words, "", declared=[("author", "Jane Doe"), ("publisher", "Word")]) == []


def test_a_body_that_no_table_knows_is_read_from_the_letterhead() -> None:
    extracted = extracted_from("Municipality of Milltown\n\nFlood plan\n\nThe gauge is read each day.")
    assert find_issuers(document_text(extracted, "en"), "")[0].value == "Municipality of Milltown"


def test_the_ministry_of_a_german_land_gets_the_name_of_its_land() -> None:
    extracted = extracted_from(
        "Verwaltungsvorschrift des Innenministeriums über Zuwendungen\n\nDie Feuerwehren in Hessen und das Land Hessen."
    )
    assert "Hess" in find_issuers(document_text(extracted, "de"), "")[0].value


def test_a_name_that_stands_for_two_bodies_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "authorities.toml"
    table.write_text(
        '[[group]]\nlevel = "National"\ncountry = "Italy"\n'
        'authorities = [{ name = "A B", aliases = ["X Y"] }, { name = "C D", aliases = ["x y"] }]\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="stands for"):
        load_authorities(table)
