from __future__ import annotations

import pytest

from ingestion.web.trusted_domains import domain_mark


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
        "https://webgate.ec.europa.eu/a",
        "https://[broken",
        "",
    ],
)
def test_no_other_host_passes_for_a_trusted_one(url: str) -> None:
    assert domain_mark(url) is None


def test_a_trusted_host_is_known_by_whole_labels_in_any_case() -> None:
    for url in ("https://EUR-Lex.Europa.eu./a", "http://www.legislation.gov.uk/x", "https://www.govinfo.gov:443/y"):
        found = domain_mark(url)
        assert found is not None
        assert found.light == "GREEN"
