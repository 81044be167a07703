from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.extraction.assemble import DraftBlock, DraftLine, assemble
from ingestion.extraction.layout.title import choose_title, looks_like_title


@pytest.mark.parametrize(
    "declared",
    [
        "Microsoft Word - cp7a1.doc",
        "untitled",
        "M:\\WPF\\INPUT\\G9860815.WPD",
        "FCCC/CP/1999/6/Add.1",
        "L13709",
        "5.4.9 Comparison of Criteria with Values Derived in this Report",
        "",
    ],
)
def test_file_names_document_numbers_and_sections_are_no_titles(declared: str) -> None:
    assert not looks_like_title(declared)


def test_the_end_of_a_captions_line_is_no_title() -> None:
    drafts = [
        DraftBlock(1, "heading", (DraftLine("Notification rates of reported cases (cases"),), 11.0),
        DraftBlock(1, "heading", (DraftLine("per 100,000 population), 2004-2007"),), 14.0),
        DraftBlock(1, "text", (DraftLine("In 2007, a smaller proportion of confirmed cases was reported."),), 10.0),
    ]
    text, _, blocks = assemble(drafts)
    assert "population" not in choose_title("", text, blocks, Path("zoonoses_report.pdf"))


def test_without_a_declared_title_the_largest_heading_of_the_first_page_serves() -> None:
    drafts = [
        DraftBlock(1, "heading", (DraftLine("Ministry of the Interior"),), 12.0),
        DraftBlock(1, "heading", (DraftLine("National Flood"),), 20.0),
        DraftBlock(1, "heading", (DraftLine("Risk Strategy"),), 20.0),
        DraftBlock(2, "heading", (DraftLine("Annex of great size"),), 30.0),
    ]
    text, _, blocks = assemble(drafts)
    assert choose_title("untitled", text, blocks, Path("x.pdf")) == "National Flood Risk Strategy"


def test_without_any_words_the_file_name_is_made_readable() -> None:
    text, _, blocks = assemble([DraftBlock(1, "text", (DraftLine("12"),))])
    assert choose_title("", text, blocks, Path("de_flood-plan.pdf")) == "de flood plan"
