"""The page server refuses what pages of other sites and programs ask, and says so to browsers."""

import base64
import secrets
from collections.abc import Iterator
from io import BytesIO
from zipfile import ZipFile

import httpx
import pytest
from starlette.datastructures import Headers

from benchmarks.page_server import serving
from cli.serve.browser_requests import RequestRules

# Patience with a server on a busy machine.
_SECONDS = 60.0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Port of a page server on loopback."""
    with serving() as address:
        yield int(address.rpartition(":")[2])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(port: int, host: str) -> None:
    assert _page(port, f"{host}:{port}") == 200
    assert _websocket(port, f"{host}:{port}") == 101


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "localhost.evil.example:{port}",
        "evil.localhost:{port}",
        # Of another program on this machine, and of none.
        "localhost:{other}",
        "localhost",
        "localhost:{port}x",
        "me@localhost:{port}",
        "localhost:{port}/evil.example",
        "",
    ],
)
def test_the_name_of_another_site_is_refused(port: int, host: str) -> None:
    host = host.format(port=port, other=port + 1)
    assert _page(port, host) == 400
    # Of the same origin, as a page is whose name leads here since a moment ago.
    assert _websocket(port, host) == 400


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://localhost:{other}", "http://127.0.0.1", "null", "file://", "x"]
)
def test_a_page_of_another_site_or_program_is_refused(port: int, origin: str) -> None:
    origin = origin.format(other=port + 1)
    assert _page(port, f"localhost:{port}", Origin=origin) == 403
    assert _websocket(port, f"localhost:{port}", origin) == 403


def test_parts_of_the_page_are_not_loaded_into_others_but_a_link_leads_here(port: int) -> None:
    asked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert _page(port, f"localhost:{port}", **asked) == 403
    assert _page(port, f"localhost:{port}", **asked | {"Sec-Fetch-Mode": "navigate"}) == 200


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/no/such/page"])
def test_every_answer_says_that_it_belongs_in_no_other_page(port: int, path: str) -> None:
    headers = httpx.get(f"http://127.0.0.1:{port}{path}", timeout=_SECONDS).headers
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers


def test_the_source_code_is_there_to_download_without_what_people_keep(port: int) -> None:
    packed = httpx.get(f"http://127.0.0.1:{port}/source.zip", timeout=_SECONDS)
    with ZipFile(BytesIO(packed.content)) as archive:
        names = set(archive.namelist())
    assert {"sextant/app.py", "sextant/LICENSE", "sextant/rag_engine/workspace.py", "sextant/pages/ask.py"} <= names
    assert not [
        name for name in names if name.startswith("sextant/data/workspace") or name.endswith(("secrets.toml", ".pdf"))
    ]


def test_names_and_origins_that_the_settings_give_are_answered_at_any_port() -> None:
    rules = RequestRules(["sextant.example.org", "*.office.example"], ["https://tools.example.org"])

    def refused(host: str, **others: str) -> bool:
        return rules.refusal(Headers({"host": host} | others), "http", 8501) is not None

    assert not refused("sextant.example.org", origin="https://sextant.example.org")
    assert not refused("sextant.example.org:8443", origin="https://sextant.example.org:8443")
    assert not refused("a.office.example")
    assert not refused("sextant.example.org", origin="https://tools.example.org")
    assert refused("office.example")
    assert refused("sextant.example.org", origin="https://sextant.example.org:8443")
    # Where the list names no loopback name, none is answered.
    assert refused("localhost:8501")


def _page(port: int, host: str, **headers: str) -> int:
    return httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": host} | headers, timeout=_SECONDS).status_code


def _websocket(port: int, host: str, origin: str | None = None) -> int:
    """Status of the answer to a websocket's handshake; 101 opens it."""
    headers = {
        "Host": host,
        "Origin": origin or f"http://{host}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(secrets.token_bytes(16)).decode("ascii"),
    }
    with httpx.stream("GET", f"http://127.0.0.1:{port}/_stcore/stream", headers=headers, timeout=_SECONDS) as answer:
        return answer.status_code
