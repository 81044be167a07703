from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ingestion.web.http import HttpWeb
from tests.ingestion.web_server import Site, context_of, page, refusal_of, self_signed, serving


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate for 127.0.0.1 that nobody vouches for, and its key, in one file."""
    return self_signed(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def secure(certificate: Path) -> Iterator[Site]:
    with serving({"/": page("secure")}, tls=context_of(certificate)) as running:
        yield running


@pytest.fixture
def site() -> Iterator[Site]:
    with serving({"/": page("open")}) as running:
        yield running


@pytest.fixture
def site_that_closes() -> Iterator[Site]:
    def close(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True

    with serving({"/": close, "/robots.txt": close}) as running:
        yield running


def test_a_wrong_certificate_is_refused_with_the_cause(secure: Site) -> None:
    with HttpWeb(secure.config()) as web:
        refused = refusal_of(web, secure.url("/"))
    assert (refused.reason, refused.refused) == ("certificate_invalid", True)
    assert "self-signed" in str(refused)


def test_the_certificate_is_checked_against_the_name_and_not_the_address(
    secure: Site, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with HttpWeb(secure.config(), resolve=lambda host, port: ("127.0.0.1",)) as web:
        assert web.fetch(f"https://named.example:{secure.port}/").body == b"secure"
        refused = refusal_of(web, f"https://other.example:{secure.port}/")
    assert refused.reason == "certificate_invalid"
    assert "other.example" in str(refused)


def test_https_is_tried_where_nobody_answers_by_http(
    secure: Site, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with HttpWeb(secure.config(), resolve=lambda host, port: ("127.0.0.1",)) as web:
        got = web.fetch(f"http://named.example:{secure.port}/")
    assert got.body == b"secure"
    assert got.urls == (f"http://named.example:{secure.port}/", f"https://named.example:{secure.port}/")


def test_an_address_that_answers_by_no_scheme_is_refused_by_the_one_that_was_given(site_that_closes: Site) -> None:
    with HttpWeb(site_that_closes.config()) as web:
        refused = refusal_of(web, site_that_closes.url("/"))
    assert refused.reason == "connection_failed"
    assert f"{site_that_closes.origin}/" in str(refused)


def test_an_address_given_with_https_is_never_asked_for_without_it(site: Site) -> None:
    with HttpWeb(site.config()) as web:
        refused = refusal_of(web, f"https://127.0.0.1:{site.port}/")
    assert refused.reason == "connection_failed"
    assert not site.asked
