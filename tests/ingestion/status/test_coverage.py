"""Coverage: what is counted, and which gaps are worth telling."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.status.coverage import UNKNOWN, MissingPair, MissingYears, UnknownValues, coverage
from rag_engine.types import DocumentRecord, Metadata


def record(
    year: int | None = None, language: str = "en", hazards: Sequence[str] = (), country: str = ""
) -> DocumentRecord:
    countries = (country,) if country else ()
    metadata = Metadata("T", language, year=year, hazards=tuple(hazards), countries=countries)
    return DocumentRecord(1, "", "", "", "", "", 1, 0, 0, 0, 0, "", metadata)


def test_years_stand_in_order_and_other_values_by_their_number() -> None:
    found = coverage([record(2020, "pt"), record(2011, "en"), record(2011, "en")])
    assert list(found.counts["year"].items()) == [("2011", 2), ("2020", 1)]
    assert list(found.counts["language"].items()) == [("en", 2), ("pt", 1)]
    assert found.counts["country"] == {UNKNOWN: 3}


def test_a_gap_in_the_years_is_told_as_a_span() -> None:
    found = coverage([record(year) for year in (2012, 2013, 2014, 2019, 2021)])
    assert [gap for gap in found.gaps if isinstance(gap, MissingYears)] == [MissingYears(2015, 2018)]


def test_what_is_much_older_than_the_rest_leaves_no_gap_behind_it() -> None:
    found = coverage([record(year) for year in (1949, 2015, 2016, 2017, 2018)])
    assert not any(isinstance(gap, MissingYears) for gap in found.gaps)


def test_a_hazard_that_no_document_of_a_language_or_country_is_about_is_told() -> None:
    heat = [record(hazards=["Heatwaves"], country="Italy")] * 2
    found = coverage([*heat, record(language="pt"), record(language="pt", country="Brazil"), record(country="Brazil")])
    assert [gap for gap in found.gaps if isinstance(gap, MissingPair)] == [
        MissingPair("Heatwaves", "country", "Brazil"),
        MissingPair("Heatwaves", "language", "pt"),
    ]


def test_a_single_document_of_a_language_makes_no_gap() -> None:
    found = coverage([record(hazards=["Flood"]), record(hazards=["Flood"]), record(language="tr")])
    assert not any(isinstance(gap, MissingPair) for gap in found.gaps)


def test_what_is_not_known_is_told_with_its_number() -> None:
    assert UnknownValues("year", 1) in coverage([record(2020), record()]).gaps
    assert UnknownValues("year", 2) in coverage([record(), record()]).gaps
    assert coverage([]).gaps == ()
