"""The browser's one way out: what it lets through, and how it refuses."""

from __future__ import annotations

import socket
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import check_port, read_exemptions
from ingestion.web.checked_proxy import USER, CheckedProxy
from tests.ingestion.web_server import QUICK, Site, page, serving
from tests.present import present


@pytest.fixture
def site() -> Iterator[Site]:
    with serving({"/": page("through"), "/big": page(bytes(3_000_000), "application/pdf")}) as running:
        yield running


@pytest.fixture
def proxy(site: Site) -> Iterator[CheckedProxy]:
    with CheckedProxy(site.config()) as running:
        yield running


def _client(proxy: CheckedProxy) -> httpx.Client:
    return httpx.Client(proxy=f"http://{USER}:{proxy.key}@127.0.0.1:{proxy.port}", trust_env=False, timeout=5)


def _connected(proxy: CheckedProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), 5)


def _keyed(proxy: CheckedProxy, text: str) -> bytes:
    """Return the text with the key of the proxy after its first line."""
    first, end, rest = text.partition("\r\n")
    key = b64encode(f"{USER}:{proxy.key}".encode()).decode()
    return f"{first}{end}Proxy-Authorization: Basic {key}\r\n{rest}".encode() if end else text.encode()


def _told(proxy: CheckedProxy, text: str, *, keyed: bool = True) -> bytes:
    """All that the proxy answers to this text."""
    with _connected(proxy) as connection:
        connection.sendall(_keyed(proxy, text) if keyed else text.encode())
        answer = b""
        with suppress(ConnectionError):
            while chunk := connection.recv(65536):
                answer += chunk
                if b"established\r\n\r\n" in answer and text.count("\r\n\r\n") == 1:
                    break
        return answer


def test_plain_requests_go_through_one_for_each_connection(site: Site, proxy: CheckedProxy) -> None:
    with _client(proxy) as client:
        for _time in range(3):
            answer = client.get(site.url("/"))
            assert (answer.text, answer.headers["connection"]) == ("through", "close")
    assert site.asked["/"] == 3
    assert proxy.relayed > 3 * len("through")


def test_a_request_arrives_in_the_form_that_a_server_expects(site: Site, proxy: CheckedProxy) -> None:
    answer = _told(proxy, f"GET {site.origin}/?q=1 HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\n\r\n")
    assert answer.endswith(b"through")
    assert "proxy-connection" not in site.headers[-1]
    assert site.headers[-1]["connection"] == "close"


def test_the_query_of_an_address_without_a_path_arrives(site: Site, proxy: CheckedProxy) -> None:
    site.answers["/"] = lambda request: page(request.path)(request)
    assert _told(proxy, f"GET {site.origin}?q=1 HTTP/1.1\r\nHost: x\r\n\r\n").endswith(b"/?q=1")


@pytest.mark.parametrize("line", ["", "Proxy-Authorization: Basic c2V4dGFudDp4\r\n", "X-Key: {key}\r\n"])
def test_another_program_of_this_machine_does_not_go_out_by_it(site: Site, proxy: CheckedProxy, line: str) -> None:
    line = line.format(key=proxy.key)
    for request in (f"GET {site.origin}/ HTTP/1.1", f"CONNECT 127.0.0.1:{site.port} HTTP/1.1"):
        answer = _told(proxy, f"{request}\r\n{line}\r\n", keyed=False)
        assert answer.startswith(b"HTTP/1.1 407 ")
        assert b"through" not in answer
    assert not site.asked


def test_a_public_host_is_reached_at_the_ports_of_the_web_and_those_that_the_list_names() -> None:
    exempted = read_exemptions(["*.ministry.example:8080"])
    check_port("example.org", 443, ["8.8.8.8"], ())
    check_port("plans.ministry.example", 8080, ["10.0.0.1"], exempted)
    for host, port in (("example.org", 8080), ("plans.ministry.example", 22)):
        with pytest.raises(Refusal, match=f"names port {port}"):
            check_port(host, port, ["8.8.8.8"], exempted)
    with CheckedProxy(QUICK, resolve=lambda host, port: ("8.8.8.8",), named=[("named.example", 6379)]) as proxy:
        assert _told(proxy, "GET http://example.org:6379/ HTTP/1.1\r\nHost: x\r\n\r\n") == b""
        refusal = present(proxy.refusal_for("example.org", 6379))
        assert refusal.reason == "address_forbidden"


def test_a_tunnel_goes_through(site: Site, proxy: CheckedProxy) -> None:
    request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = _told(proxy, f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n{request}")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"through")


@pytest.mark.parametrize(
    "place", ["127.0.0.1:{}", "localhost:{}", "[::1]:{}", "[::ffff:127.0.0.1]:{}", "2130706433:{}"]
)
def test_a_place_that_is_not_listed_gets_no_connection(proxy: CheckedProxy, place: str) -> None:
    with serving({"/": page("secret")}) as other:
        place = place.format(other.port)
        request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert _told(proxy, f"CONNECT {place} HTTP/1.1\r\n\r\n{request}") == b""
        assert _told(proxy, f"GET http://{place}/ HTTP/1.1\r\nHost: x\r\n\r\n") == b""
        assert not other.asked
    host, _, port = place.rpartition(":")
    refusal = present(proxy.refusal_for(host.strip("[]"), int(port)))
    assert refusal.reason == "address_forbidden"


def test_a_name_that_changes_its_address_reaches_only_the_one_that_was_judged(site: Site) -> None:
    answers = iter([("127.0.0.1",), ("127.0.0.2",)])
    with CheckedProxy(site.config(), resolve=lambda host, port: next(answers)) as proxy:
        request = f"GET http://rebinding.example:{site.port}/ HTTP/1.1\r\nHost: x\r\n\r\n"
        assert _told(proxy, request).endswith(b"through")
        assert _told(proxy, request) == b""


@pytest.mark.parametrize(
    "text",
    [
        *("\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "CONNECT nowhere HTTP/1.1\r\n\r\n"),
        *("GET https://example.org/ HTTP/1.1\r\n\r\n", "GET file:///etc/passwd HTTP/1.1\r\n\r\n", "\0" * 300_000),
        *("CONNECT h:99999999 HTTP/1.1\r\n\r\n", "CONNECT h:0 HTTP/1.1\r\n\r\n", "CONNECT u@h:80 HTTP/1.1\r\n\r\n"),
    ],
)
def test_nonsense_ends_the_connection_and_nothing_else(site: Site, proxy: CheckedProxy, text: str) -> None:
    assert _told(proxy, text) == b""
    with _client(proxy) as client:
        assert client.get(site.url("/")).text == "through"


def test_beyond_its_bytes_everything_is_cut(site: Site, proxy: CheckedProxy) -> None:
    proxy.begin(100_000)
    with _client(proxy) as client, pytest.raises(httpx.HTTPError):
        client.get(site.url("/big"))
    assert proxy.over_limit
    assert proxy.relayed < 500_000
    proxy.begin(None)
    with _client(proxy) as client:
        assert len(client.get(site.url("/big")).content) == 3_000_000


def test_an_idle_connection_ends(site: Site) -> None:
    with CheckedProxy(site.config(), idle_seconds=0.1) as proxy:
        began = time.monotonic()
        assert _told(proxy, "GET http") == b""
        assert _told(proxy, f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n\r\n\r\n").startswith(b"HTTP/1.1 200")
        assert time.monotonic() - began < 3


def test_more_connections_than_allowed_are_not_served(site: Site) -> None:
    place = f"127.0.0.1:{site.port}"
    with CheckedProxy(site.config(), most_connections=1) as proxy, _connected(proxy) as first:
        first.sendall(_keyed(proxy, f"CONNECT {place} HTTP/1.1\r\n\r\n"))
        assert first.recv(100).startswith(b"HTTP/1.1 200")
        assert _told(proxy, f"GET {site.origin}/ HTTP/1.1\r\n\r\n") == b""


def test_it_ends_with_its_context_and_so_do_its_connections(site: Site) -> None:
    threads = threading.active_count()
    with CheckedProxy(site.config()) as proxy, _connected(proxy) as open_one:
        open_one.sendall(_keyed(proxy, f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n"))
        assert open_one.recv(100).startswith(b"HTTP/1.1 200")
        proxy.__exit__(None, None, None)
        with suppress(ConnectionError):
            assert open_one.recv(100) == b""
    assert threading.active_count() <= threads + 1
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", proxy.port), 1)
