"""Files that are made to break their reader are refused with a reason, and hold nobody up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits, time_for
from ingestion.sandbox.sandbox import Sandbox, ocr_time_for
from ingestion.types.outcome import Refusal
from tests.ingestion.extraction import hostile

MADE: list[tuple[str, Callable[[Path], Path]]] = [
    ("count.pdf", hostile.pdf_that_counts),
    ("tree.pdf", hostile.pdf_that_repeats),
    ("strings.xlsx", hostile.workbook_without_its_strings),
    ("entities.xlsx", hostile.workbook_of_entities),
    ("entities.docx", hostile.document_of_entities),
]


@pytest.mark.parametrize(("name", "make"), MADE, ids=[name for name, _ in MADE])
def test_a_file_made_to_break_its_reader_is_refused_as_damaged_at_once(
    tmp_path: Path, sandbox: Sandbox, name: str, make: Callable[[Path], Path]
) -> None:
    path = make(tmp_path / name)
    begun = time.monotonic()
    with pytest.raises(Refusal, match=name) as caught:
        sandbox.read(path)
    assert (caught.value.reason, caught.value.status) == ("damaged", "refused")
    assert "Traceback" not in str(caught.value)
    assert time.monotonic() - begun < 20


def test_a_page_of_strokes_beyond_number_is_a_picture_and_needs_no_more_memory_than_others(tmp_path: Path) -> None:
    path = hostile.pdf_that_draws(tmp_path / "strokes.pdf", b"0 0 m 9 9 l S " * 600_000)
    with Sandbox(ExtractionLimits(memory_bytes=850_000_000), ocr="none") as small, pytest.raises(Refusal) as caught:
        small.read(path)
    assert caught.value.reason == "ocr_missing"


@pytest.mark.parametrize("name", ["slides.pptx", "rows.xlsx", "text.docx"])
def test_a_package_of_which_bytes_were_lost_is_damaged(tmp_path: Path, name: str) -> None:
    hostile.with_lost_bytes(hostile.plain_package(tmp_path / name))
    with pytest.raises(Refusal, match=f"{name} is .*damaged") as caught:
        extract(tmp_path / name, ExtractionLimits(), None)
    assert caught.value.reason == "damaged"


@pytest.mark.parametrize(
    ("name", "part", "before", "after"),
    [
        ("slides.pptx", "ppt/presentation.xml", b" r:id=", b" r:at="),
        ("slides.pptx", "ppt/_rels/presentation.xml.rels", b" Target=", b" Aim="),
        ("rows.xlsx", "xl/worksheets/sheet1.xml", b"word 3", b"word \x03"),
        ("rows.xlsx", "xl/styles.xml", b"<", b"<\x03"),
    ],
)
def test_a_package_with_a_part_that_its_library_stumbles_over_is_damaged(
    tmp_path: Path, name: str, part: str, before: bytes, after: bytes
) -> None:
    path = hostile.rewritten(
        hostile.plain_package(tmp_path / name), part, lambda content: content.replace(before, after)
    )
    with pytest.raises(Refusal, match=f"{name} is damaged") as caught:
        extract(path, ExtractionLimits(), None)
    assert caught.value.reason == "damaged"


@pytest.mark.parametrize("name", ["rows.xlsx", "rows.txt", "rows.pdf"])
def test_of_a_text_that_is_too_long_the_beginning_is_read_and_it_is_said(tmp_path: Path, name: str) -> None:
    path, limits = tmp_path / name, ExtractionLimits(max_characters=3000)
    lines = [f"Town {number} raised its dyke." for number in range(500)]
    if name.endswith("xlsx"):
        workbook = openpyxl.Workbook()
        sheet = workbook.create_sheet(index=0)
        for line in lines:
            sheet.append([line, 1953])
        workbook.save(path)
    elif name.endswith("pdf"):
        from tests.ingestion.documents import pdf

        pdf(path, lines)
    else:
        path.write_text("\n\n".join(lines), encoding="utf-8")
    extracted = extract(path, limits, None)
    assert "Town 3 raised its dyke." in extracted.text
    assert "Town 499" not in extracted.text
    assert len(extracted.text) < 3500
    said = r"as far as row \d+; split it" if name.endswith("xlsx") else "Only its first 3,000 characters were read"
    [warning] = extracted.warnings
    assert re.search(said, warning)


def test_the_time_of_a_file_grows_with_its_size_within_bounds() -> None:
    limits = ExtractionLimits()
    assert time_for(1500, limits) == pytest.approx(60, abs=0.1)
    assert 60 < time_for(5_000_000, limits) < 600
    assert time_for(500_000_000, limits) == 600
    # A file of 1.5 KB cannot hold the scans of 5,000 pages.
    assert ocr_time_for(1500, limits) < 700
    assert ocr_time_for(50_000_000, limits) > 5000
