"""Authorities by name, domain, symbol and formula; and the issuer of a document."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from ingestion.metadata.authorities import (
    Authority,
    authority_of_host,
    canonical_authority,
    load_authorities,
    named_authorities,
)
from ingestion.metadata.issuers import find_issuers
from ingestion.metadata.quotes import document_text
from ingestion.metadata.term_matching import cut_words
from tests.ingestion.texts import extracted_from


def known(written: str) -> Authority:
    found = canonical_authority(written)
    assert found is not None
    return found


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
    assert known(written).name == name


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
    assert known("Council of Europe").name != known("Council of the European Union").name


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


def test_no_name_stands_for_two_bodies() -> None:
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for one in load_authorities().by_name.values():
        for name in (one.name, *one.aliases):
            owners[" ".join(word.folded for word in cut_words(name))].add(one.name)
    assert {name: bodies for name, bodies in owners.items() if len(bodies) > 1} == {}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Muster-Bundestag (Deutschland)\n\nGesetz über Deiche", "Deutscher Bundestag"),
        ("Bundesministerium für Gesundheit (Österreich)\n\nHitzeplan", "Bundesministerium für Gesundheit"),
        ("Be it enacted by the Senate and House of Representatives of the State of Texas: Section 1.", "U.S. Congress"),
        ("Be it enacted by the Queen's Most Excellent Majesty and the Parliament of Australia:", "UK Parliament"),
        ("Verordnung der Regierung über Deiche\n\nAusfertigungsdatum: 1.5.2019", "Bundesministerium der Justiz"),
        ("Dykes\n\nThey rise.\n\nSource: European Environment Agency, 2006.\n\nEuropean Environment Agency\n\nFlows",
         "European Environment Agency"),
    ],
)  # fmt: skip
def test_a_body_is_not_the_issuer_because_a_word_of_its_form_stands_there(text: str, other: str) -> None:
    found = find_issuers(document_text(extracted_from(text), "de" if "ü" in text else "en"), "")
    assert other not in [one.value for one in found if one.weight >= 0.3]


def test_an_act_of_the_united_states_is_that_of_their_congress() -> None:
    text = "Be it enacted by the Senate and House of Representatives of the United States of America in Congress:"
    assert find_issuers(document_text(extracted_from(text), "en"), "")[0].value == "U.S. Congress"


def test_the_publisher_that_a_web_page_declares_wins_over_names_in_its_text() -> None:
    extracted = replace(
        extracted_from("European Environment Agency\n\nThe European Environment Agency and the European Environment "
                       "Agency say so. Published by the European Environment Agency."),
        media_type="text/html",
    )  # fmt: skip
    text = document_text(extracted, "en")
    for publisher in ("World Health Organization", "Milltown River Authority"):
        assert find_issuers(text, "", declared=[("publisher", publisher)])[0].value == publisher


def test_a_running_head_names_the_issuer() -> None:
    text = document_text(extracted_from("Gesetz über Deiche\n\n§ 1 Der Deich ist zu prüfen."), "de")
    margins = ["Ein Service des Bundesministeriums der Justiz - www.gesetze-im-internet.de"]
    assert find_issuers(text, "", margins=margins)[0].value == "Bundesministerium der Justiz"
