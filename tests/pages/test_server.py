"""The page server refuses requests that reach it under another site's name."""

from __future__ import annotations

import base64
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import ROOT

# Patience with a server on a busy machine.
_SECONDS = 60.0


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Port of a page server on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
    with (tmp_path_factory.mktemp("server") / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=_SECONDS) as client:
                client.get(f"http://127.0.0.1:{port}/_stcore/health").raise_for_status()
            yield port
        finally:
            server.terminate()
            server.wait(_SECONDS)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_the_names_of_this_machine_are_answered(port: int, host: str) -> None:
    assert _page(port, f"{host}:{port}") == 200
    assert _websocket(port, f"{host}:{port}") == 101


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example"])
def test_the_name_of_another_site_is_refused(port: int, host: str) -> None:
    assert _page(port, f"{host}:{port}") == 400
    # Of the same origin, as a page is whose name leads here since a moment ago.
    assert _websocket(port, f"{host}:{port}") == 400


def _page(port: int, host: str) -> int:
    return httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": host}, timeout=_SECONDS).status_code


def _websocket(port: int, host: str) -> int:
    """Status of the answer to a websocket's handshake; 101 opens it."""
    headers = {
        "Host": host,
        "Origin": f"http://{host}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(secrets.token_bytes(16)).decode("ascii"),
    }
    with httpx.stream("GET", f"http://127.0.0.1:{port}/_stcore/stream", headers=headers, timeout=_SECONDS) as answer:
        return answer.status_code
