"""Configuration of ingestion: every threshold with its default, made of the settings once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from ingestion.file_reading import ExtractionLimits
from rag_engine.config import default_workspace
from rag_engine.settings import environment_value, read_settings

ProfileName = Literal["default", "paper"]


@dataclass(frozen=True, slots=True)
class WebConfig:
    """Limits of the network: seconds and bytes.

    `host_seconds` is the least time between two requests to one host; robots.txt may ask for more, up to `most_delay`.
    `intranet` names hosts, addresses or networks (host, host:port, 10.1.0.0/16) that may be fetched although they are
    not public. `tries` counts requests for what may pass (429, 503, broken connections), with `backoff` seconds before
    the second one, doubled each time.
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
    """Bounds of exploring a portal (Buriasco 2026): levels, links on each level, documents in all."""

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
    """Similarities (0..1) from which two documents count as one.

    They are of titles, of text (Jaccard of word shingles) and of meaning across languages.
    """

    title_similarity: float = 0.85
    text_similarity: float = 0.85
    translation_similarity: float = 0.82
    preferred_languages: tuple[str, ...] = ("en",)


@dataclass(frozen=True, slots=True)
class IngestionConfig:
    """Settings of all phases.

    `scope` is what documents must be about: a preset's name, or words; empty for anything. `model_seconds` is the limit
    of a short request to the language model; `PacedModel` gives longer requests more.
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


def read_ingestion_config(workspace: Path | None = None) -> IngestionConfig:
    """Return the configuration of ingestion that the settings of a workspace make.

    Without `workspace` it is the default one of `read_config`. A threshold that is set replaces that of the profile.
    """
    value = read_settings(workspace or default_workspace()).value
    profile: ProfileName = value("quality")
    quality = PROFILES[profile]
    thresholds = {one.name: value(one.name) for one in fields(quality) if one.name.startswith("minimum_")}
    return IngestionConfig(
        web=WebConfig(
            intranet=value("intranet", ()),
            host_seconds=value("host_seconds"),
            total_seconds=value("web_seconds"),
            max_bytes=int(value("web_megabytes") * 1e6),
        ),
        quality=replace(quality, **{name: one for name, one in thresholds.items() if one is not None}),
        profile=profile,
        # White space separates codes as well as a comma does.
        deduplication=DeduplicationConfig(
            preferred_languages=tuple(" ".join(value("preferred_languages")).lower().split())
        ),
        scope=value("scope", ""),
        model_seconds=value("model_seconds"),
    )


def user_name() -> str:
    """Return SEXTANT_USER, the author of decisions that name no other; "" if it is not set."""
    return environment_value("user")
