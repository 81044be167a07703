from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.extraction.assemble import DraftBlock, DraftLine, assemble, paragraph
from ingestion.extraction.layout.title import choose_title
from ingestion.extraction.table_text import table
from ingestion.file_reading import FileProperties
from ingestion.metadata.titles import find_titles, without_site
from ingestion.types.source import ListedSource
from rag_engine.types.document import Block, BlockKind, ExtractedText
from tests.ingestion.texts import extracted_from

BODY = "The services prepare for floods, warn the people and bring them to safety when the river rises. " * 4


def sized(*lines: tuple[float, str]) -> list[DraftBlock]:
    """Lines of a first page with their sizes, headings where above the body's 10 points, then body text."""
    kinds: list[BlockKind] = ["heading" if size > 10 else "text" for size, _ in lines]
    heads = [DraftBlock(1, kind, (DraftLine(said),), size) for kind, (size, said) in zip(kinds, lines, strict=True)]
    return [*heads, DraftBlock(1, "text", (DraftLine(BODY),), 10.0), DraftBlock(2, "text", (DraftLine(BODY),), 10.0)]


def best(drafts: list[DraftBlock], declared: str = "", media_type: str = "application/pdf") -> str:
    """Return the title that comes first; the extraction, which sees the same, must have chosen it as well."""
    text, lines, blocks, _ = assemble(drafts)
    chosen = choose_title(declared, text, blocks, Path("x9.pdf"))
    extracted = ExtractedText(text, 2, lines, blocks, media_type, chosen)
    found = find_titles(extracted, ListedSource("A"), FileProperties(title=declared))
    assert found[0].value == chosen
    return chosen


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (
            (
                (14, "UNITED NATIONS"),
                (10, "Distr. GENERAL"),
                (10, "FCCC/CP/2007/6/Add.1"),
                (10.5, "CONFERENCE OF THE PARTIES"),
                (
                    14,
                    "Report of the Conference of the Parties on its thirteenth session, held in Bali in 2007",
                ),
                (11, "Addendum"),
                (14, "Part Two: Action taken by the Conference of the Parties"),
                (14, "at its thirteenth session"),
                (11, "CONTENTS"),
                (14, "Decision 1/CP.13 Bali Action Plan"),
            ),
            "Report of the Conference of the Parties on its thirteenth session, held in Bali in 2007. Addendum. "
            "Part Two: Action taken by the Conference of the Parties at its thirteenth session",
        ),
        (
            (
                (18, "Presidência da República"),
                (12, "Secretaria-Geral"),
                (10, "LEI Nº 13.709, DE 14 DE AGOSTO DE 2018"),
                (10, "Texto compilado"),
            ),
            "LEI Nº 13.709, DE 14 DE AGOSTO DE 2018",
        ),
        (
            ((14, "Ministry of Water"), (18, "Republic of Kenya Drought Management Plan 2030")),
            "Republic of Kenya Drought Management Plan 2030",
        ),
        (
            ((16, "United Nations Framework Convention on Climate Change"), (10, "The Parties to this Convention,")),
            "United Nations Framework Convention on Climate Change",
        ),
        (
            ((12, "KAT MÜLKİYETİ KANUNU"), (10, "Kabul Tarihi : 23/6/1965"), (12, "Genel Hükümler")),
            "KAT MÜLKİYETİ KANUNU",
        ),
        (
            ((24, "Costituzione della"), (24, "Repubblica italiana"), (12, "Testo aggiornato")),
            "Costituzione della Repubblica italiana",
        ),
        (
            (
                (11, "DEPARTMENT OF TRANSPORTATION"),
                (11, "Federal Aviation Administration"),
                (11, "14 CFR Part 39"),
                (11, "Airworthiness Directives; The Boeing Company Airplanes"),
            ),
            "Airworthiness Directives; The Boeing Company Airplanes",
        ),
        (
            ((14, "Bundesministerium des Innern"), (15, "Gesetz über den Zivilschutz des Bundes (ZSKG)")),
            "Gesetz über den Zivilschutz des Bundes (ZSKG)",
        ),
        (
            (
                (22, "« Éviter, réduire » l’imperméabilisation planifiée"),
                (22, "dans les documents d’urbanisme"),
                (12, "Janvier 2024"),
            ),
            "« Éviter, réduire » l’imperméabilisation planifiée dans les documents d’urbanisme",
        ),
    ],
)
def test_letterheads_and_references_are_passed_over_and_lines_of_a_title_joined(
    lines: tuple[tuple[float, str], ...], title: str
) -> None:
    assert best(sized(*lines), declared="Microsoft Word - cp6a1.doc") == title


def test_a_declared_title_that_is_printed_is_the_surest() -> None:
    drafts = sized((14, "Ministry of Water"), (12, "National Flood Risk Strategy"))
    text, lines, blocks, _ = assemble(drafts)
    extracted = ExtractedText(text, 2, lines, blocks, "application/pdf", "National Flood Risk Strategy")
    found = find_titles(extracted, ListedSource("A"), FileProperties(title="National Flood Risk Strategy"))
    assert (found[0].value, found[0].confidence, found[0].page) == ("National Flood Risk Strategy", 0.95, 1)


def test_a_declared_title_that_is_left_over_from_another_document_gives_way() -> None:
    drafts = sized((16, "Paris Agreement on the Climate"), (10, "The Parties to this Agreement,"))
    assert best(drafts, declared="Report of the Conference on its session") == "Paris Agreement on the Climate"


def test_a_declared_title_that_is_the_beginning_of_the_printed_one_grows_to_it() -> None:
    drafts = [paragraph("Cahier des Charges des clauses techniques"), paragraph(BODY)]
    assert best(drafts, declared="CAHIER DES CHARGES", media_type="x") == "Cahier des Charges des clauses techniques"


def test_the_lines_of_a_cover_without_sizes_are_joined_up_to_the_date() -> None:
    drafts = [
        paragraph(said)
        for said in (
            "U.S. Department of Justice",
            "Executive Office for Trustees",
            "Handbook for",
            "Chapter 13",
            "Standing Trustees",
            "October 1, 2012",
            "Table of Contents",
            BODY,
        )
    ]
    assert best(drafts) == "Handbook for Chapter 13 Standing Trustees"


def test_sheets_and_columns_are_no_titles_and_a_line_above_the_table_is() -> None:
    columns = table([["Span label", "Pattern name"], ["a", "b"]])
    assert best([paragraph("Rule types", kind="heading"), columns]) == "x9"
    titled = table([["Thresholds of heat warnings"], ["Country", "Degrees"], ["Spain", "36"]])
    assert best([paragraph("Sheet1", kind="heading"), titled]) == "Thresholds of heat warnings"


def test_the_first_slide_gives_the_title_of_a_presentation() -> None:
    drafts = [paragraph("Flood drills for schools", 1, "heading"), paragraph("Why drills", 2, "heading")]
    assert best(drafts) == "Flood drills for schools"


@pytest.mark.parametrize(
    ("title", "text", "without"),
    [
        ("National heat plan | Ministry of Health", "National heat plan. " + BODY, "National heat plan"),
        ("Portal - Plan national canicule", "Plan national canicule. " + BODY, "Plan national canicule"),
        ("Flood plan – Agency", BODY, "Flood plan"),
        ("Heat - a plan for cities", "Heat - a plan for cities. " + BODY, "Heat - a plan for cities"),
    ],
)
def test_a_pages_title_loses_the_name_of_its_site(title: str, text: str, without: str) -> None:
    assert without_site(title, text) == without


def test_what_the_analyst_wrote_comes_first_and_a_files_name_last() -> None:
    text, lines, blocks, _ = assemble([paragraph("12")])
    named = choose_title("", text, blocks, Path("de_flood-plan.txt"))
    extracted = ExtractedText(text, 1, lines, blocks, "text/plain", named)
    found = find_titles(extracted, ListedSource("A", title="Flood plan 2020"), FileProperties())
    assert [(one.value, one.confidence) for one in found] == [("Flood plan 2020", 1.0), ("de flood plan", 0.2)]


def test_the_day_of_adoption_below_a_title_is_no_part_of_it() -> None:
    text = "Action plan on bridges\n\nAdopted on 7 July 2014\n\n" + "The plan says who does what, by when. " * 20
    starts = [0, text.index("Adopted"), text.index("The plan")]
    blocks = tuple(
        Block(start, stop, 1, "text") for start, stop in zip(starts, [22, starts[1] + 22, len(text)], strict=True)
    )
    found = find_titles(ExtractedText(text, 1, (), blocks, "text/plain"), ListedSource("A"), FileProperties())
    assert found[0].value == "Action plan on bridges"


@pytest.mark.parametrize(
    "line",
    [
        "10. Financing: investment in human resources",
        "3.2. Campylobacter in humans",
        "Chapter 4 The flood of the century",
        "To: All regional directors",
        "Subject: Heat in hospitals",
        "MEMORANDUM FOR the heads of departments",
        "This page intentionally left blank",
        "Diese Seite wurde absichtlich leer gelassen",
        "{{ page.title }} of the agency",
        "<b>Flood plan</b> of the region",
        "Heat &amp; health in cities",
        "The mayor orders the evacuation when the gauge passes four metres.",
    ],
)
def test_what_is_no_title_of_a_document_is_none(line: str) -> None:
    extracted = replace(extracted_from(f"# {line}\n\n{BODY}"), title="")
    found = find_titles(extracted, ListedSource("A"), FileProperties(title=line))
    assert line not in [value.value for value in found]


@pytest.mark.parametrize(
    "declared",
    [
        "untitled",
        "Microsoft Word - Flood plan",
        "flood plan of the region.doc",
        "M:\\WPF\\INPUT\\G9860815.WPD",
        "FCCC/CP/1999/6/Add.1",
        "L13709",
        "5.4.9 Comparison of Criteria with Values Derived in this Report",
    ],
)
def test_file_names_document_numbers_and_sections_that_are_declared_are_no_titles(declared: str) -> None:
    assert best([paragraph(BODY)], declared) == "x9"


def test_the_end_of_a_captions_line_is_no_title() -> None:
    drafts = [
        DraftBlock(1, "heading", (DraftLine("Notification rates of reported cases (cases"),), 11.0),
        DraftBlock(1, "heading", (DraftLine("per 100,000 population), 2004-2007"),), 14.0),
        DraftBlock(1, "text", (DraftLine("In 2007, a smaller proportion of confirmed cases was reported."),), 10.0),
    ]
    assert "population" not in best(drafts)


@pytest.mark.parametrize("line", ["11. Kalkınma Planı (2019-2023)", "6. Bericht der Landesregierung zur Dürre"])
def test_the_number_of_a_report_or_plan_makes_it_no_chapter(line: str) -> None:
    extracted = replace(extracted_from(f"# {line}\n\n{BODY}"), title="")
    assert line in [value.value for value in find_titles(extracted, ListedSource("A"), FileProperties(title=line))]


def test_a_list_of_links_above_a_text_is_no_title() -> None:
    drafts = [paragraph(f"• recital {number}") for number in range(1, 12)]
    drafts += [paragraph("Regulation on the climate of the valleys"), paragraph("It has one article. " * 20)]
    text, _, blocks, _ = assemble(drafts)
    assert choose_title("", text, blocks, Path("climate.md")) == "Regulation on the climate of the valleys"
