"""Hosts whose names alone tell if their works are free: the domains of data/licences.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from ingestion.types.licence import LicenceMark, Light
from rag_engine.config import DATA

_ELSEWHERE = re.compile(r"://|%3a%2f%2f|(?:^|&)(?:url|target|goto|redirect|link|dest)=", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class TrustedDomain:
    """A host whose name alone says something of the licence, and the notice that it rests on.

    GREEN frees all it publishes, with this score.
    """

    suffix: str
    licence: str
    light: Light
    terms: str
    score: float

    def covers(self, host: str) -> bool:
        """Return whether the host is this one or below it, by whole labels."""
        return host == self.suffix or host.endswith(f".{self.suffix}")


@cache
def _trusted_domains() -> tuple[TrustedDomain, ...]:
    table = tomllib.loads((DATA / "licences.toml").read_text(encoding="utf-8"))
    rows = ({"light": "GREEN", **row} for row in table["domains"])
    plain = {"GREEN": table["scores"]["plain"]}
    return tuple(
        TrustedDomain(row["suffix"], row["licence"], row["light"], row["terms"], plain.get(row["light"], 0.0))
        for row in rows
    )


def domain_mark(url: str) -> LicenceMark | None:
    """Return the mark of a host's name, by whole labels; None for a host outside the table.

    An address has no mark if browsers could read it in another way, or if its query leads elsewhere.
    """
    if re.search(r"[\\\s\x00-\x20]", url):
        return None
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not _HOST.fullmatch(host):
        return None
    found = next((domain for domain in _trusted_domains() if domain.covers(host)), None)
    if found is None or (found.light == "GREEN" and (port not in (None, 80, 443) or _ELSEWHERE.search(parts.query))):
        return None
    rule = f"domain {found.suffix}"
    return LicenceMark(
        "domain", found.light, found.licence, found.score, host, f"trusted {rule}, by its notice {found.terms}", rule
    )
