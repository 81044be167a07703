from __future__ import annotations

import pytest

from ingestion.config import PROFILES, read_ingestion_config
from rag_engine.errors import InputError


def test_nothing_set_gives_the_gentle_profile_and_no_intranet() -> None:
    config = read_ingestion_config()
    assert (config.quality, config.web.intranet) == (PROFILES["default"], ())


def test_a_threshold_of_ones_own_takes_the_place_of_the_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_QUALITY", "paper")
    monkeypatch.setenv("SEXTANT_MINIMUM_PAGES", "2")
    monkeypatch.setenv("SEXTANT_MINIMUM_READABILITY", "0.25")
    quality = read_ingestion_config().quality
    assert (quality.minimum_bytes, quality.minimum_pages, quality.minimum_readability) == (200_000, 2, 0.25)


@pytest.mark.parametrize("name", ["SEXTANT_MINIMUM_PAGES", "SEXTANT_HOST_SECONDS", "SEXTANT_WEB_MEGABYTES"])
def test_what_is_no_number_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "many")
    with pytest.raises(InputError, match=f"{name}: .*='many'"):
        read_ingestion_config()


def test_an_unknown_profile_is_named_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_QUALITY", "strict")
    with pytest.raises(InputError, match="default, paper"):
        read_ingestion_config()
