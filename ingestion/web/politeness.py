"""Politeness policy: robots.txt and a rate limiter for each host, for requests and browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from protego import Protego

from ingestion.config import WebConfig
from ingestion.keyed_locks import KeyedLocks
from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import Target, read_target

_DAY = 86_400.0
# A robots.txt that could not be had is asked for again after this time, so that a dead host costs one attempt.
_FAILED_SECONDS = 300.0
# RFC 9309 asks for at least 500 KiB to be read; what follows is not read.
MOST_ROBOTS_BYTES = 512 * 1024
_MOST_PAIRS = 5_000_000
# The status and the text behind a robots.txt address; Refusal when the host cannot be reached.
FetchRobots = Callable[[str], tuple[int, str]]


class RateLimiter:
    """Rate limiter: when each host may next be asked. For several threads.

    `ended` releases those who wait.
    """

    def __init__(self, ended: threading.Event | None = None) -> None:
        self._ended = ended or threading.Event()
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def wait(self, host: str, delay: float) -> float:
        """Wait for a turn and return the seconds waited.

        The next turn is `delay` seconds later at the earliest.
        """
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next.get(host, now))
            self._next[host] = start + delay
            if len(self._next) > 10_000:
                self._next = {name: at for name, at in self._next.items() if at > now}
        if start > now:
            self._ended.wait(start - now)
        return time.monotonic() - now

    def postpone(self, host: str, seconds: float) -> None:
        """Postpone the next request to the host by these seconds."""
        with self._lock:
            self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + seconds)


@dataclass(frozen=True, slots=True)
class _RobotsRules:
    """One origin's robots.txt.

    Its rules, or the refusal that covers all of it, until `expires` (monotonic).
    """

    rules: Protego | None
    refusal: Refusal | None
    expires: float


class PolitenessPolicy:
    """Politeness policy of one client.

    Permission by robots.txt, and the wait at each host. For several threads.

    robots.txt is read once a day for each origin (RFC 9309). Without one (4xx) all is allowed. If the server fails
    (5xx, or 429) nothing is allowed for now.
    """

    def __init__(
        self,
        config: WebConfig,
        fetch_robots: FetchRobots,
        *,
        limiter: RateLimiter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._fetch_robots = fetch_robots
        self._limiter = limiter or RateLimiter()
        self._clock = clock
        self._token = product_token(config.user_agent)
        self._locks = KeyedLocks()
        self._known: dict[str, _RobotsRules] = {}

    def check(self, url: str) -> None:
        """Refuse an address that robots.txt forbids (robots_forbidden), or whose host cannot be reached."""
        target = read_target(url)
        known = self._rules_for(target)
        if known.refusal is not None:
            # A fresh one each time: an exception carries the traceback of the thread that raised it.
            raise known.refusal.again() from known.refusal.__cause__
        if known.rules is not None and not known.rules.can_fetch(target.url, self._token):
            raise Refusal(
                "robots_forbidden",
                "The robots.txt of {origin} does not allow {url}.",
                origin=target.origin,
                url=target.url,
            )

    def wait(self, url: str) -> float:
        """Wait until the address's host may be asked again, and return the seconds waited."""
        target = read_target(url)
        known = self._known.get(target.origin)
        asked = known.rules.crawl_delay(self._token) if known and known.rules else None
        delay = max(self._config.host_seconds, min(asked or 0.0, self._config.most_delay))
        return self._limiter.wait(target.host, delay)

    def postpone(self, url: str, seconds: float) -> None:
        """Postpone every request to the address's host by the seconds that it asked for."""
        self._limiter.postpone(read_target(url).host, min(seconds, self._config.most_delay))

    def _rules_for(self, target: Target) -> _RobotsRules:
        # Others who ask for the same origin wait for the one robots.txt; other origins go on.
        with self._locks.held(target.origin):
            known = self._known.get(target.origin)
            if known is None or known.expires <= self._clock():
                known = self._known[target.origin] = self._read(target)
        return known

    def _read(self, target: Target) -> _RobotsRules:
        try:
            status, text = self._fetch_robots(f"{target.origin}/robots.txt")
        except Refusal as unreachable:
            return _RobotsRules(None, unreachable, self._clock() + (_FAILED_SECONDS if unreachable.retryable else _DAY))
        if status >= 500 or status == 429:
            refusal = Refusal(
                "robots_forbidden",
                "{origin}/robots.txt answers {status}: until it can be read, nothing there may be fetched.",
                retryable=True,
                origin=target.origin,
                status=status,
            )
            return _RobotsRules(None, refusal, self._clock() + _FAILED_SECONDS)
        if status >= 300:
            return _RobotsRules(None, None, self._clock() + _DAY)
        # Whether reading takes minutes: the work is that of every rule for every name in front of it.
        lines = text.splitlines()
        names = sum(line.lstrip()[:4].lower() in ("user", "\ufeffuse") for line in lines)
        if names * (len(lines) - names) > _MOST_PAIRS:
            refusal = Refusal(
                "robots_forbidden", "{origin}/robots.txt holds more rules than can be read.", origin=target.origin
            )
            return _RobotsRules(None, refusal, self._clock() + _DAY)
        return _RobotsRules(Protego.parse(text.removeprefix("\ufeff")), None, self._clock() + _DAY)


def product_token(user_agent: str) -> str:
    """Return the name by which a robots.txt calls us: "Sextant/0.1 (...)" is Sextant."""
    return user_agent.split("/", maxsplit=1)[0].split(" ", maxsplit=1)[0].strip() or "*"
