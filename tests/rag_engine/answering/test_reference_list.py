"""References come from the catalog: each document once, with its pages and its licence's limits."""

from dataclasses import replace

import pytest

from rag_engine.answering.reference_list import licence_text, limits_of, references_of
from rag_engine.text.file_kinds import pages_text
from rag_engine.types.answer import Citation

ACT = Citation(
    1, "0123456789ab_p0_c0", "0123456789ab", "act.pdf", "Flood Act", 3, "six years", 130, 139,
    authority="Ministry", year=2020, licence="CC BY-NC-ND 4.0",
)  # fmt: skip
REPORT = replace(ACT, n=2, document_id="ba9876543210", file="report.pdf", title="Report", authority="", year=None)


def test_a_document_is_listed_once_with_all_its_marks_and_pages() -> None:
    found = references_of([ACT, replace(REPORT, licence=""), replace(ACT, n=4, page=4), replace(ACT, page=9)])
    assert [f"{one.marks} {one.text}" for one in found] == [
        "[Source 1][Source 4] Ministry, Flood Act, 2020, pages 3–4, 9, CC BY-NC-ND 4.0 (no commercial use, no changes)",
        "[Source 2] Report, undated, page 3",
    ]


@pytest.mark.parametrize(
    ("licence", "limits"),
    [
        ("CC BY 4.0", ()),
        ("CC BY-NC 3.0 IGO", ("NC",)),
        ("CC BY-ND 4.0", ("ND",)),
        ("Reproduction authorised (NC, ND)", ("NC", "ND")),
        ("ENCORE licence", ()),
        ("", ()),
    ],
)
def test_limits_are_read_from_the_licence_as_the_catalog_names_it(licence: str, limits: tuple[str, ...]) -> None:
    assert limits_of(licence) == limits


def test_a_file_without_pages_is_cited_by_its_sections() -> None:
    handbook = replace(ACT, file="handbook.docx", title="Handbook", licence="", page=1, section="E. Surety bonds")
    [one] = references_of([handbook, replace(handbook, section=""), replace(handbook, section="F. Audits")])
    assert one.text == "Ministry, Handbook, 2020, “E. Surety bonds”, “F. Audits”"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("plan.PDF", "pages 3, 5–7"), ("scan", "pages 3, 5–7"), ("talk.pptx", "slides 3, 5–7"),
        ("data.ods", "sheets 3, 5–7"), ("speech.html", ""), ("notes.md", ""), ("letter.odt", ""), ("act.xml", ""),
        ("post.mbox", ""), ("book.epub", ""),
    ],
)  # fmt: skip
def test_pages_are_called_what_they_are_in_a_file(file: str, place: str) -> None:
    assert pages_text(file, dict.fromkeys([7, 5, 6, 3])) == place


@pytest.mark.parametrize(
    ("file", "pages", "place"),
    [
        ("a.pdf", {9: "5"}, "p. 5 (sheet 9)"), ("a.pdf", {5: "5"}, "p. 5"), ("a.pdf", {4: "iv"}, "p. iv (sheet 4)"),
        ("a.pdf", {9: "5", 10: "6", 13: "9"}, "pp. 5–6, 9 (sheets 9–10, 13)"), ("a.pdf", {1: ""}, "sheet 1"),
        ("a.pdf", {1: "", 9: "5"}, "p. 5 (sheet 9), sheet 1"), ("a.pdf", {6: "vi", 7: "1"}, "pp. vi, 1 (sheets 6–7)"),
        ("a.epub", {9: "5"}, "p. 5"), ("a.epub", {1: ""}, ""),
    ],
)  # fmt: skip
def test_a_printed_number_comes_before_the_sheet(file: str, pages: dict[int, str | None], place: str) -> None:
    assert pages_text(file, pages) == place


def test_a_reference_names_the_printed_pages() -> None:
    cited = [replace(ACT, page=9, page_label="5"), replace(ACT, page=10, page_label="6")]
    [reference] = references_of(cited)
    assert "pp. 5–6 (sheets 9–10)" in reference.text


def test_texts_of_licences_and_pages() -> None:
    assert licence_text("CC BY-NC 4.0") == "CC BY-NC 4.0 (no commercial use)"
    assert licence_text("OGL 3.0") == "OGL 3.0"
    assert (pages_text("a.pdf", {3: None}), pages_text("a.xlsx", {2: None}), pages_text("a.pdf", {})) == (
        "page 3",
        "sheet 2",
        "",
    )
