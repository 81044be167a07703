"""The table of what the real documents say is complete and well formed, and the rules find most of it."""

from __future__ import annotations

import csv
import importlib
import re
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

from ingestion.metadata.taxonomy import load_taxonomy
from rag_engine.geography import load_gazetteer
from tests.conftest import ROOT

COLUMNS = (
    *("file", "language", "title", "document_type", "authority"),
    *("geographical_level", "countries", "date", "target", "note"),
)
Row = dict[str, str]


def rows() -> list[Row]:
    with (ROOT / "data" / "eval" / "corpus_metadata.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def alternatives(cell: str) -> list[str]:
    return [part.strip() for part in cell.split("||")] if cell else []


def test_every_real_document_has_one_row(shared: Path) -> None:
    files = sorted(path.name for path in (shared / "data" / "corpus").iterdir() if ".expected." not in path.name)
    assert sorted(row["file"] for row in rows()) == files


def test_every_row_has_all_columns_and_says_where_it_stands() -> None:
    for row in rows():
        assert tuple(row) == COLUMNS, row["file"]
        assert all(value is not None and value == value.strip() for value in row.values()), row["file"]
        assert row["note"], row["file"]
        assert len(row["language"]) == 2, row["file"]
        for column in ("title", "document_type", "authority", "geographical_level", "date"):
            found = alternatives(row[column])
            assert all(found), (row["file"], column)
            assert len(set(found)) == len(found), (row["file"], column)


def test_types_levels_and_countries_are_those_that_the_product_knows() -> None:
    taxonomy, countries = load_taxonomy(), set(load_gazetteer().countries.values())
    for row in rows():
        types = alternatives(row["document_type"])
        assert types, row["file"]
        assert set(types) <= set(taxonomy.labels("document_type")), row["file"]
        assert set(alternatives(row["geographical_level"])) <= set(taxonomy.labels("geographical_level")), row["file"]
        assert set(filter(None, row["countries"].split(";"))) <= countries, row["file"]


def test_a_document_is_national_exactly_where_it_has_a_country() -> None:
    for row in rows():
        assert bool(row["countries"]) == (row["geographical_level"] == "National"), row["file"]


def test_dates_are_iso_dates_or_their_beginnings() -> None:
    for row in rows():
        for one in alternatives(row["date"]):
            assert re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", one), row["file"]
            assert date(1900, 1, 1) < date.fromisoformat(f"{one}-01-01"[:10]) < date(2027, 1, 1), row["file"]


@pytest.fixture
def benchmark() -> ModuleType:
    return importlib.import_module("benchmarks.pipeline.metadata")


def test_an_answer_counts_only_where_the_document_gives_it(benchmark: ModuleType) -> None:
    def described(title: str, authority: str, day: str, countries: str = "") -> object:
        title_, body, when, level = (tuple(filter(None, [one])) for one in (title, authority, day, "National"))
        return benchmark.Described("a.pdf", "en", title_, ("Law",), body, level, frozenset(countries.split()), when, ())

    def right(truth: object, found: object) -> set[str]:
        return {score.field for score in benchmark.measure([truth], [found]) if score.share == 1}

    always = {"language", "document_type", "target"}
    places = {"level and countries", "countries alone"}
    truth = described("Kat Mülkiyeti Kanunu", "UNFCCC", "1965-06-23", "Turkey")
    full = "United Nations Framework Convention on Climate Change"
    alike = described("KAT MÜLKİYETİ KANUNU", full, "1965", "Turkey")
    assert right(truth, alike) == always | places | {"title", "authority", "date"}
    assert right(truth, truth) == right(truth, alike) | {"date, to the day"}
    assert right(truth, described("", "", "")) == always
    assert right(truth, described("Yangın", "UNESCO", "1966", "Turkey Italy")) == always
    silent = described("", "", "")
    assert right(silent, silent) == right(truth, truth)
    assert right(silent, truth) == always


@pytest.mark.needs("tesseract")
def test_the_deterministic_extractor_meets_its_bars(shared: Path, benchmark: ModuleType) -> None:
    truths = benchmark.read_truth()
    scores = {
        score.field: score
        for score in benchmark.measure(truths, benchmark.describe_all(truths, shared / "data" / "corpus"))
    }
    below = {field: scores[field].missed for field, bar in benchmark.BARS.items() if scores[field].share < bar}
    assert below == {}
    assert {field: one.missed for field, one in scores.items() if one.wrong > benchmark.MOST_WRONG * one.files} == {}
