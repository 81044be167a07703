from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ingestion.extraction.properties import declared_of
from ingestion.types import FileProperties


def test_the_first_that_says_anything_counts_and_is_put_on_one_line() -> None:
    declared = declared_of(title=[None, "  ", "Flood\n plan"], authors=["A", "B", "A", ""], date=["", "2016", "2017"])
    assert declared == FileProperties(title="Flood plan", authors=("A", "B"), date="2016")


def test_what_a_file_declares_at_length_is_cut() -> None:
    declared = declared_of(title=["x" * 10_000], keywords=[f"word {n}" for n in range(1_000)])
    assert len(declared.title) == 500
    assert len(declared.keywords) == 30


def test_it_survives_being_kept_as_json() -> None:
    declared = FileProperties(title="Flood plan", authors=("A",), margins=("Bulletin, May 2019",))
    kept: dict[str, Any] = json.loads(json.dumps(asdict(declared)))
    again: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in kept.items()}
    assert FileProperties(**again) == declared
