"""Plain requests against a real server on loopback: what comes back, and every way to be refused."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.types.source import Validators
from ingestion.web.http import HttpWeb
from ingestion.web.response import PAGES_ONLY, NotAPage, receive, retry_after_seconds
from tests.ingestion.web_server import QUICK, Answer, Site, page, redirect, refusal_of, serving

PDF = b"%PDF-1.7 " + bytes(range(256)) * 400


def _conditional(request: BaseHTTPRequestHandler) -> None:
    fresh = '"v1"' in (request.headers["If-None-Match"] or "")
    page(b"" if fresh else PDF, "application/pdf", 304 if fresh else 200, ETag='"v1"')(request)


def _drip(request: BaseHTTPRequestHandler) -> None:
    """Send a byte every 0.05 seconds without an end."""
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.send_header("Connection", "close")
    request.end_headers()
    ended = threading.Event()
    while not ended.wait(0.05):
        request.wfile.write(b"x")
        request.wfile.flush()


def _dripping_head(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    _endless(request, b"x", 0.05)


def _endless(request: BaseHTTPRequestHandler, piece: bytes = b"x" * 65536, pause: float = 0.0) -> None:
    ended = threading.Event()
    while not ended.wait(pause):
        request.wfile.write(piece)


def _endless_body(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Connection", "close")
    request.end_headers()
    _endless(request)


def _cut(request: BaseHTTPRequestHandler) -> None:
    page(b"half", "application/pdf", Content_Length="100")(request)
    request.close_connection = True


def _failing(times: int, status: int, then: Answer, **headers: str) -> Answer:
    left = [times]

    def answer(request: BaseHTTPRequestHandler) -> None:
        left[0] -= 1
        (page("later", status=status, **headers) if left[0] >= 0 else then)(request)

    return answer


def _with_cookie(request: BaseHTTPRequestHandler) -> None:
    if "consent=yes" in (request.headers["Cookie"] or ""):
        page("consented")(request)
    else:
        page("", status=302, Location="/cookie", Set_Cookie="consent=yes; Path=/")(request)


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return gzip.compress(bytes(50_000_000))


@pytest.fixture
def site(bomb: bytes) -> Iterator[Site]:
    answers = {
        "/": page("<h1>Flood plan</h1>", ETag='"a"', Last_Modified="Sun, 01 Nov 2026 10:00:00 GMT"),
        "/plan.pdf": page(
            PDF, "application/pdf", Content_Disposition="attachment; filename*=UTF-8''Plan%20f%C3%BCr.pdf"
        ),
        "/moved": redirect("/moved-again", 301),
        "/moved-again": redirect("plan.pdf#page=2"),
        "/long": page("<p>" + "x" * 5000),
        "/short.txt": page("nineteen characters", "text/plain"),
        "/xhtml": page("<p>" + "x" * 5000, "application/xhtml+xml"),
        "/long-unannounced": page(gzip.compress(b"<p>" + b"x" * 5000), Content_Encoding="gzip"),
        "/loop": redirect("/loop"),
        "/conditional": _conditional,
        "/huge": page(b"", "application/pdf", Content_Length="10000000000"),
        "/bomb": page(bomb, Content_Encoding="gzip"),
        "/packed": page(gzip.compress(b"one ") + gzip.compress(b"two"), Content_Encoding="gzip"),
        "/deflated": page(zlib.compress(b"deflated"), Content_Encoding="deflate"),
        "/raw": page(zlib.compress(b"deflated")[2:-4], Content_Encoding="deflate"),
        "/twice": page(gzip.compress(gzip.compress(b"x")), Content_Encoding="gzip, gzip"),
        "/not-packed": page("plain", Content_Encoding="gzip"),
        "/half-packed": page(gzip.compress(b"x" * 9999)[:-20], Content_Encoding="gzip"),
        "/drip": _drip,
        "/dripping-head": _dripping_head,
        "/endless": _endless_body,
        "/cut": _cut,
        "/gone": page("", status=410),
        "/denied": page("", status=403),
        "/teapot": page("", status=418),
        "/broken": page("", status=500),
        "/part": page("", status=206),
        "/busy": _failing(2, 503, page("at last")),
        "/limited": _failing(1, 429, page("at last"), Retry_After="0"),
        "/much-later": page("", status=429, Retry_After="3600"),
        "/cookie": _with_cookie,
        "/to-file": redirect("file:///etc/passwd"),
        "/to-number": redirect("http://2130706433/"),
    }
    with serving(answers) as running:
        yield running


@pytest.fixture
def web(site: Site) -> Iterator[HttpWeb]:
    with HttpWeb(site.config()) as opened:
        yield opened


def test_a_page_comes_with_what_its_server_said_of_it(site: Site, web: HttpWeb) -> None:
    fetched = web.fetch(site.url("/"))
    assert fetched.body == b"<h1>Flood plan</h1>"
    assert (fetched.status, fetched.media_type, fetched.charset, fetched.etag) == (200, "text/html", "utf-8", '"a"')
    assert fetched.last_modified == "Sun, 01 Nov 2026 10:00:00 GMT"
    assert fetched.sha256 == hashlib.sha256(fetched.body).hexdigest()
    assert site.headers[-1]["user-agent"].startswith("Sextant/")
    assert "text/html" in site.headers[-1]["accept"]
    assert "en" in site.headers[-1]["accept-language"]


def test_a_file_is_streamed_to_its_place_through_redirects(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    fetched = web.fetch(site.url("/moved"), into=tmp_path / "plan.pdf")
    assert (tmp_path / "plan.pdf").read_bytes() == PDF
    assert fetched.urls == (site.url("/moved"), site.url("/moved-again"), site.url("/plan.pdf"))
    assert (fetched.size, fetched.sha256, fetched.body) == (len(PDF), hashlib.sha256(PDF).hexdigest(), b"")
    assert fetched.file_name == "Plan für.pdf"
    assert [path.name for path in tmp_path.iterdir()] == ["plan.pdf"]


def test_what_has_not_changed_is_not_sent_again(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    first = web.fetch(site.url("/conditional"), into=tmp_path / "a.pdf")
    second = web.fetch(site.url("/conditional"), into=tmp_path / "b.pdf", validators=Validators(etag=first.etag))
    assert (second.status, second.body, second.path, second.etag) == (304, b"", "", '"v1"')
    assert not (tmp_path / "b.pdf").exists()


@pytest.mark.parametrize(
    ("path", "reason", "retryable"),
    [
        ("/loop", "too_many_redirects", False),
        ("/gone", "not_found", False),
        ("/nothing", "not_found", False),
        ("/denied", "access_denied", False),
        ("/teapot", "http_error", False),
        ("/part", "http_error", False),
        ("/broken", "http_error", True),
        ("/much-later", "rate_limited", True),
        ("/huge", "too_large", False),
        ("/bomb", "too_large", False),
        ("/endless", "too_large", False),
        ("/twice", "http_error", False),
        ("/not-packed", "connection_failed", True),
        ("/half-packed", "connection_failed", True),
        ("/cut", "connection_failed", True),
        ("/to-file", "address_forbidden", False),
        ("/to-number", "address_forbidden", False),
    ],
)
def test_a_failure_has_its_reason_and_leaves_nothing_behind(
    site: Site, web: HttpWeb, tmp_path: Path, path: str, reason: str, retryable: bool
) -> None:
    refused = refusal_of(web, site.url(path), into=tmp_path / "file", max_bytes=1_000_000)
    assert (refused.reason, refused.retryable, refused.refused) == (reason, retryable, not retryable)
    assert ("10,000,000,000 bytes" in str(refused)) == (path == "/huge"), "refused by its announcement"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/drip", "/dripping-head"])
def test_an_answer_that_drips_ends_at_the_time_limit(site: Site, path: str, tmp_path: Path) -> None:
    with HttpWeb(site.config(total_seconds=0.5)) as web:
        began = time.monotonic()
        assert refusal_of(web, site.url(path), into=tmp_path / "file").reason == "timed_out"
        assert time.monotonic() - began < 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("path", "text"), [("/packed", b"one two"), ("/deflated", b"deflated"), ("/raw", b"deflated")])
def test_a_packed_body_is_unpacked(site: Site, web: HttpWeb, path: str, text: bytes) -> None:
    assert web.fetch(site.url(path)).body == text


def test_a_cookie_lasts_for_the_hops_of_one_call(site: Site, web: HttpWeb) -> None:
    assert web.fetch(site.url("/cookie")).body == b"consented"
    web.fetch(site.url("/cookie"))
    assert site.asked["/cookie"] == 4


@pytest.mark.parametrize(("path", "asked"), [("/busy", 3), ("/limited", 2), ("/cut", 3), ("/much-later", 1)])
def test_what_may_pass_is_tried_again_a_few_times(site: Site, web: HttpWeb, path: str, asked: int) -> None:
    with suppress(Refusal):
        assert web.fetch(site.url(path)).body == b"at last"
    assert site.asked[path] == asked


def test_a_server_that_asks_for_time_gets_it(site: Site) -> None:
    site.answers["/limited"] = _failing(1, 429, page("at last"), Retry_After="1")
    with HttpWeb(site.config(most_delay=2.0)) as web:
        began = time.monotonic()
        assert web.fetch(site.url("/limited")).body == b"at last"
        assert time.monotonic() - began >= 0.95


def test_the_wait_that_is_asked_for_may_be_a_date() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    assert retry_after_seconds(format_datetime(now + timedelta(seconds=7)), now) == 7
    assert retry_after_seconds("12", now) == 12
    assert retry_after_seconds("soon", now) is None
    assert retry_after_seconds("Wed, 21 Oct 29999999999999999999 07:28:00 GMT", now) is None


def test_a_redirect_to_this_machine_is_refused_and_nothing_is_asked_there(site: Site, web: HttpWeb) -> None:
    with serving({"/secret": page("secret")}) as other:
        site.answers["/inside"] = redirect(other.url("/secret"))
        refused = refusal_of(web, site.url("/inside"))
        assert (refused.reason, refused.refused) == ("address_forbidden", True)
        assert not other.asked


def test_the_connection_goes_to_the_address_that_was_checked(site: Site) -> None:
    # The first answer may be fetched, every later one leads to a place that may not.
    answers = iter([("127.0.0.1",)])
    asked: list[str] = []

    def resolve(host: str, port: int) -> tuple[str, ...]:
        asked.append(host)
        return next(answers, ("127.0.0.2",))

    with HttpWeb(site.config(), resolve=resolve) as web:
        url = f"http://rebinding.example:{site.port}/"
        assert web.fetch(url).body == b"<h1>Flood plan</h1>"
    assert asked == ["rebinding.example"]
    with HttpWeb(site.config(), resolve=resolve) as web:
        assert refusal_of(web, url).reason == "address_forbidden"


def test_a_name_with_a_public_and_a_private_address_isrefused(site: Site) -> None:
    with HttpWeb(site.config(), resolve=lambda host, port: ("8.8.8.8", "10.0.0.1")) as web:
        assert refusal_of(web, "http://mixed.example/").reason == "address_forbidden"


def test_a_public_host_is_asked_at_the_ports_of_the_web_and_those_that_a_person_has_named(site: Site) -> None:
    def resolve(host: str, port: int) -> tuple[str, ...]:
        return ("8.8.8.8",)

    config = replace(site.config(), connect_seconds=0.5, tries=1)
    with HttpWeb(config, resolve=resolve, named=[("named.example", 8443)]) as web:
        refused = refusal_of(web, "http://other.example:8443/")
        assert (refused.reason, refused.refused) == ("address_forbidden", True)
        assert "no address on the list names port 8443" in str(refused)
        # It is tried; nothing answers there.
        assert refusal_of(web, "http://named.example:8443/").reason != "address_forbidden"


def test_a_proxy_in_the_environment_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with HttpWeb(site.config()) as web:
        assert web.fetch(site.url("/")).status == 200


def test_a_dead_server_is_a_failed_connection() -> None:
    with serving({}) as site:
        config = site.config()
    with HttpWeb(config) as web:
        refused = refusal_of(web, site.url("/"))
    assert (refused.reason, refused.retryable) == ("connection_failed", True)


def test_what_robots_txt_forbids_is_never_asked_for(site: Site, web: HttpWeb) -> None:
    site.answers["/robots.txt"] = page("User-agent: sextant\nDisallow: /plan.pdf\n", "text/plain")
    for path in ("/plan.pdf", "/moved"):
        refused = refusal_of(web, site.url(path))
        assert (refused.reason, refused.refused) == ("robots_forbidden", True)
    assert web.fetch(site.url("/")).status == 200
    assert (site.asked["/plan.pdf"], site.asked["/robots.txt"]) == (0, 1)


def test_while_robots_txt_cannot_be_read_nothing_is_asked_for(site: Site, web: HttpWeb) -> None:
    site.answers["/robots.txt"] = page("", status=503)
    refused = refusal_of(web, site.url("/"))
    assert (refused.reason, refused.retryable, site.asked["/"]) == ("robots_forbidden", True, 0)


def test_an_endless_robots_txt_is_read_to_its_limit(site: Site, web: HttpWeb) -> None:
    site.answers["/robots.txt"] = _endless_body
    assert web.fetch(site.url("/")).status == 200


def test_requests_to_one_host_keep_their_distance(site: Site) -> None:
    with HttpWeb(site.config(host_seconds=0.2)) as web, ThreadPoolExecutor(4) as pool:
        began = time.monotonic()
        assert [f.status for f in pool.map(lambda _n: web.fetch(site.url("/")), range(4))] == [200] * 4
        assert time.monotonic() - began >= 0.59


def test_many_threads_share_it(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        fetched = list(pool.map(lambda n: web.fetch(site.url("/plan.pdf"), into=tmp_path / str(n)), range(64)))
    assert {f.sha256 for f in fetched} == {hashlib.sha256(PDF).hexdigest()}
    assert len(list(tmp_path.iterdir())) == 64


def test_closing_it_ends_the_calls_under_way(site: Site, tmp_path: Path) -> None:
    web = HttpWeb(site.config(total_seconds=60.0, read_seconds=60.0))
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(web.fetch, site.url("/drip"), into=tmp_path / "file")
        while not site.asked["/drip"]:
            threading.Event().wait(0.01)
        began = time.monotonic()
        web.close()
        with pytest.raises(Refusal) as refused:
            call.result(5)
        assert time.monotonic() - began < 2
    assert (refused.value.reason, refused.value.retryable) == ("connection_failed", True)
    assert list(tmp_path.iterdir()) == []
    assert refusal_of(web, site.url("/")).reason == "connection_failed"


def test_an_interrupt_leaves_no_file(tmp_path: Path) -> None:
    interrupted: Iterator[bytes | BaseException] = iter([b"some", KeyboardInterrupt()])

    def chunks() -> Iterator[bytes]:
        for item in interrupted:
            if isinstance(item, BaseException):
                raise item
            yield item

    with pytest.raises(KeyboardInterrupt):
        receive(chunks(), tmp_path / "file", "http://h/", 100)
    assert list(tmp_path.iterdir()) == []


def test_the_limits_without_any_given_are_the_configured_ones(site: Site, tmp_path: Path) -> None:
    with HttpWeb(site.config(page_bytes=10, max_bytes=1000)) as web:
        assert refusal_of(web, site.url("/")).reason == "too_large"
        assert web.fetch(site.url("/short.txt"), into=tmp_path / "a").size == 19
        assert refusal_of(web, site.url("/plan.pdf"), into=tmp_path / "b").reason == "too_large"


def test_the_default_limits_let_no_private_place_through() -> None:
    with HttpWeb(WebConfig(host_seconds=0.0)) as web:
        for url in ("http://127.0.0.1/", "http://[::1]/", "http://localhost/", "http://169.254.169.254/latest/"):
            assert refusal_of(web, url).reason == "address_forbidden"
    assert QUICK.intranet == ()


def test_a_page_that_is_streamed_to_a_file_is_bounded_as_a_page(site: Site, tmp_path: Path) -> None:
    with HttpWeb(site.config(page_bytes=1000, max_bytes=10_000_000)) as web:
        for path in ("/long", "/xhtml", "/long-unannounced"):
            refusal = refusal_of(web, site.url(path), into=tmp_path / "x", max_bytes=10_000_000)
            assert (refusal.reason, "limit is 1,000 bytes" in str(refusal)) == ("too_large", True)
        web.fetch(site.url("/plan.pdf"), into=tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_where_only_pages_are_accepted_a_file_ends_at_its_head(site: Site, web: HttpWeb) -> None:
    with pytest.raises(NotAPage) as caught:
        web.fetch(site.url("/plan.pdf"), accept=PAGES_ONLY)
    head = caught.value.head
    assert (head.url, head.media_type, head.body) == (site.url("/plan.pdf"), "application/pdf", b"")
    assert web.fetch(site.url("/long"), accept=PAGES_ONLY).body == b"<p>" + b"x" * 5000
