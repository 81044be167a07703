from __future__ import annotations

import tomllib

import pytest

from ingestion.types.licence import LicenceMark
from ingestion.web.trusted_domains import domain_mark
from rag_engine.config import DATA


def trusted(url: str) -> LicenceMark:
    found = domain_mark(url)
    assert found is not None, url
    return found


@pytest.mark.parametrize(
    "url",
    [
        "https://evileur-lex.europa.eu/a",
        "https://eur-lex.europa.eu.evil.com/a",
        "https://eur-lex.europa.eu@evil.com/a",
        "https://evil.com\\@eur-lex.europa.eu/a",
        "https://evil.com/eur-lex.europa.eu",
        "https://eur-lex.еuropa.eu/a",
        "https://eur-lex.xn--uropa-n4a.eu/a",
        "https://ｅｕｒ-lex.europa.eu/a",
        "https://eur-lex%2eeuropa.eu/a",
        "ftp://eur-lex.europa.eu/a",
        "https://eur-lex.europa.eu:8443/a",
        "https://eur-lex.europa.eu/go?url=https://evil.com",
        "https://[broken",
        "",
    ],
)
def test_no_other_host_passes_for_a_trusted_one(url: str) -> None:
    assert domain_mark(url) is None


def test_a_trusted_host_is_known_by_whole_labels_in_any_case() -> None:
    for url in ("https://EUR-Lex.Europa.eu./a", "http://www.legislation.gov.uk/x", "https://www.govinfo.gov:443/y"):
        assert trusted(url).light == "GREEN"


def test_each_trusted_host_names_the_notice_that_it_rests_on() -> None:
    rows = tomllib.loads((DATA / "licences.toml").read_text(encoding="utf-8"))["domains"]
    for row in rows:
        assert row["terms"].startswith("http"), row["suffix"]
        assert len(row["says"]) > 15, row["suffix"]
        assert row["terms"] in trusted(f"https://{row['suffix']}/a").place


def test_a_host_that_publishes_the_works_of_others_frees_nothing_by_its_name() -> None:
    for url in ("https://ec.europa.eu/a", "https://www.fema.gov/a", "https://iris.who.int/a"):
        assert trusted(url).light == "YELLOW"
    for url in ("https://assets.publishing.service.gov.uk/a.pdf", "https://www.un.org/report"):
        assert domain_mark(url) is None
