"""Configuration of ingestion: every threshold with its default; read from the environment once, at the edge."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from ingestion.types import ExtractionLimits
from rag_engine.config import number_setting
from rag_engine.errors import InputError

ProfileName = Literal["default", "paper"]


@dataclass(frozen=True, slots=True)
class WebConfig:
    """Limits of the network: seconds and bytes.

    `host_seconds` is the least time between two requests to one host (robots.txt may ask for more, up to
    `most_delay`); `intranet` names hosts, addresses or networks (host, host:port, 10.1.0.0/16) that may be fetched
    although they are not public. `tries` counts requests for what may pass (429, 503, broken connections), with
    `backoff` seconds before the second one, doubled each time.
    """

    user_agent: str = "Sextant/0.1 (document collection for policy analysis)"
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    total_seconds: float = 120.0
    max_bytes: int = 200_000_000
    page_bytes: int = 10_000_000
    redirects: int = 8
    host_seconds: float = 1.0
    most_delay: float = 30.0
    tries: int = 3
    backoff: float = 1.0
    parallel: int = 8
    browser: bool = True
    browser_seconds: float = 45.0
    intranet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PortalConfig:
    """Bounds of exploring a portal (Buriasco 2026): levels below it, links followed on each, documents in all."""

    depth: int = 2
    per_level: int = 5
    most_documents: int = 50
    most_pages: int = 40
    direct_similarity: float = 0.25


@dataclass(frozen=True, slots=True)
class QualityConfig:
    """Thresholds that a document must reach; the title blacklist is in data/quality.toml.

    `published_score` computes the score by the paper's formula.
    """

    minimum_bytes: int = 0
    minimum_pages: int = 1
    minimum_characters: int = 400
    minimum_readability: float = 0.5
    minimum_score: float = 0.0
    published_score: bool = False


# The paper drops files below 200,000 bytes and documents below four pages.
PROFILES: dict[ProfileName, QualityConfig] = {
    "default": QualityConfig(),
    "paper": QualityConfig(
        minimum_bytes=200_000, minimum_pages=4, minimum_characters=0, minimum_readability=0.0, published_score=True
    ),
}


@dataclass(frozen=True, slots=True)
class DeduplicationConfig:
    """Similarity (0..1) from which two documents are one: of titles, of text (Jaccard of word shingles), of meaning."""

    title_similarity: float = 0.85
    text_similarity: float = 0.85
    translation_similarity: float = 0.82
    preferred_languages: tuple[str, ...] = ("en",)


@dataclass(frozen=True, slots=True)
class IngestionConfig:
    """Settings of all phases.

    `scope` is what documents must be about: a preset's name, or words; empty for anything.
    `model_seconds` are what a short request to the language model may take; `PacedModel` gives longer ones more.
    """

    web: WebConfig = field(default_factory=WebConfig)
    portals: PortalConfig = field(default_factory=PortalConfig)
    quality: QualityConfig = field(default_factory=QualityConfig)
    deduplication: DeduplicationConfig = field(default_factory=DeduplicationConfig)
    limits: ExtractionLimits = field(default_factory=ExtractionLimits)
    profile: ProfileName = "default"
    extraction_processes: int = 2
    scope: str = ""
    model_seconds: float = 90.0
    use_model: bool = True


def read_ingestion_config() -> IngestionConfig:
    """Return configuration from the environment.

    SEXTANT_INTRANET (hosts or networks, by commas), SEXTANT_HOST_SECONDS, SEXTANT_WEB_SECONDS, SEXTANT_WEB_MEGABYTES,
    SEXTANT_QUALITY (default or paper), SEXTANT_MINIMUM_BYTES, _PAGES, _CHARACTERS, _READABILITY, _SCORE (each in place
    of the profile's), SEXTANT_PREFERRED_LANGUAGES (codes, the first is preferred),
    SEXTANT_SCOPE, SEXTANT_MODEL_SECONDS.
    """
    env = os.environ
    profile = env.get("SEXTANT_QUALITY", "default")
    if profile not in PROFILES:
        raise InputError(f"SEXTANT_QUALITY is {profile!r}.", help=f"Choose one of {', '.join(PROFILES)}.")
    intranet = tuple(part.strip() for part in env.get("SEXTANT_INTRANET", "").split(",") if part.strip())
    web = WebConfig(
        intranet=intranet,
        host_seconds=number_setting("SEXTANT_HOST_SECONDS", 1.0),
        total_seconds=number_setting("SEXTANT_WEB_SECONDS", 120.0),
        max_bytes=int(number_setting("SEXTANT_WEB_MEGABYTES", 200.0) * 1e6),
    )
    languages = tuple(env.get("SEXTANT_PREFERRED_LANGUAGES", "en").replace(",", " ").lower().split())
    return IngestionConfig(
        web=web,
        quality=_quality(PROFILES[profile]),
        profile=profile,
        deduplication=DeduplicationConfig(preferred_languages=languages),
        scope=env.get("SEXTANT_SCOPE", ""),
        model_seconds=number_setting("SEXTANT_MODEL_SECONDS", 90.0),
    )


def user_name() -> str:
    """Return the name that decisions bear unless another is given, from SEXTANT_USER; empty where that is not set."""
    return os.environ.get("SEXTANT_USER", "")


def _quality(profile: QualityConfig) -> QualityConfig:
    """Return the profile with the thresholds that are set one by one."""
    set_ = {
        one.name: type(getattr(profile, one.name))(
            number_setting(f"SEXTANT_{one.name.upper()}", float(getattr(profile, one.name)))
        )
        for one in fields(profile)
        if one.name.startswith("minimum_")
    }
    return replace(profile, **set_)
