"""Logging in with a provider of OpenID Connect, in a real browser, and what is then recorded."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from ingestion.records.people import give_role
from rag_engine.config import cache_folder
from rag_engine.settings import read_settings
from tests.e2e.checks import PHONE, fits_a_phone, has_no_violation, settle
from tests.e2e.conftest import serving

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("authlib")]
SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "sextant"
client_secret = "known to both"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


class Provider(ThreadingHTTPServer):
    """A provider that knows one person and believes everybody to be her."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ProviderHandler)
        # Comes with Authlib, which not every machine has.
        self.key = import_module("joserfc.jwk").RSAKey.generate_key(2048, {"kid": "first"})
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.nonce = ""

    def answer(self, path: str) -> dict[str, Any]:
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            return {"issuer": self.url} | {name: f"{self.url}/{place}" for name, place in places.items()}
        if path == "/keys":
            return {"keys": [self.key.as_dict(private=False)]}
        now = int(time.time())
        claims = {"iss": self.url, "aud": "sextant", "sub": "7", "iat": now, "exp": now + 600, "nonce": self.nonce}
        claims |= {"name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True}
        token = import_module("joserfc.jwt").encode({"alg": "RS256", "kid": "first"}, claims, self.key)
        return {"access_token": "one", "token_type": "Bearer", "expires_in": 600, "id_token": token}


class _ProviderHandler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        given = {name: values[0] for name, values in parse_qs(asked.query).items()}
        if asked.path == "/authorize":
            self.server.nonce = given.get("nonce", "")
            back = urlencode({"code": "code", "state": given["state"]})
            self.send_response(302)
            self.send_header("Location", f"{given['redirect_uri']}?{back}")
            self.end_headers()
        else:
            self._send(asked.path)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(self.path)

    def _send(self, path: str) -> None:
        body = json.dumps(self.server.answer(path)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Where a server answers those who log in, and its workspace."""
    with Provider() as provider:
        thread = threading.Thread(target=provider.serve_forever)
        thread.start()
        (tmp_path / ".streamlit").mkdir()
        (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS.format(provider=provider.url), encoding="utf-8")
        workspace = tmp_path / "workspace"
        give_role(workspace, "ada@example.org", "admin")
        own = {"HOME": str(tmp_path), "SEXTANT_CACHE": str(cache_folder()), "SEXTANT_USER": "the system's user"}
        try:
            with serving(workspace, tmp_path / "log", **own) as address:
                yield address, workspace
        finally:
            provider.shutdown()
            thread.join()


def test_a_person_logs_in_changes_a_setting_under_that_name_and_logs_out(page: Page, guarded: tuple[str, Path]) -> None:
    address, workspace = guarded
    page.goto(f"{address}/admin?tab=settings")
    expect(page.get_by_text("Log in to use this collection.")).to_be_visible()
    expect(page.get_by_text("Answer")).to_have_count(0)
    settle(page)
    has_no_violation(page)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    fits_a_phone(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Log in").click()
    sidebar = page.get_by_test_id("stSidebarUserContent")
    expect(sidebar.get_by_text("Ada Lovelace (ada@example.org)")).to_be_visible()

    # Back where she wanted to go, not on the first page.
    expect(page).to_have_url(re.compile(r"/admin\?tab=settings$"))
    expect(page.get_by_text("Recorded as Ada Lovelace (ada@example.org).")).to_be_visible()
    seconds = page.get_by_label("Seconds for an answer")
    seconds.fill("600")
    seconds.press("Tab")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Seconds for an answer: 600.")).to_be_visible()
    assert read_settings(workspace).state("answer_seconds").changed.startswith("Ada Lovelace (ada@example.org), ")

    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Log in to use this collection.")).to_be_visible()


def test_a_login_that_has_ended_says_so_and_keeps_the_question_that_was_typed(
    page: Page, guarded: tuple[str, Path]
) -> None:
    address, _ = guarded
    ended = page.get_by_text("Your login has ended.")
    page.goto(address)
    expect(page.get_by_text("Log in to use this collection.")).to_be_visible()
    expect(ended).to_be_hidden()
    page.get_by_role("button", name="Log in").click()
    question = page.get_by_placeholder("Ask a question about your documents")
    question.fill("Who prepares the flood plan?")
    page.wait_for_function("sessionStorage.getItem('sextant-typed')")

    page.context.clear_cookies()
    page.reload()
    expect(ended).to_be_visible()
    page.get_by_role("button", name="Log in").click()
    expect(question).to_have_value("Who prepares the flood plan?")

    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Log in to use this collection.")).to_be_visible()
    expect(ended).to_be_hidden()
