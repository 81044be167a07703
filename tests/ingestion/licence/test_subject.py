"""A licence frees what it speaks of, what limits it is kept, and usual grants are met."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ingestion.licence.check import decide
from ingestion.licence.patterns import read_statements
from ingestion.types.licence import LicenceVerdict

with Path(__file__).with_name("statements.tsv").open(encoding="utf-8", newline="") as file:
    STATEMENTS = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def verdict(text: str) -> LicenceVerdict:
    return decide(read_statements(text, "page"))


@pytest.mark.parametrize("row", [row for row in STATEMENTS if row["light"] != "GREEN"], ids=lambda row: row["text"])
def test_what_only_sounds_free_speaks_of_something_else_or_contradicts_itself_frees_no_page(
    row: dict[str, str],
) -> None:
    found = verdict(row["text"])
    assert (found.light, found.conflict) == (row["light"], row["conflict"] == "yes")


@pytest.mark.parametrize("row", [row for row in STATEMENTS if row["light"] == "GREEN"], ids=lambda row: row["text"])
def test_usual_grants_are_met_with_what_limits_them(row: dict[str, str]) -> None:
    found = verdict(row["text"])
    assert (found.light, ",".join(found.restrictions)) == ("GREEN", row["restrictions"])


def test_a_ban_far_from_the_licence_limits_nothing() -> None:
    talk = "The river rose in the night. " * 8
    text = f"This report is licensed under CC BY 4.0. {talk} Commercial use of the ford is prohibited."
    assert verdict(text).restrictions == ()


def test_a_permission_of_commercial_use_is_no_ban() -> None:
    text = "This work is licensed under CC BY 4.0. You may use it for any purpose, commercial and non-commercial."
    assert verdict(text).restrictions == ()
