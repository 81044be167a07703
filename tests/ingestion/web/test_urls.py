from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.web.urls import normal_url, url_of_any_language


@pytest.mark.parametrize(
    "other",
    [
        "HTTPS://WWW.Example.ORG/plans/flood.pdf",
        "http://example.org:80/plans/flood.pdf",
        "https://example.org:443/plans/flood.pdf#page=3",
        "https://example.org/plans/flood.pdf?utm_source=mail&fbclid=1",
        "https://example.org//plans/flood.pdf",
        "https://user@example.org/plans/fl%6Fod.pdf",
        "  https://example.org./plans/flood.pdf/  ",
        "https://example.org/plans/flood.pdf;jsessionid=AB12?PHPSESSID=9",
    ],
)
def test_two_spellings_of_one_address_are_equal(other: str) -> None:
    assert normal_url(other) == normal_url("https://example.org/plans/flood.pdf")


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/plans/Flood.pdf",
        "https://example.org/plans/flood.pdf?page=2",
        "https://example.org:8443/plans/flood.pdf",
        "https://data.example.org/plans/flood.pdf",
        "https://example.org/fr/plans/flood.pdf",
    ],
)
def test_other_addresses_stay_apart(other: str) -> None:
    assert normal_url(other) != normal_url("https://example.org/plans/flood.pdf")


def test_index_pages_parameters_and_hosts_in_other_scripts_have_one_form() -> None:
    assert normal_url("https://example.org/plans/index.html") == normal_url("https://example.org/plans/")
    assert normal_url("https://example.org/?b=2&a=1") == normal_url("https://example.org?a=1&b=2")
    assert normal_url("https://münchen.example/ä") == normal_url("https://xn--mnchen-3ya.example/%C3%A4")


@pytest.mark.parametrize(
    "bad", ["", "plans/flood.pdf", "ftp://example.org/a", "https://", "http://a:b:c/", "http://[::1"]
)
def test_what_is_no_web_address_has_no_normal_form(bad: str) -> None:
    assert normal_url(bad) == ""
    assert url_of_any_language(bad) == ""


@pytest.mark.parametrize(
    ("url", "without"),
    [
        ("https://example.org/en/plans", "https://example.org/plans"),
        ("https://example.org/en-GB/plans", "https://example.org/plans"),
        ("https://example.org/docs/report_fr.pdf", "https://example.org/docs/report.pdf"),
        ("https://example.org/docs/report.es.pdf", "https://example.org/docs/report.pdf"),
        ("https://example.org/docs/report-german.pdf", "https://example.org/docs/report.pdf"),
        ("https://example.org/view?doc=7&lang=pt", "https://example.org/view?doc=7"),
        ("https://example.org/view?doc=7&locale=tr_TR", "https://example.org/view?doc=7"),
        ("https://it.example.org/docs", "https://example.org/docs"),
        ("https://example.org/no/planer", "https://example.org/planer"),
        ("https://example.org/docs/part-no.pdf", "https://example.org/docs/part-no.pdf"),
        ("https://example.org/docs/report.pdf", "https://example.org/docs/report.pdf"),
        ("https://example.eu/docs", "https://example.eu/docs"),
        ("https://example.org/de/a_de.pdf", "https://example.org/a.pdf"),
        ("https://example.org/view?lang=es&id=7", "https://example.org/view?id=7"),
    ],
)
def test_the_language_of_an_address_is_known_where_sites_write_it(url: str, without: str) -> None:
    assert url_of_any_language(url) == without


@given(st.text(max_size=60))
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    for url in (text, f"https://example.org/{text}", f"https://example.org/?{text}"):
        assert normal_url(normal_url(url)) == normal_url(url)
        url_of_any_language(url)
