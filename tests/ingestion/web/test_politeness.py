from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.web.politeness import PolitenessPolicy, RateLimiter, product_token

RULES = """User-agent: *
Disallow: /private

User-agent: sextant
Crawl-delay: 0.2
Disallow: /drafts
Allow: /drafts/public
"""


class _Site:
    """Answers for robots.txt and how often each was asked for."""

    def __init__(self, status: int = 200, text: str = RULES) -> None:
        self.status, self.text, self.asked = status, text, 0
        self.now = 0.0

    def fetch(self, url: str) -> tuple[int, str]:
        assert url == "https://h.example/robots.txt"
        self.asked += 1
        return self.status, self.text

    def politeness(self, **changes: float) -> PolitenessPolicy:
        config = WebConfig(**{"host_seconds": 0.0, **changes})  # type: ignore[arg-type]
        return PolitenessPolicy(config, self.fetch, clock=lambda: self.now)


def _allowed(politeness: PolitenessPolicy, path: str) -> bool:
    try:
        politeness.check(f"https://h.example{path}")
    except Refusal as refused:
        return refused.reason != "robots_forbidden"
    return True


def test_the_rules_for_our_own_name_are_kept_to() -> None:
    politeness = _Site().politeness()
    assert not _allowed(politeness, "/drafts/plan.pdf")
    assert _allowed(politeness, "/drafts/public/plan.pdf")
    assert _allowed(politeness, "/private")
    assert product_token(WebConfig().user_agent) == "Sextant"


@pytest.mark.parametrize(
    ("status", "allowed"), [(404, True), (403, True), (410, True), (429, False), (500, False), (503, False)]
)
def test_no_robots_txt_allows_all_and_a_failing_one_nothing(status: int, allowed: bool) -> None:
    assert _allowed(_Site(status).politeness(), "/drafts") == allowed


def test_it_is_asked_for_once_a_day_and_a_failing_one_sooner() -> None:
    site = _Site()
    politeness = site.politeness()
    for site.now in (0, 80_000, 86_401):
        assert not _allowed(politeness, "/drafts")
    assert site.asked == 2
    site = _Site(503)
    politeness = site.politeness()
    assert not _allowed(politeness, "/open")
    site.status, site.now = 200, 400
    assert _allowed(politeness, "/open")


def test_a_host_that_cannot_be_reached_is_refused_for_that_reason() -> None:
    asked = []

    def fetch(url: str) -> tuple[int, str]:
        asked.append(url)
        raise Refusal("certificate_invalid", "The certificate is old.")

    politeness = PolitenessPolicy(WebConfig(), fetch)
    for _time in range(2):
        with pytest.raises(Refusal, match=r"The certificate is old\.") as refused:
            politeness.check("https://h.example/a")
        assert refused.value.reason == "certificate_invalid"
    assert len(asked) == 1


def test_several_threads_ask_for_it_once() -> None:
    site = _Site()
    politeness = site.politeness()
    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(lambda _n: _allowed(politeness, "/drafts"), range(32)))
    assert site.asked == 1


@pytest.mark.parametrize(
    "text", ["\ufeffUser-agent: *\nDisallow: /", "User-agent: *\r\nDisallow: /", "user-agent:*\ndisallow:/"]
)
def test_marks_and_line_ends_do_not_matter(text: str) -> None:
    assert not _allowed(_Site(text=text).politeness(), "/a")


def test_a_page_in_place_of_robots_txt_forbids_nothing() -> None:
    assert _allowed(_Site(text="<html><body>Not found. Disallow: / </body></html>").politeness(), "/a")


def test_a_robots_txt_that_would_take_minutes_to_read_is_not_read() -> None:
    bomb = "".join(f"User-agent: a{n}\n" for n in range(15_000)) + "Allow: /a\n" * 15_000
    began = time.monotonic()
    assert not _allowed(_Site(text=bomb).politeness(), "/a")
    assert time.monotonic() - began < 2
    many = "".join(f"User-agent: a{n}\nDisallow: /{n}\n" for n in range(1_500)) + RULES
    assert not _allowed(_Site(text=many).politeness(), "/drafts")


def test_the_delay_that_robots_txt_asks_for_is_kept_up_to_a_limit() -> None:
    politeness = _Site().politeness()
    politeness.check("https://h.example/")
    politeness.wait("https://h.example/")
    assert politeness.wait("https://h.example/") >= 0.15
    hasty = _Site(text="User-agent: *\nCrawl-delay: 9999").politeness(most_delay=0.1)
    hasty.check("https://h.example/")
    hasty.wait("https://h.example/")
    assert hasty.wait("https://h.example/") < 1


def test_waiting_for_one_host_holds_up_no_other() -> None:
    ended = threading.Event()
    limiter = RateLimiter(ended)
    limiter.wait("slow.example", 60)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(limiter.wait, "slow.example", 60)
        began = time.monotonic()
        assert limiter.wait("other.example", 60) < 0.5
        assert time.monotonic() - began < 0.5
        ended.set()
        assert waiting.result(5) < 5
