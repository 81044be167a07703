"""No text that reserves rights, contradicts itself or speaks of something else comes out GREEN."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ingestion.licence.check import decide
from ingestion.licence.patterns import read_statements
from ingestion.types.licence import LicenceVerdict
from tests.conftest import ROOT
from tests.ingestion.licence.marks import read_marks

FILES = ("licences.tsv", "licence_statements.tsv", "licence_clauses.tsv")
LANGUAGES = ("en", "it", "es", "fr", "de", "pt", "tr", "no", "nl")
Row = dict[str, str]


def read(name: str) -> list[Row]:
    with Path(ROOT / "data" / "eval" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def judged(row: Row, text: str | None = None) -> LicenceVerdict:
    page = f'<link rel="license" href="{row["link"]}">' if row.get("link") else ""
    said = read_statements(row["text"] if text is None else text, "page")
    return decide([*read_marks(page, "https://example.org/"), *said])


@pytest.mark.parametrize("name", FILES)
def test_nothing_reserved_or_contradictory_comes_out_green(name: str) -> None:
    dangerous = [row for row in read(name) if row["light"] == "RED" or row["conflict"]]
    assert len(dangerous) > 30
    assert [row["id"] for row in dangerous if judged(row).light == "GREEN"] == []


def test_a_free_statement_beside_a_reserved_one_is_never_green() -> None:
    rows = read("licence_statements.tsv")
    free = [row for row in rows if row["light"] == "GREEN"]
    reserved = [row for row in rows if row["light"] == "RED"]
    assert {row["lang"] for row in reserved} == set(LANGUAGES)
    for one in free:
        for other in reserved:
            for text in (f"{one['text']} {other['text']}", f"{other['text']}\n\n{one['text']}"):
                assert judged(one, text).light != "GREEN", text


@pytest.mark.parametrize("name", FILES)
def test_what_is_yellow_by_reading_does_not_come_out_green(name: str) -> None:
    assert [row["id"] for row in read(name) if row["light"] == "YELLOW" and judged(row).light == "GREEN"] == []


@pytest.mark.parametrize(
    ("name", "least"), [("licences.tsv", 0.9), ("licence_statements.tsv", 0.97), ("licence_clauses.tsv", 0.8)]
)
def test_most_free_texts_are_found_with_their_restrictions(name: str, least: float) -> None:
    rows = [row for row in read(name) if row["light"] == "GREEN"]
    right = [row for row in rows if judged(row).light == "GREEN"]
    assert len(right) >= least * len(rows)
    assert [row["id"] for row in right if ",".join(judged(row).restrictions) != row["restrictions"]] == []


def test_a_statement_about_something_else_frees_nothing() -> None:
    rows = [row for row in read("licence_clauses.tsv") if row["subject"] != "document"]
    assert {row["subject"] for row in rows} == {"part", "data", "quoted", "comment", "other"}
    assert len(rows) > 70
    assert [row["id"] for row in rows if judged(row).light == "GREEN"] == []


def test_there_are_five_hundred_clauses_in_nine_languages() -> None:
    rows = [row for name in FILES for row in read(name)]
    assert len(rows) >= 500
    for language in LANGUAGES:
        assert sum(row["lang"] == language for row in rows) >= 30


def test_every_language_has_its_statements_in_every_light() -> None:
    rows = read("licence_statements.tsv")
    assert len(rows) >= 120
    for language in LANGUAGES:
        own = [row for row in rows if row["lang"] == language]
        assert len(own) >= 13
        assert {row["light"] for row in own} == {"GREEN", "YELLOW", "RED"}
        assert any(row["conflict"] for row in own)


@pytest.mark.parametrize("name", FILES)
def test_the_tables_are_well_formed(name: str) -> None:
    rows = read(name)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["light"] in ("GREEN", "YELLOW", "RED")
        assert row["conflict"] in ("", "yes")
        assert set(filter(None, row["restrictions"].split(","))) <= {"NC", "ND", "SA"}
        assert not row["conflict"] or row["light"] == "YELLOW"
