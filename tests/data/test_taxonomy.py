"""The taxonomy, the authorities and the regions hold together as tables."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from ingestion.metadata.authorities import load_authorities
from ingestion.metadata.taxonomy import Vocabulary, load_taxonomy
from rag_engine.geography import load_gazetteer
from tests.conftest import ROOT

LANGUAGES = {"en", "it", "es", "fr", "de", "pt", "tr", "no", "nl"}


def _table(name: str) -> dict[str, object]:
    return tomllib.loads((ROOT / "data" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("vocabulary", get_args(Vocabulary))
def test_every_label_has_a_definition_and_terms_in_nine_languages(vocabulary: str) -> None:
    for label in getattr(load_taxonomy(), vocabulary):
        assert len(label.definition) > 20
        assert set(label.terms) >= LANGUAGES, label.name
        assert all(label.terms.values()), label.name


@pytest.mark.parametrize("vocabulary", ["key_criteria", "tags"])
def test_criteria_and_tags_say_the_least_evidence_in_words_and_numbers(vocabulary: str) -> None:
    for label in getattr(load_taxonomy(), vocabulary):
        assert re.search(r"[Aa]t least \w+ statements? in \w+ parts", label.definition), label.name
        assert label.mentions >= 2
        assert label.places >= 2
        assert label.per_thousand > 0


def test_terms_are_written_as_they_are_compared() -> None:
    for vocabulary in get_args(Vocabulary):
        for label in getattr(load_taxonomy(), vocabulary):
            for terms in label.terms.values():
                assert all(re.fullmatch(r"[a-z0-9* ]+", term) for term in terms), (label.name, terms)


def test_the_levels_are_those_that_the_places_know() -> None:
    levels = set(load_taxonomy().labels("geographical_level"))
    assert set(load_gazetteer().levels) < levels
    assert {authority.level for authority in load_authorities().by_name.values()} == levels


def test_countries_of_authorities_and_regions_are_in_the_gazetteer() -> None:
    countries = set(load_gazetteer().countries.values())
    assert {one.country for one in load_authorities().by_name.values() if one.country} <= countries
    assert set(_table("subnational.toml")) <= countries


def test_only_national_bodies_have_a_country_and_bodies_of_the_union_are_european() -> None:
    authorities = load_authorities().by_name.values()
    assert len(authorities) >= 150
    for one in authorities:
        assert (one.level == "National") == bool(one.country), one.name
        if any(domain.endswith("europa.eu") for domain in one.domains):
            assert one.level == "European region", one.name


def test_no_domain_belongs_to_two_authorities() -> None:
    domains = [domain for one in load_authorities().by_name.values() for domain in one.domains]
    assert len(domains) == len(set(domains))
    assert all(re.fullmatch(r"[a-z0-9.-]+", domain) for domain in domains)


def test_the_tables_are_utf8_without_control_characters() -> None:
    for name in ("taxonomy.toml", "authorities.toml", "subnational.toml"):
        text = Path(ROOT / "data" / name).read_text(encoding="utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]", text)
