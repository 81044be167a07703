from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from openpyxl import load_workbook

from ingestion.dataset.knowledge_base import knowledge_base_bytes, write_knowledge_base
from rag_engine.errors import InputError
from rag_engine.grounding.knowledge import GroundedContext, GroundedEntry, GroundedQuote, GroundedSource

LEVEE = GroundedEntry(
    id="1",
    index="handbook.pdf",
    term="levee",
    subterm="height of",
    language="en",
    contexts=(GroundedContext(2, "handbook.pdf", 4, "A levee is two metres high."),),
    sources=(
        GroundedSource(1, "abc", "handbook.pdf", "Handbook", 7, 7, 900, 950, "Levees are measured in May.", 0.91),
        GroundedSource(2, "abc", "handbook.pdf", "Handbook", 4, 4, 300, 327, "A levee is two metres high.", None),
    ),
    status="answered",
    text="“A levee is two metres high.” [Source 2]",
    quotes=(GroundedQuote(2, 4, "A levee is two metres high."),),
    support=(),
    generator="extractive",
    warnings=(),
    written="2026-11-24T12:00:00+00:00",
)


def rows(entry: GroundedEntry) -> list[dict[str, object]]:
    sheet = load_workbook(io.BytesIO(knowledge_base_bytes([entry], ".xlsx")))["Knowledge base"]
    heads, *values = sheet.iter_rows(values_only=True)
    return [dict(zip(map(str, heads), one, strict=True)) for one in values]


def test_json_holds_everything_that_is_known_of_an_entry() -> None:
    [read] = json.loads(knowledge_base_bytes([LEVEE], ".json"))
    assert read["term"] == "levee"
    assert [source["cosine"] for source in read["sources"]] == [0.91, None]
    assert read["quotes"] == [{"n": 2, "page": 4, "quote": "A levee is two metres high.", "page_label": None}]


def test_a_row_of_the_workbook_has_the_text_and_each_passage_beside_it() -> None:
    [row] = rows(LEVEE)
    assert (row["Entry"], row["Pages"], row["Written by"]) == ("levee, height of", "4", "quotations only")
    assert row["Passage 1"] == "[Source 1] handbook.pdf, page 7\nLevees are measured in May."
    assert row["Cached query"] == "handbook.pdf, page 4 [Source 2]: A levee is two metres high."
    assert row["Passage 2"] is None


def test_each_document_that_a_text_cites_is_named_with_authority_year_licence_and_its_limits() -> None:
    sources = tuple(replace(one, authority="Dyke Office", year=2021, licence="CC BY-NC 4.0") for one in LEVEE.sources)
    entry = replace(LEVEE, sources=sources)
    [row] = rows(entry)
    assert row["References"] == (
        "[Source 2] Dyke Office, Handbook, 2021, page 4, CC BY-NC 4.0 (no commercial use) (handbook.pdf)"
    )
    [read] = json.loads(knowledge_base_bytes([entry], ".json"))
    assert [(one["licence"], one["limits"]) for one in read["sources"]] == [("CC BY-NC 4.0", ["NC"])] * 2
    [reference] = read["references"]
    assert (reference["sources"], reference["pages"], reference["limits"]) == ([2], [4], ["NC"])


def test_a_text_that_looks_like_a_formula_stays_text() -> None:
    written = knowledge_base_bytes([replace(LEVEE, text="=HYPERLINK(1)", term="=1+1", subterm="")], ".xlsx")
    sheet = load_workbook(io.BytesIO(written))["Knowledge base"]
    assert [(sheet.cell(2, column).value, sheet.cell(2, column).data_type) for column in (2, 4)] == [
        ("=1+1", "s"),
        ("=HYPERLINK(1)", "s"),
    ]


@pytest.mark.parametrize("name", ["base.csv", "base"])
def test_a_name_without_a_known_format_is_refused_with_those_there_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"\.xlsx, \.json"):
        write_knowledge_base(tmp_path / name, [LEVEE])


def test_nothing_is_written_before_an_entry_is_grounded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sextant knowledge build"):
        write_knowledge_base(tmp_path / "base.json", [])
    assert not (tmp_path / "base.json").exists()
