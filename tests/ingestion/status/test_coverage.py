from __future__ import annotations

from collections.abc import Sequence

from ingestion.status.coverage import (
    UNKNOWN,
    MissingPair,
    MissingSince,
    MissingYears,
    UnknownValues,
    coverage,
    coverage_grid,
    filter_of_cell,
)
from rag_engine.types.document import DocumentRecord, Metadata


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


def test_a_country_without_recent_documents_is_told_with_its_last_year() -> None:
    italian = [record(year, country="Italy") for year in (2013, 2015)]
    found = coverage([*italian, record(2014, country="Chile"), record(2020, country="Malta"), record(2021)])
    # Chile has a single document, and Malta one of late.
    assert [gap for gap in found.gaps if isinstance(gap, MissingSince)] == [MissingSince("country", "Italy", 2015)]


def test_few_gaps_are_told_and_of_each_kind_some() -> None:
    hazards = ["Flood", "Drought", "Heatwaves", "Wildfires"]
    heavy = [record(2005, hazards=hazards, country=country) for country in ("Italy", "Chile", "Malta") for _ in "12"]
    found = coverage([*heavy, *(record(2021, language="tr", country="Turkey") for _ in "12"), record()])
    assert len(found.gaps) == 6
    assert {type(gap) for gap in found.gaps} == {MissingSince, MissingPair, MissingYears, UnknownValues}


def test_the_grid_counts_two_facets_together() -> None:
    grid = coverage_grid(
        [record(2020, hazards=["Flood", "Drought"], country="Italy"), record(2021, country="Italy"), record(2021)],
        "country",
        "hazard",
    )
    assert grid.rows == ("Italy", UNKNOWN)
    assert grid.columns == ("Drought", "Flood", UNKNOWN)
    assert dict(grid.counts) == {
        ("Italy", "Drought"): 1, ("Italy", "Flood"): 1, ("Italy", UNKNOWN): 1, (UNKNOWN, UNKNOWN): 1,
    }  # fmt: skip
    assert grid.totals == {"Italy": 2, UNKNOWN: 1}


def test_a_cell_of_the_grid_filters_by_what_it_counts() -> None:
    grid = coverage_grid(
        [record(2020, country="Italy"), record(2021, country="Italy"), record(2021)], "country", "year"
    )
    assert filter_of_cell(grid, 0, "2020-2020") == {
        "country": ("Italy",),
        "year": ("2020-2020",),
        "dated": ("only",),
    }
    assert filter_of_cell(grid, 0, "all") == {"country": ("Italy",)}
    assert filter_of_cell(grid, 1, "2021-2021") == {}
    few = coverage_grid([record(2020, country="Italy"), record(2021, country="Malta")], "country", "year")
    assert filter_of_cell(few, 0, "2021-2021") == {}


def test_years_of_the_grid_are_put_together_where_there_are_many() -> None:
    near = coverage_grid([record(year) for year in (2018, 2020)], "language", "year")
    assert near.columns == ("2018-2018", "2019-2019", "2020-2020")
    far = coverage_grid([record(year) for year in (1949, 1998, 2003, 2007, 2012, 2016, 2020, 2023)], "language", "year")
    assert far.columns == ("1949-1999", *(f"{year}-{year + 1}" for year in range(2000, 2024, 2)))
    assert sum(far.counts.values()) == 8
    assert coverage_grid([record()], "language", "year").columns == (UNKNOWN,)
