"""What people read in the real documents is complete and well formed, and the rules find most of it."""

from __future__ import annotations

import csv
import importlib
import re
from datetime import date
from pathlib import Path

import pytest

from ingestion.taxonomy import load_taxonomy
from rag_engine.geography import load_gazetteer
from tests.conftest import ROOT

COLUMNS = [
    "file",
    "language",
    "title",
    "document_type",
    "authority",
    "geographical_level",
    "countries",
    "date",
    "note",
]
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
        assert list(row) == COLUMNS, row["file"]
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


@pytest.mark.needs("tesseract")
def test_the_deterministic_extractor_meets_its_bars(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    benchmark = importlib.import_module("metadata")
    truths = benchmark.read_truth()
    scores = {
        score.field: score
        for score in benchmark.measure(truths, benchmark.describe_all(truths, shared / "data" / "corpus"))
    }
    below = {field: scores[field].missed for field, bar in benchmark.BARS.items() if scores[field].share < bar}
    assert below == {}
