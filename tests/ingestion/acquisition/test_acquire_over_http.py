"""Acquisition and portals over real connections: loopback HTTP, and Chromium where it is needed."""

from __future__ import annotations

import http.server
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.acquisition.acquire import acquire
from ingestion.config import IngestionConfig
from ingestion.portals.explore import explore
from ingestion.protocols import Browser
from ingestion.types.outcome import Outcome
from ingestion.types.source import Download, ListedSource, PortalFindings
from ingestion.web.browser import open_browser
from ingestion.web.cache import CachedWeb
from ingestion.web.http import HttpWeb
from tests.ingestion.context import tools_of
from tests.ingestion.documents import bare_pdf
from tests.ingestion.small_web import WORDS, listing
from tests.ingestion.web_server import Answer, Site, page, redirect, serving

NOW = "2026-11-22T10:00:00+00:00"


def conditional(body: bytes, tag: str) -> Answer:
    """Return a file that answers 304 to a request with its tag."""

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        if request.headers.get("If-None-Match") == tag:
            page(b"", "application/pdf", 304, ETag=tag)(request)
        else:
            page(body, "application/pdf", ETag=tag)(request)

    return answer


def take(
    site: Site, path: str, workspace: Path, *, before: Download | None = None, browser: Browser | None = None
) -> Outcome:
    config = IngestionConfig(web=site.config())
    source = ListedSource("A1", site.url(path), title="National flood strategy")
    with HttpWeb(config.web) as web:
        return acquire(source, tools_of(workspace, web, config, browser), before=before, now=NOW)


def test_a_landing_page_a_redirect_and_an_unchanged_file(tmp_path: Path) -> None:
    pdf = bare_pdf(tmp_path / "made.pdf", 3).read_bytes()
    landing = '<html><body><p>The strategy.</p><a href="/get">Download the strategy</a></body></html>'
    with serving({"/flood": page(landing), "/get": redirect("/v1.pdf"), "/v1.pdf": conditional(pdf, '"1"')}) as site:
        first = take(site, "/flood", tmp_path)
        assert isinstance(first.evidence, Download), first
        assert (tmp_path / first.evidence.path).read_bytes() == pdf
        assert first.evidence.urls == (site.url("/flood"), site.url("/get"), site.url("/v1.pdf"))
        again = take(site, "/flood", tmp_path, before=first.evidence)
        assert (again.reason, again.evidence) == ("not_modified", first.evidence)
        assert [path.name for path in (tmp_path / "downloads").iterdir()] == ["A1_national-flood-strategy.pdf"]


def test_a_portal_gives_its_documents_and_tells_what_fails(tmp_path: Path) -> None:
    links = listing(("/a.pdf", "Flood plan"), ("/law", "Water act"), ("/gone", "Old strategy"))
    answers = {"/list": page(f"<html><body>{links}</body></html>"), "/law": page(f"<main>{WORDS * 30}</main>")}
    with serving(answers) as site:
        directory = take(site, "/list", tmp_path)
        assert directory.reason == "directory"
        assert isinstance(directory.evidence, Download)
        config = IngestionConfig(web=site.config())
        source = ListedSource("A1", site.url("/list"))
        with HttpWeb(config.web) as web:
            explored = explore(source, directory.evidence, tools_of(tmp_path, web, config), known=())
        assert isinstance(explored.evidence, PortalFindings)
        assert [found.url for found in explored.evidence.found] == [site.url("/a.pdf"), site.url("/law")]
        assert any(site.url("/gone") in said for said in explored.evidence.left_out)


@pytest.mark.needs("chromium")
def test_chromium_gets_pages_made_by_scripts_and_tells_error_pages_from_files(tmp_path: Path) -> None:
    script = f"document.getElementById('root').innerHTML = '<h1>Flood strategy</h1><p>{WORDS * 9}</p>'"
    shell = f'<html><body><div id="root"></div><script>{script}</script></body></html>'
    answers = {"/app": page(shell), "/plan.pdf": page("<html><body><h1>Not found</h1></body></html>")}
    with serving(answers) as site, HttpWeb(site.config()) as web:
        browser = open_browser(site.config(), politeness=web.politeness)
        assert browser is not None
        with browser:
            made = take(site, "/app", tmp_path, browser=browser)
            error = take(site, "/plan.pdf", tmp_path, browser=browser)
        assert isinstance(made.evidence, Download), made
        assert (made.evidence.kind, made.evidence.how) == ("content", "browser")
        assert "flood hazard maps" in (tmp_path / made.evidence.path).read_text(encoding="utf-8")
        assert (error.status, error.reason) == ("refused", "wrong_content")
        assert take(site, "/app", tmp_path).reason == "browser_missing"


def test_a_portals_files_are_found_by_their_heads_and_never_stored(tmp_path: Path) -> None:
    sent: list[int] = []

    def file(request: http.server.BaseHTTPRequestHandler) -> None:
        """Send a file of four hundred megabytes, of which it is counted how much anybody took."""
        request.send_response(200)
        request.send_header("Content-Type", "application/pdf")
        request.send_header("Content-Length", "400000000")
        request.end_headers()
        for _piece in range(400):
            request.wfile.write(b"%PDF-1.7" + bytes(999_992))
            sent.append(1)

    pdf = bare_pdf(tmp_path / "made.pdf", 3).read_bytes()
    links = listing(
        ("/download", "Flood plan"), ("/unsaid", "Heat plan"), ("/attached", "Drought plan"), ("/wrong", "Storm plan")
    )
    answers = {
        "/list": page(f"<html><body>{links}</body></html>"),
        "/download": file,
        "/unsaid": page(pdf, ""),
        "/attached": page(pdf, "text/html", Content_Disposition='attachment; filename="drought.pdf"'),
        "/wrong": page(pdf, "text/html"),
    }
    download = Download("", (), "0" * 64, 100, "text/html", "directory", NOW)
    with serving(answers) as site, HttpWeb(site.config()) as plain:
        web = CachedWeb(plain, tmp_path / "kept")
        source, config = ListedSource("A1", site.url("/list"), title="Plans"), IngestionConfig(web=site.config())
        directory = replace(download, urls=(site.url("/list"),))
        explored = explore(source, directory, tools_of(tmp_path, web, config), known=())
    assert isinstance(explored.evidence, PortalFindings)
    names = ["/attached", "/download", "/unsaid", "/wrong"]
    assert sorted(found.url for found in explored.evidence.found) == [site.url(name) for name in names]
    assert len(sent) < 50
    cached = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert cached
    assert not [path for path in cached if b"%PDF" in path.read_bytes()]
